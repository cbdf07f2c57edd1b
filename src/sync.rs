//! What the models replace: the atomics of the protocol, and the clock that timed waits look at.

#[cfg(not(all(test, rt_notify_loom)))]
pub(crate) use std::thread::sleep;
#[cfg(not(all(test, rt_notify_loom)))]
use std::time::Instant;
#[cfg(not(all(test, rt_notify_loom)))]
pub(crate) use std::{hint::spin_loop, sync::atomic};

#[cfg(all(test, rt_notify_loom))]
pub(crate) use crate::sys::loom::{now, sleep};
#[cfg(all(test, rt_notify_loom))]
pub(crate) use loom::hint::spin_loop;

/// The ring: rtrb's, or a model of it whose atomics are loom's.
#[cfg(all(feature = "ring", not(all(test, rt_notify_loom))))]
pub(crate) use ::rtrb;
#[cfg(all(feature = "ring", test, rt_notify_loom))]
#[path = "../tests/loom/rtrb.rs"]
pub(crate) mod rtrb;

/// The time that deadlines are compared with.
#[cfg(not(all(test, rt_notify_loom)))]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// loom's atomics, whose end is an access too: freeing one while another thread may still use it, or using it
/// afterwards, is reported as a race.
#[cfg(all(test, rt_notify_loom))]
pub(crate) mod atomic {
    use std::ops::Deref;

    pub(crate) use loom::sync::atomic::Ordering;

    macro_rules! tracked {
        ($name:ident $(<$param:ident>)?, $value:ty) => {
            pub(crate) struct $name $(<$param>)? (loom::sync::atomic::$name $(<$param>)?);

            impl $(<$param>)? $name $(<$param>)? {
                #[track_caller]
                pub(crate) fn new(value: $value) -> Self {
                    $name(loom::sync::atomic::$name::new(value))
                }
            }

            impl $(<$param>)? Deref for $name $(<$param>)? {
                type Target = loom::sync::atomic::$name $(<$param>)?;

                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }

            impl $(<$param>)? Drop for $name $(<$param>)? {
                fn drop(&mut self) {
                    // A failing execution unwinds its threads without order.
                    if !std::thread::panicking() {
                        self.0.with_mut(|_| ());
                    }
                }
            }
        };
    }

    tracked!(AtomicU32, u32);
    tracked!(AtomicUsize, usize);
    tracked!(AtomicPtr<T>, *mut T);
}
