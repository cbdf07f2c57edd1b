//! From the command line to what is printed and written.

use std::env;
use std::fs::{self, OpenOptions};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};

mod args;
mod awake;
mod backend;
mod background;
mod choices;
mod clock;
#[path = "../support/curves.rs"]
mod curves;
#[cfg(feature = "jack")]
mod disturb;
#[cfg(feature = "jack")]
mod jack_load;
#[cfg(feature = "jack")]
mod jack_source;
mod json;
mod load;
#[cfg(feature = "mio")]
mod mio_ear;
mod plot;
mod probe;
mod relock;
mod relock_table;
mod report;
mod rounds;
mod run;
mod source;
mod stats;
mod system;
mod table;
mod time_base;

#[path = "../support/output.rs"]
mod output;

#[cfg(feature = "jack")]
#[path = "../support/jack_client.rs"]
mod jack_client;
#[cfg(feature = "jack")]
#[path = "../support/jack_server.rs"]
mod jack_server;

use args::Options;
use awake::Awake;
use choices::Backend;
use output::print;
use relock_table::RelockTable;
use rounds::Rounds;
use source::Source;
use table::Table;

/// In debug builds, memory that a callback allocates or frees ends the program at once.
#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

pub(crate) fn main() -> ExitCode {
    let args = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let outcome = match args::parse(args) {
        Ok(Some(options)) => run(&options),
        Ok(None) => print(args::HELP).map(|()| true),
        Err(message) => Err(message),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("latency: {message}");
            ExitCode::FAILURE
        }
    }
}

/// `true` if all was as it should be. The error is the line to print.
fn run(options: &Options) -> Result<bool, String> {
    // 1. From here on Ctrl-C ends the run in order, so that a private server is stopped too.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| format!("cannot catch Ctrl-C: {error}"))?;
    }

    // 2. What cannot be done is better known before the measurement than after it.
    check(options)?;

    // 3. Find something that makes callbacks.
    let mut source = source::open(options)?;
    let description = source.describe();
    print(&format!("source           {description}\n"))?;

    // 4. Measure.
    let awake = options.awake.then(Awake::keep).transpose();
    let _awake = awake.map_err(|error| format!("the CPUs cannot be kept awake: {error}"))?;
    if options.awake {
        print("CPUs             kept awake\n")?;
    }
    let (all, success) = if options.compare {
        compare(options, &mut *source, &interrupted)?
    } else {
        measure_once(options, &mut *source, &interrupted)?
    };

    if options.disturb {
        print(&RelockTable(&all).to_string())?;
    }

    // 5. Keep what was asked for.
    if let Some(path) = &options.json {
        fs::write(path, json::text(options, &description, &all))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if let Some(path) = &options.svg {
        plot::write(path, options, &description, &all)?;
    }
    Ok(success)
}

fn check(options: &Options) -> Result<(), String> {
    if options.backend == Backend::Mio && !cfg!(feature = "mio") {
        return Err(backend::NO_MIO.into());
    }
    if let Some(cpu) = options.cpu {
        let allowed = system::allowed_cpus();
        if !allowed.contains(&cpu) {
            return Err(format!("--cpu {cpu} is none of the CPUs that this process may use: {allowed:?}"));
        }
    }
    for path in options.json.iter().chain(&options.svg) {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn measure_once(
    options: &Options,
    source: &mut dyn Source,
    interrupted: &AtomicBool,
) -> Result<(Vec<Rounds>, bool), String> {
    let started = || {
        // That the output can be written is known since the line before.
        let _ = print(&format!("measuring        for {} s\n", options.seconds));
    };
    let strategy = options.strategies[0];
    let outcome = run::measure(options, strategy, source, interrupted, "", started)?;
    outcome.complain();
    print(&outcome.report.to_string())?;
    let success = outcome.is_success();
    Ok((vec![Rounds::of(outcome.report)], success))
}

fn compare(
    options: &Options,
    source: &mut dyn Source,
    interrupted: &AtomicBool,
) -> Result<(Vec<Rounds>, bool), String> {
    let (rounds, seconds) = (options.rounds, options.seconds);
    let strategies = options.strategies.len();
    print(&format!("measuring        {rounds} rounds of {strategies} strategies, {seconds} s each\n"))?;
    let (all, success) = rounds::compare(options, source, interrupted)?;
    // The same in all rounds, but for what the system grants.
    if let Some(report) = all.iter().flat_map(Rounds::all).next() {
        print(&format!("audio thread     {}\nworker           {}\n", report.audio_thread, report.worker))?;
    }
    print(&Table { all: &all, max_steal: options.max_steal }.to_string())?;
    Ok((all, success))
}
