//! A thread that waits for notifications, with a priority.

mod builder;
mod panic;

use std::fmt;
use std::thread::{self, JoinHandle};

pub use builder::{OnDenied, WorkerBuilder};
pub use panic::WorkerPanic;

use crate::{Granted, Stopper};

/// A thread of its own for the waiting side of a pair, with the priority that the job needs.
///
/// The closure gets the waiter and typically loops until a wait says [`Closed`](crate::Closed), which it does once
/// the worker is [stopped](Worker::stop) or every notifier is gone. What was pending until then is handed out first.
///
/// Dropping a worker stops it and waits for its closure to end. If the closure itself drops the worker, it is
/// stopped but not waited for. What the closure returned, or its panic, is dropped unseen; a panic of the result's own
/// drop passes on.
///
/// The thread has all asynchronous signals blocked from its first instruction on, as have the threads it starts:
/// handlers of the application never run in it.
///
/// # Realtime workers must block
///
/// Under [`Fifo`](crate::Priority::Fifo) and [`RoundRobin`](crate::Priority::RoundRobin), a worker that never blocks
/// keeps everything weaker off its CPU. Where `RLIMIT_RTTIME` is set (desktop sessions usually allow 200 ms), the
/// kernel even kills the whole process once such a thread has run that long without blocking. Waiting for a
/// notification blocks only if none is pending. So a closure that may be kept busy without end should work off a
/// bounded amount and then block for a moment, as by `thread::sleep(Duration::from_micros(100))`; or leave the
/// realtime policies to the audio thread and take [`Nice(-20)`](crate::Priority::Nice).
///
/// # Examples
///
/// ```
/// use rt_notify::{Notifier, Priority, Worker};
///
/// let (notifier, waiter) = Notifier::new();
/// let worker = Worker::builder().name("disk").priority(Priority::Nice(-20)).spawn(waiter, |mut waiter| {
///     let mut total = 0;
///     while let Ok(n) = waiter.wait() {
///         total += n; // one turn may stand for several notifications
///     }
///     total
/// })?;
/// if let Some(why) = worker.granted().shortfall() {
///     eprintln!("the worker runs with {}: {why}", worker.granted());
/// }
///
/// notifier.notify(); // from the audio thread
/// assert_eq!(worker.stop()?, 1);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[must_use = "dropping a worker stops it"]
pub struct Worker<T> {
    /// Taken by the one who joins or detaches. The thread returns `None` only if it was refused its priority, and
    /// then no `Worker` was made of it.
    thread: Option<JoinHandle<Option<T>>>,
    stopper: Stopper,
    granted: Granted,
}

impl Worker<()> {
    /// What the thread will be like. The result type of the worker is that of the closure given to
    /// [`spawn`](WorkerBuilder::spawn).
    ///
    /// Not realtime-safe: for the setup of a program.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder::new()
    }
}

impl<T> Worker<T> {
    /// What the kernel reported about the thread, after the promotion and before the closure ran.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// A handle that tells the worker to end, for places that cannot hold the worker itself: JACK's shutdown
    /// callback, a signal handler, a window.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Whether the closure has ended, by itself or by a panic: [`join`](Worker::join) will not block. May become
    /// true at any time.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the worker, waits until its closure has ended, and returns what that returned.
    ///
    /// Not realtime-safe: blocks. What is pending is handed to the closure first; then its waits say
    /// [`Closed`](crate::Closed).
    ///
    /// # Errors
    ///
    /// The closure panicked.
    ///
    /// # Panics
    ///
    /// When called by the worker's own closure, which cannot wait for its own end.
    pub fn stop(self) -> Result<T, WorkerPanic> {
        self.stopper.stop();
        self.join()
    }

    /// Waits until the closure ends by itself, usually because every notifier is gone, and returns what it returned.
    ///
    /// Not realtime-safe: blocks.
    ///
    /// # Errors
    ///
    /// The closure panicked.
    ///
    /// # Panics
    ///
    /// When called by the worker's own closure, which cannot wait for its own end.
    pub fn join(mut self) -> Result<T, WorkerPanic> {
        assert!(!self.is_own_thread(), "a worker cannot wait for its own end");
        let thread =
            self.thread.take().expect("only join and drop take the thread, and both consume the worker");
        match thread.join() {
            Ok(result) => Ok(result.expect("only a refused thread skips its closure")),
            Err(payload) => Err(WorkerPanic::new(payload)),
        }
    }

    fn is_own_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|handle| handle.thread().id() == thread::current().id())
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.stopper.stop();
        let own_thread = self.is_own_thread();
        if let Some(thread) = self.thread.take() {
            if !own_thread {
                // The result of the closure, or its panic, is of no interest to somebody who drops the worker.
                let _ = thread.join();
            }
        }
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("name", &self.thread.as_ref().and_then(|handle| handle.thread().name()))
            .field("granted", &self.granted)
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
