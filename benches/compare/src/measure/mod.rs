//! What is measured, one file each, besides what the `wakeups` bench measures too.

pub(crate) mod burst;
pub(crate) mod contention;
pub(crate) mod floor;
pub(crate) mod many_notifiers;
pub(crate) mod many_waiters;
pub(crate) mod pairs;
pub(crate) mod uncontended;
