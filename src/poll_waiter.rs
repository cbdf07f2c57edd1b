//! The worker's side as a descriptor.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use crate::end::End;
use crate::shared::WaiterHandle;
use crate::state::Goal;
use crate::sync::now;
use crate::wait::impl_wait;
use crate::{Closed, PollLoop, Stopper, TryWaitError, WaitTimeoutError};

/// Waits for the notifications of a [`Notifier`](crate::Notifier), alone or together with other descriptors.
///
/// Made by [`Notifier::pollable`](crate::Notifier::pollable). A pair has one waiter. It can be sent to another thread.
///
/// **Not realtime-safe**: waiting blocks, and the drop of a waiter frees memory. The notifiers never notice either.
///
/// # In a poller
///
/// The descriptor ([`AsFd`]) is readable when notifications are pending: then call [`try_wait`](PollWaiter::try_wait),
/// and nothing else; never read the descriptor yourself. `Empty` is a spurious wake-up. This works with every reactor
/// as it is (`poll`, `epoll`, mio, tokio's `AsyncFd`, calloop …), level-triggered or edge-triggered, and costs a
/// thread that notifies at most one `write` per `try_wait`; each flush costs one. With a loop of one's own,
/// [`poll_loop`](PollWaiter::poll_loop) saves those too while the loop is busy.
///
/// After the last notifier is dropped, or the pair is [stopped](Stopper::stop), the descriptor becomes readable until
/// `try_wait` has said [`Closed`]: deregister it then. A notifier that was inside `notify` at that moment may make it
/// readable once more, and so does each further stop and the drop of the last notifier after a stop; a further
/// `try_wait` quiets it.
///
/// # Examples
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use rt_notify::{Notifier, TryWaitError};
/// use rustix::event::{PollFd, PollFlags, poll};
///
/// let (notifier, mut waiter) = Notifier::pollable()?;
/// notifier.notify();
/// notifier.notify();
///
/// let mut fds = [PollFd::new(&waiter, PollFlags::IN)];
/// assert_eq!(poll(&mut fds, None)?, 1);
/// assert_eq!(waiter.try_wait(), Ok(2));
/// assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
/// # Ok(())
/// # }
/// ```
pub struct PollWaiter {
    pub(crate) shared: WaiterHandle,
    pub(crate) end: End,
}

impl PollWaiter {
    pub(crate) fn new(shared: WaiterHandle) -> Self {
        // Always armed: the descriptor may be put into a poller at any time.
        shared.state().rearm();
        PollWaiter { shared, end: End::default() }
    }

    /// Takes *all* pending notifications and returns their number; sleeps while there is none. See [`Waiter::wait`].
    ///
    /// Not realtime-safe: it blocks. Signals do not end it.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    ///
    /// [`Waiter::wait`]: crate::Waiter::wait
    pub fn wait(&mut self) -> Result<u32, Closed> {
        self.block(Goal::ANY, None).map_err(WaitTimeoutError::only_closed)
    }

    /// Takes all pending notifications, if there are any, and makes the descriptor unreadable. Never sleeps.
    ///
    /// Not in the realtime-safe list: one or two system calls, none of which blocks.
    ///
    /// # Errors
    ///
    /// [`TryWaitError::Empty`] if nothing is pending, [`TryWaitError::Closed`] if besides nothing will be.
    pub fn try_wait(&mut self) -> Result<u32, TryWaitError> {
        self.shared.event().drain();
        self.end.tell_if_come()?;
        match self.take(Goal::ANY)? {
            0 => Err(TryWaitError::Empty),
            count => Ok(count),
        }
    }

