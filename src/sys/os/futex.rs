//! Linux: the `futex` system call, always `FUTEX_PRIVATE_FLAG`.
//!
//! `atomic-wait` sleeps without a timeout and uses private futexes too; a mismatch would never wake. Timed waits are
//! absolute on `CLOCK_MONOTONIC` (`FUTEX_WAIT_BITSET`), so that an interrupted wait keeps its deadline.

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

#[repr(transparent)]
pub(crate) struct Futex(AtomicU32);

impl Futex {
    pub(crate) const fn new(value: u32) -> Self {
        Futex(AtomicU32::new(value))
    }

    pub(crate) fn wait(&self, expected: u32) {
        atomic_wait::wait(&self.0, expected);
    }

    pub(crate) fn wait_until(&self, expected: u32, at: Instant) {
        // Every outcome (woken, changed, interrupted, timed out) sends the caller back to look at the word and at
        // the clock, so the result says nothing new.
        let _ = futex::wait_bitset(
            &self.0,
            futex::Flags::PRIVATE,
            expected,
            Some(&monotonic(at)),
            NonZeroU32::MAX,
        );
    }

    pub(crate) fn wake(&self, n: u32) {
        super::errno::keep(|| {
            // The call fails for a bad address or flag only. In the one case in which the word may be gone, a
            // `Semaphore` freed by the waiter that this post released, nobody is left to be woken.
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, n);
        });
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}

/// The longest single sleep, far inside what every kernel's `timespec` holds. The caller's loop goes on from there.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// `at` on `CLOCK_MONOTONIC`, never earlier than asked, but for [`LONGEST`].
fn monotonic(at: Instant) -> Timespec {
    // `Instant` is opaque. The second reading of the clock comes after the first: the error is on the late side.
    let left = at.saturating_duration_since(Instant::now()).min(LONGEST);
    let now = clock_gettime(ClockId::Monotonic);
    now + Timespec::try_from(left).expect("a year fits")
}
