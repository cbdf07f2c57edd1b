//! The loop by which the other side waits for slots.

use std::time::{Duration, Instant};

use super::tally::Tally;
use super::{WaitForError, WaitForTimeoutError};
use crate::sync::now;
use crate::{Notifier, TryWaitError, Wait, WaitTimeoutError};

/// The end of a ring whose slots are waited for.
pub(super) trait Slots {
    fn slots(&self) -> usize;
    fn capacity(&self) -> usize;
    fn tally(&self) -> &Tally;
    /// How many slots were used since the ring's start.
    fn position(&self) -> u64;
    /// Whether the slots are of use once the realtime side is gone: what was written is, room to write is not.
    fn outlives_the_other_side(&self) -> bool;
}

/// A waiter, and how many of the ring's flushes it has obeyed.
///
/// The ring counts its flushes itself. The waiter's own flush only wakes: it may have been consumed by a wait that
/// ended for another reason, and on a shared notifier it may be another ring's.
pub(super) struct Waiting<W> {
    pub(super) waiter: W,
    flushes: usize,
    /// Once the waiter has said that it is closed: the position at which the ring ends. What a realtime side that was
    /// stopped, and not dropped, writes after that is not waited for. Otherwise, one that is faster than the other side
    /// would put the end off for ever.
    end: Option<u64>,
}

impl<W: Wait> Waiting<W> {
    pub(super) fn new(waiter: W) -> Self {
        Waiting { waiter, flushes: 0, end: None }
    }

    /// Waits until `slots` returns `n`; for fewer after a flush, or at the end; `None` is for ever.
    ///
    /// Resets the pending count *before* it looks at the slots: what is counted after the reset may already be among
    /// the slots seen, so the wait for the rest may end early, and then the loop looks again; never late.
    pub(super) fn wait_for(
        &mut self,
        n: usize,
        deadline: Option<Instant>,
        ring: &impl Slots,
    ) -> Result<usize, WaitForTimeoutError> {
        if n > ring.capacity() {
            return Err(WaitForTimeoutError::ExceedsCapacity);
        }
        let n = n.max(1);
        let mut late = false;
        loop {
            if self.waiter.try_wait() == Err(TryWaitError::Closed) {
                return self.left(ring).ok_or(WaitForTimeoutError::Closed);
            }
            // Before the slots: a flush that is seen here is obeyed with all that was written before it.
            let flushes = ring.tally().flushes();
            let slots = ring.slots();
            if slots >= n || flushes != self.flushes {
                self.flushes = flushes;
                return Ok(slots);
            }
            if late {
                if slots > 0 {
                    // Their notifications were taken above: a poller must not sleep over them.
                    self.waiter.rouse();
                }
                return Err(WaitForTimeoutError::Timeout);
            }
            // More than the count can hold ends early.
            let missing = u32::try_from(n - slots).unwrap_or(u32::MAX);
            // If it is closed, the next turn is told so.
            late = match deadline {
                None => {
                    let _ = self.waiter.wait_for(missing);
                    false
                }
                Some(at) => self.waiter.wait_for_deadline(missing, at) == Err(WaitTimeoutError::Timeout),
            };
        }
    }

    /// Waits until there is a slot at least. Like a waiter's own `wait` it neither ends by a flush nor consumes it.
    pub(super) fn wait(
        &mut self,
        deadline: Option<Instant>,
        ring: &impl Slots,
    ) -> Result<u32, WaitForTimeoutError> {
        let obeyed = self.flushes;
        let slots = loop {
            match self.wait_for(1, deadline, ring) {
                Ok(0) => {}
                slots => break slots,
            }
        };
        self.flushes = obeyed;
        slots.map(saturate)
    }

    /// The slots there are now, if any, and the waiter reset: what is notified from now on wakes.
    pub(super) fn try_wait(&mut self, ring: &impl Slots) -> Result<usize, TryWaitError> {
        if self.waiter.try_wait() == Err(TryWaitError::Closed) {
            return self.left(ring).ok_or(TryWaitError::Closed);
        }
        match ring.slots() {
            0 => Err(TryWaitError::Empty),
            slots => Ok(slots),
        }
    }

    /// The slots that are left to be used, if any, now that the waiter is closed.
    fn left(&mut self, ring: &impl Slots) -> Option<usize> {
        if !ring.outlives_the_other_side() {
            return None;
        }
        let slots = ring.slots();
        // Looked at after the waiter said so: what was written before the close is among the slots.
        let end = *self.end.get_or_insert(ring.position() + slots as u64);
        let left = end.saturating_sub(ring.position());
        // What does not fit into a usize is not less than the slots.
        let left = usize::try_from(left).map_or(slots, |left| left.min(slots));
        if left == 0 {
            return None;
        }
        // The waiter has told its end, and will not again; this ring has not.
        self.waiter.rouse();
        Some(left)
    }
}

/// What is left of the error of a wait that has no deadline.
pub(super) fn untimed(error: WaitForTimeoutError) -> WaitForError {
    match error {
        WaitForTimeoutError::ExceedsCapacity => WaitForError::ExceedsCapacity,
        WaitForTimeoutError::Closed => WaitForError::Closed,
        WaitForTimeoutError::Timeout => unreachable!("a wait without a deadline has no timeout"),
    }
}

/// What is left of the error of a wait for no more than the capacity. (A ring without any is closed for good.)
pub(super) fn without_capacity(error: WaitForTimeoutError) -> WaitTimeoutError {
    match error {
        WaitForTimeoutError::Timeout => WaitTimeoutError::Timeout,
        WaitForTimeoutError::Closed | WaitForTimeoutError::ExceedsCapacity => WaitTimeoutError::Closed,
    }
}

pub(super) fn saturate(slots: usize) -> u32 {
    u32::try_from(slots).unwrap_or(u32::MAX)
}

/// The instant so far from now; `None` is for ever.
pub(super) fn after(timeout: Duration) -> Option<Instant> {
    now().checked_add(timeout)
}

/// Tells the other side of `n` slots. Those beyond what one notification counts end its wait early, and its loop looks
/// again.
#[inline]
pub(super) fn notify(notifier: &Notifier, n: usize) {
    notifier.notify_many(u32::try_from(n).unwrap_or(u32::MAX));
}

/// The same, and ends the other side's wait; one system call at most for both.
pub(super) fn notify_and_flush(notifier: &Notifier, n: usize) {
    notifier.notify_and_flush(u32::try_from(n).unwrap_or(u32::MAX));
}
