//! One small error type per kind of wait.

use std::error::Error;
use std::fmt;
use std::io;

/// Every notifier is gone, or the pair was [stopped](crate::Stopper::stop), and nothing is left to hand out.
///
/// This is final: every later wait of the same waiter says so too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every notifier was dropped, or the pair was stopped")
    }
}

impl Error for Closed {}

/// Why `try_wait` returned without a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryWaitError {
    /// Nothing is pending now.
    Empty,
    /// Nothing is pending, and nothing will ever be: see [`Closed`].
    Closed,
}

impl fmt::Display for TryWaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryWaitError::Empty => f.write_str("no notification is pending"),
            TryWaitError::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryWaitError {}

/// [`TryWaitError::Empty`] is [`io::ErrorKind::WouldBlock`], [`TryWaitError::Closed`] is [`io::ErrorKind::BrokenPipe`]:
/// for `AsyncFd::try_io` and the like.
impl From<TryWaitError> for io::Error {
    fn from(error: TryWaitError) -> Self {
        match error {
            // Of the kind alone: this one is no failure, and must not allocate at every turn of a loop.
            TryWaitError::Empty => io::ErrorKind::WouldBlock.into(),
            TryWaitError::Closed => io::Error::new(io::ErrorKind::BrokenPipe, error),
        }
    }
}

impl From<Closed> for TryWaitError {
    fn from(_: Closed) -> Self {
        TryWaitError::Closed
    }
}

/// Why a timed wait returned without what it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitTimeoutError {
    /// The deadline has passed. Nothing was consumed: what is pending stays pending.
    Timeout,
    /// Nothing is pending, and nothing will ever be: see [`Closed`].
    Closed,
}

impl fmt::Display for WaitTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitTimeoutError::Timeout => f.write_str("the deadline passed before the notification came"),
            WaitTimeoutError::Closed => Closed.fmt(f),
        }
    }
}

impl Error for WaitTimeoutError {}

impl From<Closed> for WaitTimeoutError {
    fn from(_: Closed) -> Self {
        WaitTimeoutError::Closed
    }
}

impl WaitTimeoutError {
    /// What is left of the error of a wait that has no deadline.
    pub(crate) fn only_closed(self) -> Closed {
        debug_assert_eq!(self, WaitTimeoutError::Closed);
        Closed
    }
}

/// A timed wait that tries once.
impl From<TryWaitError> for WaitTimeoutError {
    fn from(error: TryWaitError) -> Self {
        match error {
            TryWaitError::Empty => WaitTimeoutError::Timeout,
            TryWaitError::Closed => WaitTimeoutError::Closed,
        }
    }
}
