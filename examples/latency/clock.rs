//! A source that needs no JACK: a thread that calls back on an absolute schedule.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use assert_no_alloc::assert_no_alloc;
use rt_notify::Priority;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

use super::args::Options;
use super::backend::Stop;
use super::background::Background;
use super::load::{RandomLoad, start_thread};
use super::probe::Probe;
use super::source::{End, Running, Source};
use super::stats::{Schedule, timespec};
use super::system::{allowed_cpus, keep_to, now};
use super::time_base::TimeBase;

/// As a JACK server that was started with -P70 gives its clients.
const PRIORITY: u8 = 65;
/// From the start of the thread to its first callback.
const LEAD: u64 = 10_000_000;

#[derive(Debug)]
pub(crate) struct Clock {
    period: u32,
    rate: u32,
    callbacks: u64,
    /// Of its thread, if the worker has one of its own.
    cpu: Option<usize>,
    load: Option<u32>,
}

impl Clock {
    pub(crate) fn new(options: &Options) -> Self {
        let Options { period, rate, seconds, load, .. } = *options;
        let callbacks = Schedule { start: 0, period, rate }.callbacks_in(seconds);
        let others = |of_worker| allowed_cpus().into_iter().find(|&cpu| cpu != of_worker);
        Clock { period, rate, callbacks, cpu: options.cpu.and_then(others), load }
    }

    fn load(&self) -> Result<Option<Background>, String> {
        let period = Schedule { start: 0, period: self.period, rate: self.rate }.due(1);
        let started = self.load.map(|percent| start_thread(RandomLoad::new(percent), period));
        started.transpose().map_err(|error| format!("the load's thread could not be started: {error}"))
    }
}

impl Source for Clock {
    fn describe(&self) -> String {
        let place = self.cpu.map_or(String::new(), |cpu| format!(", on CPU {cpu}"));
        format!("built-in clock, {} frames at {} Hz{place}", self.period, self.rate)
    }

    fn audio_priority(&self) -> Option<u8> {
        Some(PRIORITY)
    }

    fn start(&mut self, mut probe: Probe, stop_worker: Stop) -> Result<Box<dyn Running>, String> {
        let load = self.load()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let Clock { period, rate, callbacks, cpu, .. } = *self;
        let run = move || {
            if let Some(cpu) = cpu {
                keep_to(cpu);
            }
            // If it is denied, the run goes on without: the report shows what the thread had.
            let _ = Priority::Fifo(PRIORITY).apply();
            let base = TimeBase::read(now);
            let schedule = Schedule { start: now() + LEAD, period, rate };
            let ticks = AssertUnwindSafe(|| tick(&schedule, base, callbacks, &mut probe, &stopped));
            let completed = catch_unwind(ticks).is_ok();
            if !completed {
                stop_worker.stop();
            }
            completed
        };
        let thread = thread::Builder::new()
            .name("clock".into())
            .spawn(run)
            .map_err(|error| format!("the clock's thread could not be started: {error}"))?;
        Ok(Box::new(RunningClock { stop, thread, _load: load }))
    }
}

/// Late callbacks are made up for, one by one: each was due at its own time, and that is what it is measured from.
fn tick(schedule: &Schedule, base: TimeBase, callbacks: u64, probe: &mut Probe, stop: &AtomicBool) {
    for number in 0..callbacks {
        let due = schedule.due(number);
        sleep_until(due);
        // Ordering: Relaxed; nothing but the end hangs on it.
        if stop.load(Ordering::Relaxed) {
            return;
        }
        assert_no_alloc(|| {
            let next = if probe.takes_hints { base.instant(schedule.due(number + 1)) } else { None };
            if now() >= schedule.due(number + 1) {
                probe.shared.missed.fetch_add(1, Ordering::Relaxed);
            }
            probe.callback(Some(due), next);
        });
    }
}

fn sleep_until(due: u64) {
    let (tv_sec, tv_nsec) = timespec(due);
    let due = Timespec { tv_sec, tv_nsec };
    // Only a signal ends the sleep early.
    while clock_nanosleep_absolute(ClockId::Monotonic, &due).is_err() {}
}

#[derive(Debug)]
struct RunningClock {
    stop: Arc<AtomicBool>,
    /// Returns whether no callback panicked.
    thread: JoinHandle<bool>,
    _load: Option<Background>,
}

impl Running for RunningClock {
    fn end(&mut self) -> Option<End> {
        self.thread.is_finished().then_some(End::Complete)
    }

    fn close(self: Box<Self>) -> bool {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(false)
    }
}
