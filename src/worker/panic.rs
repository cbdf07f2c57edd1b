//! The panic of a worker, carried to whoever joins it.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The closure of a [`Worker`](crate::Worker) panicked.
///
/// To carry on with that panic, hand [`into_inner`](WorkerPanic::into_inner) to [`std::panic::resume_unwind`].
///
/// # Examples
///
/// ```
/// use rt_notify::{Notifier, Worker};
///
/// let (_notifier, waiter) = Notifier::new();
/// let worker = Worker::builder().spawn(waiter, |_| panic!("disk full"))?;
/// let panic = worker.join().unwrap_err();
/// assert_eq!(panic.message(), Some("disk full"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct WorkerPanic {
    message: Option<Box<str>>,
    /// Never locked: the mutex makes this type `Sync`, without which `?` could not turn it into the usual boxed
    /// errors.
    payload: Mutex<Box<dyn Any + Send>>,
}

impl WorkerPanic {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .map(Box::from);
        WorkerPanic { message, payload: Mutex::new(payload) }
    }

    /// The text given to `panic!`; `None` if the panic carried something else.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// What the panic carried.
    ///
    /// Not realtime-safe: frees memory.
    #[must_use]
    pub fn into_inner(self) -> Box<dyn Any + Send> {
        self.payload.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for WorkerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => write!(f, "the worker panicked: {message}"),
            None => f.write_str("the worker panicked"),
        }
    }
}

impl fmt::Debug for WorkerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPanic").field("message", &self.message()).finish_non_exhaustive()
    }
}

impl Error for WorkerPanic {}
