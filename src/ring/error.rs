//! The errors of rings: rtrb's vocabulary, one small type per operation.

use std::error::Error;
use std::fmt;

use crate::sync::rtrb;
use crate::{Closed, WaitTimeoutError};

/// Why `push` wrote nothing. Gives the value back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PushError<T> {
    /// There is no free slot.
    Full(T),
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(_)")
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring is full")
    }
}

impl<T> Error for PushError<T> {}

/// Why `pop` returned nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopError {
    /// There is nothing to read.
    Empty,
}

impl fmt::Display for PopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring is empty")
    }
}

impl Error for PopError {}

/// Why an operation on several slots did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkError {
    /// There are fewer slots than asked for: so many.
    TooFewSlots(usize),
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChunkError::TooFewSlots(slots) = self;
        write!(f, "only {slots} slots of the ring are available")
    }
}

impl Error for ChunkError {}

/// Not an `impl From`, which would be public, as rtrb is not.
pub(super) fn too_few(error: rtrb::chunks::ChunkError) -> ChunkError {
    let rtrb::chunks::ChunkError::TooFewSlots(slots) = error;
    ChunkError::TooFewSlots(slots)
}

/// Why `wait_for` returned without slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitForError {
    /// The realtime side is gone, or the ring was stopped, and nothing is left.
    Closed,
    /// The ring will never have so many slots: waiting for them would be for ever.
    ExceedsCapacity,
}

impl fmt::Display for WaitForError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitForError::Closed => Closed.fmt(f),
            WaitForError::ExceedsCapacity => f.write_str("the ring will never have so many slots"),
        }
    }
}

impl Error for WaitForError {}

/// Why a timed `wait_for` returned without slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitForTimeoutError {
    /// The deadline has passed.
    Timeout,
    /// The realtime side is gone, or the ring was stopped, and nothing is left.
    Closed,
    /// The ring will never have so many slots: waiting for them would be for ever.
    ExceedsCapacity,
}

impl fmt::Display for WaitForTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitForTimeoutError::Timeout => WaitTimeoutError::Timeout.fmt(f),
            WaitForTimeoutError::Closed => WaitForError::Closed.fmt(f),
            WaitForTimeoutError::ExceedsCapacity => WaitForError::ExceedsCapacity.fmt(f),
        }
    }
}

impl Error for WaitForTimeoutError {}
