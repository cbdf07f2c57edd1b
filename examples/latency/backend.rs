//! The two ends of a pair, whatever the worker sleeps on.

use std::hint::spin_loop;
use std::io;
use std::time::Instant;

use rt_notify::{
    Notifier, PollWaiter, Stopper, TryWaitError, Wait, WaitStats, Waiter, Worker, WorkerBuilder,
};

use super::args::Options;
use super::choices::{Backend, Strategy};
use super::probe::Figures;

/// The audio thread's end: realtime-safe, all of it.
#[derive(Debug)]
pub(crate) enum Bell {
    Own(Notifier),
    /// Of the library's other build.
    Pipe(rt_notify_pipe::Notifier),
}

impl Bell {
    pub(crate) fn notify(&self) {
        match self {
            Bell::Own(notifier) => notifier.notify(),
            Bell::Pipe(notifier) => notifier.notify(),
        }
    }

    pub(crate) fn expect_next(&self, at: Instant) {
        match self {
            Bell::Own(notifier) => notifier.expect_next(at),
            Bell::Pipe(notifier) => notifier.expect_next(at),
        }
    }
}

/// Ends the worker from elsewhere.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    Own(Stopper),
    Pipe(rt_notify_pipe::Stopper),
}

impl Stop {
    /// Realtime-safe.
    pub(crate) fn stop(&self) {
        match self {
            Stop::Own(stopper) => stopper.stop(),
            Stop::Pipe(stopper) => stopper.stop(),
        }
    }
}

/// What is known about the notifier's system calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tally {
    /// A waiter counts them.
    Exact(WaitStats),
    /// So many at most: one for each time that the waiter was armed and then found something.
    AtMost(u64),
}

impl Tally {
    /// Those that a waiter met while spinning.
    pub(crate) fn spin_hits(&self) -> u64 {
        match self {
            Tally::Exact(stats) => stats.spin_hits,
            Tally::AtMost(_) => 0,
        }
    }

    pub(crate) fn rings(&self) -> u64 {
        match self {
            Tally::Exact(stats) => stats.rings,
            Tally::AtMost(rings) => *rings,
        }
    }
}

/// The worker's end.
pub(crate) trait Ear {
    /// All pending notifications, once there are any. `None` at the end.
    fn wait(&mut self) -> Option<u32>;

    fn tally(&self) -> Tally;
}

struct Sleeping(Waiter);

impl Ear for Sleeping {
    fn wait(&mut self) -> Option<u32> {
        self.0.wait().ok()
    }

    fn tally(&self) -> Tally {
        Tally::Exact(self.0.stats())
    }
}

struct Bare(Waiter);

impl Ear for Bare {
    fn wait(&mut self) -> Option<u32> {
        loop {
            match self.0.try_wait() {
                Err(TryWaitError::Empty) => spin_loop(),
                taken => return taken.ok(),
            }
        }
    }

    fn tally(&self) -> Tally {
        Tally::Exact(self.0.stats())
    }
}

/// A waiter that is always armed: one ring for each time that it finds something, at most.
struct Armed<W> {
    wait: W,
    found: u64,
}

impl<W: FnMut() -> Option<u32>> Ear for Armed<W> {
    fn wait(&mut self) -> Option<u32> {
        let count = (self.wait)()?;
        self.found += 1;
        Some(count)
    }

    fn tally(&self) -> Tally {
        Tally::AtMost(self.found)
    }
}

pub(crate) const NO_MIO: &str = "--backend mio needs the feature \"mio\": run with --features mio";

/// A pair, of which the one end is already in the worker.
pub(crate) struct Pair {
    pub(crate) bell: Bell,
    pub(crate) stop: Stop,
    pub(crate) worker: Worker<Figures>,
}

/// Starts a worker that runs `collect` on its end of a new pair.
pub(crate) fn spawn(
    options: &Options,
    strategy: Strategy,
    builder: WorkerBuilder,
    collect: impl FnOnce(&mut dyn Ear) -> Figures + Send + 'static,
) -> Result<Pair, String> {
    match options.backend {
        Backend::Futex => {
            let (notifier, waiter) = Notifier::new();
            own(builder, notifier, waiter, move |waiter| match strategy.of_waiter() {
                Some(strategy) => collect(&mut Sleeping(waiter.with_strategy(strategy))),
                None => collect(&mut Bare(waiter)),
            })
        }
        Backend::Pollable => {
            let (notifier, waiter) = Notifier::pollable().map_err(no_descriptor)?;
            own(builder, notifier, waiter, move |mut waiter| {
                collect(&mut Armed { wait: || waiter.wait().ok(), found: 0 })
            })
        }
        Backend::Pipe => {
            let (notifier, mut waiter) = rt_notify_pipe::Notifier::pollable().map_err(no_descriptor)?;
            let stop = Stop::Pipe(waiter.stopper());
            // A worker takes only waiters of its own build. It gets one, but listens to the other.
            let (_, unused) = Notifier::new();
            let listen = move |_| collect(&mut Armed { wait: || waiter.wait().ok(), found: 0 });
            let worker = builder.spawn(unused, listen).map_err(no_worker)?;
            Ok(Pair { bell: Bell::Pipe(notifier), stop, worker })
        }
        Backend::Mio => {
            let (notifier, waiter) = Notifier::pollable().map_err(no_descriptor)?;
            mio_loop(builder, notifier, waiter, collect)
        }
    }
}

fn own<W: Wait + Send + 'static>(
    builder: WorkerBuilder,
    notifier: Notifier,
    waiter: W,
    listen: impl FnOnce(W) -> Figures + Send + 'static,
) -> Result<Pair, String> {
    let worker = builder.spawn(waiter, listen).map_err(no_worker)?;
    Ok(Pair { bell: Bell::Own(notifier), stop: Stop::Own(worker.stopper()), worker })
}

fn no_worker(error: io::Error) -> String {
    format!("the worker could not be started: {error}")
}

fn no_descriptor(error: io::Error) -> String {
    format!("no descriptor to wait on: {error}")
}

#[cfg(feature = "mio")]
fn mio_loop(
    builder: WorkerBuilder,
    notifier: Notifier,
    mut waiter: PollWaiter,
    collect: impl FnOnce(&mut dyn Ear) -> Figures + Send + 'static,
) -> Result<Pair, String> {
    let ear = super::mio_ear::Poller::new(&mut waiter).map_err(no_descriptor)?;
    own(builder, notifier, waiter, move |mut waiter| collect(&mut ear.listen_to(waiter.poll_loop())))
}

#[cfg(not(feature = "mio"))]
fn mio_loop(
    _: WorkerBuilder,
    _: Notifier,
    _: PollWaiter,
    _: impl FnOnce(&mut dyn Ear) -> Figures + Send + 'static,
) -> Result<Pair, String> {
    Err(NO_MIO.into())
}
