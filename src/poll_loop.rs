//! A poll loop whose notifiers make no system call while it is busy.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use crate::end::End;
use crate::shared::Shared;
use crate::state::Goal;
use crate::{PollWaiter, TryWaitError};

/// Arms a [`PollWaiter`] only while its thread sleeps in the poller.
///
/// Made by [`PollWaiter::poll_loop`]. While the loop works, [`notify`](crate::Notifier::notify) makes no system call;
/// what it counts meanwhile keeps the next [`poll`](PollLoop::poll) from sleeping. Dropping it makes the waiter always
/// armed again, and the descriptor readable if anything is pending. If it is leaked instead
/// ([`std::mem::forget`]), the descriptor stays quiet until the waiter's next `try_wait`.
///
/// **Not realtime-safe.**
///
/// # Examples
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use rt_notify::{Notifier, TryWaitError};
/// use rustix::event::{PollFd, PollFlags, Timespec, poll};
/// use std::time::Duration;
///
/// let (notifier, mut waiter) = Notifier::pollable()?;
/// let mut poll_loop = waiter.poll_loop();
/// notifier.notify();
/// notifier.notify();
/// drop(notifier);
///
/// let mut total = 0;
/// loop {
///     let fd = poll_loop.fd();
///     poll_loop.poll(Some(Duration::from_secs(10)), |timeout| {
///         let timeout = timeout.map(|t| Timespec::try_from(t).expect("short"));
///         poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], timeout.as_ref())
///     })?;
///     match poll_loop.try_wait() {
///         Ok(count) => total += count,
///         Err(TryWaitError::Empty) => {}
///         Err(TryWaitError::Closed) => break,
///     }
/// }
/// assert_eq!(total, 2);
/// # Ok(())
/// # }
/// ```
pub struct PollLoop<'w> {
    shared: &'w Shared,
    end: &'w mut End,
}

impl<'w> PollLoop<'w> {
    pub(crate) fn new(waiter: &'w mut PollWaiter) -> Self {
        let PollWaiter { shared, end } = waiter;
        // A ring that was due is in the descriptor, and what it was for is in the count.
        shared.state().disarm();
        PollLoop { shared, end }
    }

    /// Runs `poll`, which is to wait for events with the timeout it is given, and returns what it returns.
    ///
    /// Not realtime-safe. The timeout handed on is zero if something is pending, else `timeout`. The waiter is armed
    /// meanwhile, and is disarmed afterwards even if `poll` unwinds. Call [`try_wait`](PollLoop::try_wait) after it,
    /// whatever the events say.
    pub fn poll<R>(&mut self, timeout: Option<Duration>, poll: impl FnOnce(Option<Duration>) -> R) -> R {
        let armed = self.arm();
        poll(if armed.pending() { Some(Duration::ZERO) } else { timeout })
    }

    /// Arms until the guard is dropped: for a loop that one does not own, and that calls back before and after it
    /// sleeps.
    ///
    /// Not in the realtime-safe list, but neither blocks nor allocates.
    pub fn arm(&mut self) -> Armed<'_> {
        let mut armed = false;
        while !armed && !self.is_pending() && !self.end.is_told() {
            let seen = self.shared.state().look();
            if !Goal::ANY.is_met_by(seen) {
                armed = self.shared.state().arm(seen, Goal::ANY).is_some();
            }
        }
        Armed { poll_loop: self, armed }
    }

    /// Takes all pending notifications, if there are any, and makes the descriptor unreadable. Never sleeps.
    ///
    /// Not in the realtime-safe list: one system call, which does not block.
    ///
    /// # Errors
    ///
    /// [`TryWaitError::Empty`] if nothing is pending, [`TryWaitError::Closed`] if besides nothing will be.
    pub fn try_wait(&mut self) -> Result<u32, TryWaitError> {
        // Always: a notifier that was inside `notify` when the loop disarmed may ring late, and so may a stop.
        self.shared.event().drain();
        self.end.tell_if_come()?;
        if !Goal::ANY.is_met_by(self.shared.state().look()) {
            return Err(TryWaitError::Empty);
        }
        Ok(self.end.hand_out(self.shared.state().take(Goal::ANY))?)
    }

    /// The descriptor to poll for readability. It can be used inside the closure of [`poll`](PollLoop::poll).
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'w> {
        self.shared.event().fd()
    }

    /// Whether a `try_wait` would return something new.
    fn is_pending(&self) -> bool {
        match *self.end {
            End::Open => Goal::ANY.is_met_by(self.shared.state().look()),
            End::Come => true,
            End::Told => false,
        }
    }
}

#[cfg(all(test, rt_notify_loom))]
impl<'w> PollLoop<'w> {
    pub(crate) fn event(&self) -> &'w crate::sys::Event {
        self.shared.event()
    }
}

impl Drop for PollLoop<'_> {
    fn drop(&mut self) {
        let last = self.shared.state().rearm();
        // Pending, but not by anybody's ring.
        if last.count() > 0 && !self.end.has_come() || last.is_closed() && !self.end.is_told() {
            self.shared.event().post();
        }
    }
}

impl AsFd for PollLoop<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

impl AsRawFd for PollLoop<'_> {
    fn as_raw_fd(&self) -> RawFd {
        self.fd().as_raw_fd()
    }
}

impl fmt::Debug for PollLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.state().look().fmt_as("PollLoop", f)
    }
}

/// While this lives, notifiers make the descriptor of a [`PollLoop`] readable.
///
/// Made by [`PollLoop::arm`]. Keep it while the thread may sleep, and only then.
#[must_use = "the waiter is armed only as long as this lives"]
pub struct Armed<'a> {
    poll_loop: &'a PollLoop<'a>,
    armed: bool,
}

impl Armed<'_> {
    /// Whether something is pending: do not sleep, call [`PollLoop::try_wait`].
    #[must_use]
    pub fn pending(&self) -> bool {
        self.poll_loop.is_pending()
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.poll_loop.shared.state().disarm();
        }
    }
}

impl fmt::Debug for Armed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Armed").field("pending", &self.pending()).finish_non_exhaustive()
    }
}
