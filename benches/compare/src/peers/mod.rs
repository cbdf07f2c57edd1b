//! The other mechanisms, one file each, in the roles of `common::role`.

pub(crate) mod calloop_ping;
pub(crate) mod cond_trylock;
#[cfg(not(no_cpp20))]
pub(crate) mod cpp20;
pub(crate) mod crossbeam_channel;
pub(crate) mod crossbeam_parker;
pub(crate) mod event_listener;
pub(crate) mod mio_waker;
pub(crate) mod named_sem;
pub(crate) mod parking;
pub(crate) mod posix_mq;
pub(crate) mod raw_futex;
pub(crate) mod sem_trywait;
pub(crate) mod shared_sem;
pub(crate) mod socketpair;
pub(crate) mod spin;
pub(crate) mod std_channel;
pub(crate) mod std_park;
pub(crate) mod sysv_mq;
pub(crate) mod sysv_sem;
pub(crate) mod tokio_notify;

use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A name for a semaphore or a message queue that no other run uses.
pub(crate) fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Ordering: Relaxed; the numbers only have to differ.
    format!("/rt-notify-compare-{}-{}", process::id(), NEXT.fetch_add(1, Relaxed))
}
