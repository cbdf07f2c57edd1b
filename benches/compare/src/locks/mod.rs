//! Locks, one file each, behind one trait.

pub(crate) mod fast;
pub(crate) mod parking_lot;
pub(crate) mod pthread;
pub(crate) mod spin_then_block;
pub(crate) mod std_mutex;

/// Mutual exclusion.
pub(crate) trait Lock: Send + Sync + 'static {
    const NAME: &'static str;
    /// Whether it sleeps on this project's semaphore.
    const OURS: bool = false;

    fn new() -> Self;
    fn locked(&self, critical: impl FnOnce());
}
