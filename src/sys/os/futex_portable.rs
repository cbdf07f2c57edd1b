//! Platforms other than Linux: `atomic-wait` sleeps and wakes, by `WaitOnAddress`, `_umtx_op` or libc++.
//!
//! It has no timed wait. One here sleeps for a millisecond at most, and returns; its caller looks at the word, and comes
//! again. That needs no wake, so none can be missed; it is late by up to that step, and not idle. These platforms are
//! type-checked and nothing more.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(1);

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
        // Ordering: Relaxed; a hint whether to sleep. The caller decides on what its own operations return.
        if self.0.load(Relaxed) == expected {
            std::thread::sleep(at.saturating_duration_since(Instant::now()).min(STEP));
        }
    }

    pub(crate) fn wake(&self, n: u32) {
        // One call, whatever `n` is. Sleepers that are woken for no reason look at the word, and sleep again.
        if n == 1 {
            atomic_wait::wake_one(&self.0);
        } else {
            atomic_wait::wake_all(&self.0);
        }
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}
