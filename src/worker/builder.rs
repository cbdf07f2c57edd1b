//! How a worker's thread comes to life.

use std::io;
use std::sync::mpsc;
use std::thread;

use super::{Worker, WorkerPanic};
use crate::priority::{Granted, Order, Priority, Scheduler};
use crate::sys::sched::{ThisThread, exact_timers, set_cpus};
use crate::sys::signals::SignalsBlocked;
use crate::wait::Wait;

/// What becomes of a worker that cannot have what its builder asks of the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnDenied {
    /// It runs with the best that can be had, and [`Worker::granted`] tells what that is.
    #[default]
    Continue,
    /// Its closure never runs, and [`spawn`](WorkerBuilder::spawn) returns the error.
    Fail,
}

/// Describes the thread of a [`Worker`]; made by [`Worker::builder`].
///
/// # Examples
///
/// ```
/// use rt_notify::{Notifier, OnDenied, Priority, Worker};
///
/// let audio_priority = 70; // JACK tells: jack_client_real_time_priority
/// let (notifier, waiter) = Notifier::new();
/// let worker = Worker::builder()
///     .name("synth-loader")
///     .priority(Priority::Fifo(60))
///     .below(audio_priority)
///     .on_denied(OnDenied::Continue)
///     .spawn(waiter, |mut waiter| waiter.wait())?;
/// assert!(worker.granted().priority() < audio_priority);
///
/// notifier.notify();
/// assert_eq!(worker.join()?, Ok(1));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `spawn`"]
pub struct WorkerBuilder {
    name: Option<String>,
    priority: Option<Priority>,
    below: Option<u8>,
    cpus: Option<Vec<usize>>,
    on_denied: OnDenied,
}

impl WorkerBuilder {
    pub(super) fn new() -> Self {
        WorkerBuilder { name: None, priority: None, below: None, cpus: None, on_denied: OnDenied::default() }
    }

    /// Names the thread, for `top`, debuggers and panic messages. Linux shows the first 15 bytes.
    ///
    /// Not realtime-safe: allocates.
    pub fn name(self, name: impl Into<String>) -> Self {
        WorkerBuilder { name: Some(name.into()), ..self }
    }

    /// The priority to ask for.
    ///
    /// Realtime-safe.
    ///
    /// Without this, a worker gets no more than an ordinary thread, whatever the spawning thread has: a realtime
    /// policy becomes `SCHED_OTHER` and a negative nice value becomes 0; a positive one stays.
    ///
    /// In place of a realtime priority that the process may not have, the worker gets the highest one it may have,
    /// else the strongest nice value. In place of a nice value, the strongest that the limits allow. In place of
    /// anything, with [`OnDenied::Fail`], an error.
    pub fn priority(self, priority: Priority) -> Self {
        WorkerBuilder { priority: Some(priority), ..self }
    }

    /// Keeps a realtime priority, also an inherited one, below that of the audio thread. Otherwise the worker could
    /// delay the very thread it serves.
    ///
    /// Realtime-safe.
    ///
    /// A priority that is not below is lowered to `audio_priority - 1`, and [`Granted::shortfall`] says so; with
    /// [`OnDenied::Fail`] it is refused. Below 0 or 1 there is no realtime priority, only nice values.
    pub fn below(self, audio_priority: u8) -> Self {
        WorkerBuilder { below: Some(audio_priority), ..self }
    }

    /// Keeps the worker to these CPUs, numbered from 0.
    ///
    /// Not realtime-safe: allocates.
    ///
    /// Numbers without a CPU are ignored as long as one has one that the process may use. If none has, the worker
    /// runs on any CPU and [`Granted::cpus_refused`] says why; with [`OnDenied::Fail`] it is an error. An empty list
    /// is always an error.
    pub fn cpus(self, cpus: &[usize]) -> Self {
        WorkerBuilder { cpus: Some(cpus.to_vec()), ..self }
    }

    /// What to do if not everything is granted. The default is to [continue](OnDenied::Continue).
    ///
    /// Realtime-safe.
    pub fn on_denied(self, on_denied: OnDenied) -> Self {
        WorkerBuilder { on_denied, ..self }
    }

