//! One run, from the command line to the report.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Granted, Notifier, Worker};
use signal_hook::consts::{SIGINT, SIGTERM};

mod args;
mod clock;
#[cfg(feature = "jack")]
mod jack_source;
mod probe;
mod report;
mod source;
mod stats;
mod system;

#[cfg(feature = "jack")]
#[path = "../support/jack_client.rs"]
mod jack_client;
#[cfg(feature = "jack")]
#[path = "../support/jack_server.rs"]
mod jack_server;

use args::Options;
use probe::{Figures, Probe, Shared};
use report::Report;
use source::{End, Running};

/// In debug builds, memory that a callback allocates or frees ends the program at once.
#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

/// How often the main thread looks whether the run is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_PER_PROGRESS_LINE: u32 = 10;

pub(crate) fn main() -> ExitCode {
    let args = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let outcome = match args::parse(args) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            print(args::HELP);
            return ExitCode::SUCCESS;
        }
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

/// `true` if the run was as it should be. The error is the line to print.
fn run(options: &Options) -> Result<bool, String> {
    // 1. From here on Ctrl-C ends the run in order, so that a private server is stopped too.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| format!("cannot catch Ctrl-C: {error}"))?;
    }

    // 2. Find something that makes callbacks.
    let source = source::open(options)?;
    print(&format!("source           {}\n", source.describe()));

    // 3. A pair, and a worker that waits at its one end.
    let (notifier, waiter) = Notifier::new();
    let (shared, figures) = (Shared::new(), Figures::new()?);
    let seen_by_worker = Arc::clone(&shared);
    let mut builder = Worker::builder().name("worker").priority(options.priority);
    if let Some(audio_priority) = source.audio_priority() {
        builder = builder.below(audio_priority);
    }
    let worker = builder
        .spawn(waiter, move |waiter| figures.collect(waiter, &seen_by_worker))
        .map_err(|error| format!("the worker could not be started: {error}"))?;

    // 4. The callbacks get the other end.
    let steal_before = system::steal_seconds();
    let started = Instant::now();
    let mut running = source.start(Probe::new(notifier, Arc::clone(&shared)), worker.stopper())?;
    print(&format!("measuring        for {} s\n", options.seconds));

    // 5. Look on until the time is up, or something else ends the run.
    let mut look = Look { shared: &shared, options, interrupted: &interrupted, audio_thread: None };
    let end = look.until_over(&mut *running, || worker.is_finished());
    let audio_thread = look.audio_thread.unwrap_or_else(|| "unknown".into());
    let elapsed = started.elapsed();
    let steal = steal_before.zip(system::steal_seconds()).map(|(before, after)| after - before);

    // 6. First no more callbacks, then no more waiting: what is still pending is handed out in between.
    let closed = running.close();
    let granted = describe_granted(worker.granted());
    let figures = worker.stop().map_err(|panic| panic.to_string())?;

    // 7. Nothing may be missing.
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let report = Report {
        callbacks: shared.notified(),
        counted: shared.counted(),
        missed: shared.missed.load(Ordering::Relaxed),
        xruns: shared.xruns.load(Ordering::Relaxed),
        audio_thread,
        worker: granted,
        steal: steal.map(|steal| (steal, elapsed.as_secs_f64() * cpus as f64)),
        figures,
    };
    if let Some(message) = end.message() {
        eprintln!("latency: after {:.1} s {message}", elapsed.as_secs_f64());
    }
    if !closed {
        eprintln!("latency: the callbacks could not be ended in order");
    }
    print(&report.to_string());
    Ok(end.is_success() && closed && report.lost() == 0)
}

/// What the main thread does meanwhile.
struct Look<'a> {
    shared: &'a Shared,
    options: &'a Options,
    interrupted: &'a AtomicBool,
    /// The audio thread's scheduling. Read early: later the thread may be gone.
    audio_thread: Option<String>,
}

impl Look<'_> {
    fn until_over(&mut self, running: &mut dyn Running, worker_has_ended: impl Fn() -> bool) -> End {
        let progress = io::stderr().is_terminal();
        let mut looks = 0;
        let end = loop {
            if self.interrupted.load(Ordering::Relaxed) {
                break End::Interrupted;
            }
            if let Some(end) = running.end() {
                break end;
            }
            if worker_has_ended() {
                break End::Panicked;
            }
            if self.audio_thread.is_none() {
                self.audio_thread = self.shared.audio_thread().and_then(system::scheduling);
            }
            if progress && looks % LOOKS_PER_PROGRESS_LINE == 0 {
                self.show_progress(LOOK_EVERY * looks);
            }
            thread::sleep(LOOK_EVERY);
            looks += 1;
        };
        if progress {
            eprint!("\r\x1b[K");
        }
        end
    }

    fn show_progress(&self, elapsed: Duration) {
        let (notified, counted) = (self.shared.notified(), self.shared.counted());
        let (now, end) = (elapsed.as_secs(), self.options.seconds);
        eprint!("\r{now} of {end} s: {notified} callbacks, {counted} counted");
    }
}

fn describe_granted(granted: &Granted) -> String {
    match granted.shortfall() {
        None => granted.to_string(),
        Some(why) => format!("{granted} ({why})"),
    }
}

/// Like `print!`, but a reader that has gone (`| head`) is no reason to panic.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}
