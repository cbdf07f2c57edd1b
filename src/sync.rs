//! The atomics of the protocol: std's, or loom's when its models run this crate's code.

#[cfg(all(test, rt_notify_loom))]
pub(crate) use loom::{hint::spin_loop, sync::atomic};
#[cfg(not(all(test, rt_notify_loom)))]
pub(crate) use std::{hint::spin_loop, sync::atomic};

/// The ring: rtrb's, or a model of it whose atomics are loom's.
#[cfg(all(feature = "ring", not(all(test, rt_notify_loom))))]
pub(crate) use ::rtrb;
