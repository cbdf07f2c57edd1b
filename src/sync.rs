//! The atomics of the protocol: std's, or loom's when its models run this crate's code.

#[cfg(all(test, rt_notify_loom))]
pub(crate) use loom::sync::atomic;
#[cfg(not(all(test, rt_notify_loom)))]
pub(crate) use std::sync::atomic;
