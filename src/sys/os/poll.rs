//! Sleeping on one descriptor.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The longest single sleep, which every platform's `poll` accepts. The caller's loop goes on from there.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Sleeps until `fd` is readable, or until then. May return for no reason, a signal for instance.
pub(super) fn sleep(fd: BorrowedFd<'_>, until: Option<Instant>) {
    let left = until.map(|at| at.saturating_duration_since(Instant::now()).min(LONGEST));
    let left = left.map(|left| Timespec::try_from(left).expect("a day fits"));
    // Every outcome sends the caller back to look at the word and at the clock, so the result says nothing new. The
    // call itself cannot fail: the descriptor is owned by the caller, and the timeout is small.
    let _ = poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], left.as_ref());
}