    /// [`wait`](PollWaiter::wait), for so long at most. Zero is [`try_wait`](PollWaiter::try_wait); what no clock can
    /// hold is for ever.
    ///
    /// Not realtime-safe: it blocks.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once that time has passed, never earlier, on the monotonic clock;
    /// [`WaitTimeoutError::Closed`] once nothing is pending and nothing will be.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<u32, WaitTimeoutError> {
        if timeout.is_zero() {
            return Ok(self.try_wait()?);
        }
        self.block(Goal::ANY, now().checked_add(timeout))
    }

    /// [`wait`](PollWaiter::wait), until `deadline` at most.
    ///
    /// Not realtime-safe: it blocks.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once `Instant::now()` has reached `deadline`;
    /// [`WaitTimeoutError::Closed`] once nothing is pending and nothing will be.
    pub fn wait_deadline(&mut self, deadline: Instant) -> Result<u32, WaitTimeoutError> {
        self.block(Goal::ANY, Some(deadline))
    }

    /// Sleeps until `n` notifications are pending, then takes all. See [`Waiter::wait_for`].
    ///
    /// Not realtime-safe: it blocks. While fewer are pending, notifiers make no system call.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    ///
    /// [`Waiter::wait_for`]: crate::Waiter::wait_for
    pub fn wait_for(&mut self, n: u32) -> Result<u32, Closed> {
        self.block(Goal::at_least(n), None).map_err(WaitTimeoutError::only_closed)
    }

    /// [`wait_for`](PollWaiter::wait_for), until `deadline` at most.
    ///
    /// Not realtime-safe: it blocks.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once `Instant::now()` has reached `deadline`: nothing was consumed, and if
    /// anything is pending the descriptor is readable. [`WaitTimeoutError::Closed`] once nothing is pending and
    /// nothing will be.
    pub fn wait_for_deadline(&mut self, n: u32, deadline: Instant) -> Result<u32, WaitTimeoutError> {
        self.block(Goal::at_least(n), Some(deadline))
    }

    /// A handle that ends the waits from elsewhere, and makes the descriptor readable.
    ///
    /// Not in the realtime-safe list, but neither blocks nor allocates.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper::new(self.shared.clone())
    }

    /// Within this, notifiers make a system call only while the loop sleeps in its poller.
    ///
    /// Not in the realtime-safe list, but neither blocks nor allocates.
    pub fn poll_loop(&mut self) -> PollLoop<'_> {
        PollLoop::new(self)
    }

    /// Sleeps until `goal` is met, then takes. `None` is for ever.
    fn block(&mut self, goal: Goal, deadline: Option<Instant>) -> Result<u32, WaitTimeoutError> {
        let mut armed = false;
        loop {
            // Before the look: a ring that comes after it is for what the look may miss, and must not be drained.
            self.shared.event().drain();
            self.end.tell_if_come()?;
            let seen = self.shared.state().look();
            if goal.is_met_by(seen) {
                return Ok(self.take(goal)?);
            }
            if armed && deadline.is_some_and(|at| now() >= at) {
                return self.time_out(goal);
            }
            // Always anew: the ring of a standing arming may just have been drained.
            if self.shared.state().arm(seen, goal).is_some() {
                armed = true;
                self.shared.event().sleep(deadline);
            }
        }
    }

    /// Leaves a wait without taking, armed for the next notification.
    fn time_out(&mut self, goal: Goal) -> Result<u32, WaitTimeoutError> {
        let last = self.shared.state().rearm();
        if goal.is_met_by(last) {
            return Ok(self.take(goal)?);
        }
        if last.count() > 0 {
            // Pending, but no longer by anybody's ring.
            self.shared.event().post();
        }
        Err(WaitTimeoutError::Timeout)
    }

    /// Takes what is pending, arms for the next notification, and notes the end.
    fn take(&mut self, goal: Goal) -> Result<u32, Closed> {
        let count = self.end.hand_out(self.shared.state().take_and_arm(goal))?;
        if self.end.has_come() {
            // The ring of the close may have been drained, and the end is still to be told.
            self.shared.event().post();
        }
        Ok(count)
    }
}

impl_wait!(
    PollWaiter,
    fn rouse(&self) {
        self.shared.event().post();
    }
);

#[cfg(all(test, rt_notify_loom))]
impl PollWaiter {
    pub(crate) fn event(&self) -> &crate::sys::Event {
        self.shared.event()
    }
}

/// Readable when [`try_wait`](PollWaiter::try_wait) is due. For polling only.
///
/// It is always the same descriptor, and open as long as the waiter lives.
impl AsFd for PollWaiter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.event().fd()
    }
}

impl AsRawFd for PollWaiter {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for PollWaiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.state().look().fmt_as("PollWaiter", f)
    }
}
