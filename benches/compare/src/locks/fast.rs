//! The "fast mutex" of the 1990s: a counter in user space, and a kernel object only for who meets another.
//!
//! The originals slept on an event: they waited for it and then reset it, and a signal between the two was lost, or
//! two threads passed before the reset. That race is not copied: with a semaphore, a permit ends exactly one wait.

use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};

use rt_notify::Semaphore;

use super::Lock;

pub(crate) struct Fast {
    /// Who has the lock, and who waits for it.
    inside: AtomicU32,
    turns: Semaphore,
}

impl Fast {
    /// Takes the lock if nobody has it.
    #[inline]
    pub(super) fn try_enter(&self) -> bool {
        // Ordering: Acquire, pairs with the Release in `leave`.
        self.inside.load(Acquire) == 0 && self.inside.compare_exchange(0, 1, Acquire, Acquire).is_ok()
    }

    #[inline]
    pub(super) fn enter(&self) {
        // Ordering: Acquire, pairs with the Release in `leave`. Who waits gets that from the semaphore.
        if self.inside.fetch_add(1, Acquire) > 0 {
            self.turns.wait();
        }
    }

    #[inline]
    pub(super) fn leave(&self) {
        // Ordering: Release, pairs with the Acquire in `enter`.
        if self.inside.fetch_sub(1, Release) > 1 {
            self.turns.post();
        }
    }
}

impl Lock for Fast {
    const NAME: &'static str = "fast mutex of the 1990s over Semaphore";
    const OURS: bool = true;

    fn new() -> Self {
        Fast { inside: AtomicU32::new(0), turns: Semaphore::new(0) }
    }

    #[inline]
    fn locked(&self, critical: impl FnOnce()) {
        self.enter();
        critical();
        self.leave();
    }
}
