//! Linux: an `eventfd`, a 64-bit counter in the kernel that is readable while it is not 0.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{EventfdFlags, eventfd};

pub(crate) struct Event(OwnedFd);

impl Event {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Event(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    pub(crate) fn post(&self) {
        super::errno::keep(|| {
            // The one error that can occur is EAGAIN: the counter is at its maximum, so the descriptor is readable,
            // which is all that was asked for.
            let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
        });
    }

    pub(crate) fn drain(&self) {
        // One read resets the counter. EAGAIN: it was 0 already.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }

    pub(crate) fn sleep(&self, until: Option<Instant>) {
        super::poll::sleep(self.fd(), until);
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
