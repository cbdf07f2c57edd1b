//! rt-notify beside the other ways to wake a thread: measures, reports, and compares with what others published.
//!
//! `cargo run --release -p rt-notify-compare -- --help` tells what there is.

mod cli;
#[path = "../../common/mod.rs"]
mod common;
mod diff;
mod experiments;
mod load;
mod locks;
mod machine;
mod measure;
mod peers;
mod permits;
mod registry;
mod report;
mod results;
mod rings;
mod rounds;
mod seed;
#[cfg(test)]
mod stats_tests;
mod syscalls;
mod watchdog;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use cli::{Command, Measure};
use machine::Environment;
use results::Run;

fn main() -> ExitCode {
    match cli::parse(std::env::args().skip(1)).and_then(obey) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rt-notify-compare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn obey(command: Command) -> Result<(), String> {
    match command {
        Command::Help => print(cli::HELP),
        Command::List => print(&list()),
        Command::Run(measure) => {
            let run = run(&measure)?;
            let mut text = report::markdown::environment(&run);
            for table in &run.tables {
                text += &format!("\n## {} ({})\n\n{}", table.title, table.id, report::markdown::table(table));
            }
            print(&text)
        }
        Command::Report { out, from, measure } => {
            report::check_writable(&out)?;
            let run = match from {
                Some(file) => Run::read(&file)?,
                None => run(&measure)?,
            };
            report::write(&run, &out)?;
            let claims = report::claims::check(&run);
            let text = claims.iter().fold(String::new(), |text, claim| text + &format!("{claim}\n"));
            print(&rings::claims::check(&run).iter().fold(text, |text, claim| text + &format!("{claim}\n")))
        }
        Command::Compare { old, new } => print(&diff::report(&Run::read(&old)?, &Run::read(&new)?)),
        Command::Seed { name, options } => {
            watchdog::start();
            let seed = seed::ALL.iter().find(|seed| seed.name == name);
            let seed = seed.ok_or_else(|| format!("no preset `{name}`; list tells what there is"))?;
            print(&(seed.run)(options)?)
        }
        Command::Receive { kind, place, n } => seed::receive(&kind, &place, n),
    }
}

fn run(measure: &Measure) -> Result<Run, String> {
    // Whatever is wrong is to be known before minutes of measuring.
    if let Some(part) = measure.mechanisms.iter().find(|part| !is_part_of_a_name(part)) {
        return Err(format!("no mechanism with `{part}` in its name; list tells what there is"));
    }
    if let Some(file) = &measure.json {
        results::check_writable(Path::new(file))?;
    }
    watchdog::start();
    if let Some(reason) = registry::left_out() {
        eprintln!("{reason}");
    }
    let environment = Environment::look(measure.steal_limit, measure.random);
    let mut context = measure.context();
    let mut tables = Vec::new();
    for experiment in experiments::ALL {
        if measure.only.is_empty() || measure.only.iter().any(|name| name == experiment.name) {
            eprintln!("{}: {}", experiment.name, experiment.about);
            tables.extend((experiment.run)(&mut context));
        }
    }
    let run = Run::new(measure.quick, environment, tables);
    if let Some(file) = &measure.json {
        run.write(file)?;
    }
    Ok(run)
}

fn is_part_of_a_name(part: &str) -> bool {
    let part = part.to_lowercase();
    let names = registry::wakeups().into_iter().map(|wakeup| wakeup.name);
    let names = names.chain(registry::semaphores().into_iter().map(|sem| sem.name));
    let names = names.chain(registry::mutexes().into_iter().map(|mutex| mutex.name));
    let mut names = names.chain(rings::registry::all().into_iter().map(|ring| ring.name));
    names.any(|name| name.to_lowercase().contains(&part))
}

fn list() -> String {
    let mut text = String::from("mechanisms:\n");
    for wakeup in registry::wakeups() {
        text += &format!("  {:10}  {}\n", wakeup.class_name(), wakeup.name);
    }
    text += &registry::left_out().map(|reason| format!("  {reason}\n")).unwrap_or_default();
    text += "semaphores for several waiters:\n";
    text +=
        &registry::semaphores().iter().fold(String::new(), |text, sem| text + &format!("  {}\n", sem.name));
    text += "locks:\n";
    text +=
        &registry::mutexes().iter().fold(String::new(), |text, mutex| text + &format!("  {}\n", mutex.name));
    text += "rings and channels:\n";
    for ring in rings::registry::all() {
        text += &format!("  {:10}  {}\n", ring.manner.name(), ring.name);
    }
    text += "experiments:\n";
    for experiment in experiments::ALL {
        text += &format!("  {:12}  {}\n", experiment.name, experiment.about);
    }
    text += "presets:\n";
    for seed in seed::ALL {
        text += &format!("  {:12}  {}\n", seed.name, seed.about);
    }
    text
}

/// A reader that has gone, as `head` does, is no error.
fn print(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("output: {error}")),
        _ => Ok(()),
    }
}
