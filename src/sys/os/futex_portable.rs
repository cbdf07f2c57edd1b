//! Platforms other than Linux: `atomic-wait` sleeps and wakes.
//!
//! It has no timed wait. One here sleeps in steps of a millisecond, and looks at the word after each: correct, but
//! late by up to that step, and not idle. These platforms type-check; 0.1 is for Linux.

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
        for _ in 0..n {
            atomic_wait::wake_one(&self.0);
        }
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}