    /// Starts the thread, and returns once its priority is known.
    ///
    /// Not realtime-safe: creates a thread, allocates, and waits for it.
    ///
    /// The closure starts at once; it may well have ended by the time this returns.
    ///
    /// # Errors
    ///
    /// On an error the closure has not run and never will, and `waiter` is gone: its notifiers see
    /// [`is_closed`](crate::Notifier::is_closed).
    ///
    /// - The system cannot create a thread. A priority is never the reason for that: the thread is created as any
    ///   other, and asks for its priority itself.
    /// - With [`OnDenied::Fail`]: not exactly what was asked for was granted. Within a [`Priority`], a number
    ///   outside of the policy's range still means the nearest one inside.
    /// - [`InvalidInput`](io::ErrorKind::InvalidInput): the name contains a NUL, or the list of CPUs is empty; with
    ///   [`OnDenied::Fail`] also a priority that is not [`below`](WorkerBuilder::below).
    pub fn spawn<W, F, T>(self, waiter: W, closure: F) -> io::Result<Worker<T>>
    where
        W: Wait + Send + 'static,
        F: FnOnce(W) -> T + Send + 'static,
        T: Send + 'static,
    {
        let WorkerBuilder { name, priority, below, cpus, on_denied } = self;
        let mut order = Order::new(priority, ThisThread.current());
        if let Some(audio_priority) = below {
            order = order.below(audio_priority);
        }
        if on_denied == OnDenied::Fail {
            if let Some(refused) = order.take_lowered() {
                return Err(refused.into());
            }
        }
        if cpus.as_ref().is_some_and(Vec::is_empty) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a worker needs at least one CPU to run on",
            ));
        }

        let stopper = waiter.stopper();
        // If the thread ends before it has sent its report, the sender is dropped and the spawner wakes all the same.
        let (sender, receiver) = mpsc::sync_channel(1);
        let body = move || {
            let report = set_up(cpus.as_deref(), order, on_denied);
            let run = report.is_ok();
            // The spawner waits for this; it cannot be gone.
            let _ = sender.send(report);
            run.then(|| closure(waiter))
        };

        let thread = {
            // A new thread starts with the mask of its creator: blocked here, there is no first moment without.
            let _blocked = SignalsBlocked::new();
            thread_builder(name)?.spawn(body)?
        };
        match receiver.recv() {
            Ok(Ok(granted)) => Ok(Worker { thread: Some(thread), stopper, granted }),
            Ok(Err(denied)) => {
                // Joined, so that waiter and closure are dropped when the caller learns of it.
                let _ = thread.join();
                Err(denied)
            }
            Err(mpsc::RecvError) => Err(match thread.join() {
                Ok(_) => io::Error::other("the worker ended before it ran"),
                Err(payload) => io::Error::other(WorkerPanic::new(payload)),
            }),
        }
    }
}

/// `std` panics on a name that C cannot hold.
fn thread_builder(name: Option<String>) -> io::Result<thread::Builder> {
    match name {
        None => Ok(thread::Builder::new()),
        Some(name) if name.contains('\0') => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of a worker contains a NUL"))
        }
        Some(name) => Ok(thread::Builder::new().name(name)),
    }
}

/// Runs in the new thread. An error means that it must not go on.
fn set_up(cpus: Option<&[usize]>, order: Order, on_denied: OnDenied) -> io::Result<Granted> {
    // For timed waits, and strategies that wake just in time.
    exact_timers();
    // Before the priority, so that a realtime thread does not start out on a CPU it was to stay away from.
    let cpus_refused = cpus.and_then(|cpus| set_cpus(cpus).map_err(|error| refused(cpus, &error)).err());
    match on_denied {
        OnDenied::Continue => Ok(order.apply_or_fall_back(&ThisThread).with_cpus_refused(cpus_refused)),
        OnDenied::Fail => {
            if let Some(refused) = cpus_refused {
                return Err(refused);
            }
            Ok(order.apply(&ThisThread)?.exact()?)
        }
    }
}

fn refused(cpus: &[usize], error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the worker cannot be kept to the CPUs {cpus:?}: {error}"))
}
