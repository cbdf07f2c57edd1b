//! One measurement: a pair, a worker at its one end and a source at the other, for as long as was asked.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Granted, Worker};

use super::args::Options;
use super::backend::{self, Pair};
use super::choices::Strategy;
use super::probe::{Figures, Probe, Shared};
use super::report::Report;
use super::source::{End, Running, Source};
use super::system;

/// How often the main thread looks whether the run is over.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_PER_PROGRESS_LINE: u32 = 10;

/// How a measurement went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) end: End,
    elapsed: Duration,
    /// Whether the callbacks certainly ended before the worker did.
    closed: bool,
}

impl Outcome {
    pub(crate) fn is_success(&self) -> bool {
        self.end.is_success() && self.closed && self.report.lost() == 0
    }

    /// One line for each thing that was not as it should be.
    pub(crate) fn complain(&self) {
        if let Some(message) = self.end.message() {
            eprintln!("latency: after {:.1} s {message}", self.elapsed.as_secs_f64());
        }
        if !self.closed {
            eprintln!("latency: the callbacks could not be ended in order");
        }
    }
}

/// Measures once. `started` is called with the measurement on its way; `label` says in the progress line which it is.
pub(crate) fn measure(
    options: &Options,
    strategy: Strategy,
    source: &mut dyn Source,
    interrupted: &AtomicBool,
    label: &str,
    started: impl FnOnce(),
) -> Result<Outcome, String> {
    // 1. A pair, and a worker that waits at its one end.
    let (shared, figures) = (Shared::new(), Figures::new()?);
    let seen_by_worker = Arc::clone(&shared);
    let mut builder = Worker::builder().name("worker").priority(options.priority);
    if let Some(audio_priority) = source.audio_priority() {
        builder = builder.below(audio_priority);
    }
    if let Some(cpu) = options.cpu {
        builder = builder.cpus(&[cpu]);
    }
    let collect = move |ear: &mut dyn backend::Ear| figures.collect(ear, &seen_by_worker);
    let Pair { bell, stop, worker } = backend::spawn(options, strategy, builder, collect)?;

    // 2. The callbacks get the other end.
    let steal_before = system::steal_seconds();
    let began = Instant::now();
    let probe = Probe::new(bell, strategy.takes_hints(), Arc::clone(&shared));
    // A call into JACK that never returns may keep the other end: the worker has to be told.
    let mut running = source.start(probe, stop.clone()).inspect_err(|_| stop.stop())?;
    started();

    // 3. Look on until the time is up, or something else ends the run.
    let mut look = Look { shared: &shared, options, interrupted, label, audio_thread: None };
    let end = look.until_over(&mut *running, || worker.is_finished());
    let audio_thread = look.audio_thread.unwrap_or_else(|| "unknown".into());
    let elapsed = began.elapsed();
    let steal = steal_before.zip(system::steal_seconds()).map(|(before, after)| after - before);

    // 4. First no more callbacks, then no more waiting: what is still pending is handed out in between.
    let closed = running.close();
    let granted = describe_granted(worker.granted());
    stop.stop();
    let figures = worker.stop().map_err(|panic| panic.to_string())?;

    // 5. Nothing may be missing.
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let report = Report {
        strategy,
        backend: options.backend,
        callbacks: shared.notified(),
        counted: shared.counted(),
        missed: shared.missed.load(Ordering::Relaxed),
        xruns: shared.xruns.load(Ordering::Relaxed),
        audio_thread,
        worker: granted,
        steal: steal.map(|steal| (steal, elapsed.as_secs_f64() * cpus as f64)),
        figures,
    };
    Ok(Outcome { report, end, elapsed, closed })
}

/// What the main thread does meanwhile.
struct Look<'a> {
    shared: &'a Shared,
    options: &'a Options,
    interrupted: &'a AtomicBool,
    label: &'a str,
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
        let (label, now, end) = (self.label, elapsed.as_secs(), self.options.seconds);
        eprint!("\r\x1b[K{label}{now} of {end} s: {notified} callbacks, {counted} counted");
    }
}

fn describe_granted(granted: &Granted) -> String {
    let mut text = granted.to_string();
    if let Some(why) = granted.shortfall() {
        text += &format!(" ({why})");
    }
    if let Some(why) = granted.cpus_refused() {
        text += &format!(" (on any CPU: {why})");
    }
    text
}
