//! What the realtime side counts for the other to read.

use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How often, and by how much, the realtime side of a ring found no room, or too little to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortfall {
    /// Items that were offered and not written, or asked for and not there.
    pub items: u64,
    /// Calls in which that happened.
    pub events: u64,
}

impl Shortfall {
    pub(super) fn add(&mut self, items: usize) {
        self.items += items as u64;
        self.events += 1;
    }
}

/// Pointer-sized, since not every target has 64-bit atomics; [`Reading`] widens.
pub(super) struct Tally {
    flushes: AtomicUsize,
    items: AtomicUsize,
    events: AtomicUsize,
}

impl Tally {
    pub(super) fn new() -> Self {
        Tally { flushes: AtomicUsize::new(0), items: AtomicUsize::new(0), events: AtomicUsize::new(0) }
    }

    /// The waiting side is to stop waiting. The caller notifies it.
    #[inline]
    pub(super) fn flush(&self) {
        // Ordering: Release, pairs with the Acquire in `flushes`: what was written before the flush is seen with it.
        self.flushes.fetch_add(1, Release);
    }

    pub(super) fn flushes(&self) -> usize {
        // Ordering: Acquire, pairs with the Release in `flush`.
        self.flushes.load(Acquire)
    }

    /// Counts a call that found `items` too few slots, and stops the waiting side. The caller notifies it.
    pub(super) fn fall_short(&self, items: usize) {
        // Ordering: Relaxed; statistics, published by the flush.
        self.items.fetch_add(items, Relaxed);
        self.events.fetch_add(1, Relaxed);
        self.flush();
    }
}

/// The other side's view, wide enough for any uptime as long as it looks once per wrap of a pointer-sized count.
#[derive(Default)]
pub(super) struct Reading {
    last: (usize, usize),
    total: Shortfall,
}

impl Reading {
    pub(super) fn update(&mut self, tally: &Tally) -> Shortfall {
        // Ordering: Relaxed; statistics.
        let now = (tally.items.load(Relaxed), tally.events.load(Relaxed));
        self.total.items += now.0.wrapping_sub(self.last.0) as u64;
        self.total.events += now.1.wrapping_sub(self.last.1) as u64;
        self.last = now;
        self.total
    }
}
