//! What depends on the operating system. This file alone decides which module is compiled.
//!
//! Each platform module exposes one type, [`Futex`]: an `AtomicU32` (by `Deref`) on which a thread can sleep.
//!
//! - `new(u32)`: const where the platform's atomics are.
//! - `wait(&self, expected)`: sleeps unless the word no longer holds `expected`. May return for no reason.
//! - `wait_until(&self, expected, at)`: the same, and returns at `at` at the latest, or soon after.
//! - `wake(&self, n)`: wakes up to `n` sleepers. One system call that never blocks; `errno` is kept. It uses the
//!   word's *address* alone, so that it may run after the word's owner is gone.

#[cfg(all(test, rt_notify_loom))]
pub(crate) mod loom;
#[cfg(all(test, rt_notify_loom))]
pub(crate) use self::loom::Futex;

#[cfg(all(target_os = "linux", not(all(test, rt_notify_loom))))]
mod errno;
#[cfg(all(target_os = "linux", not(all(test, rt_notify_loom))))]
mod linux;
#[cfg(all(target_os = "linux", not(all(test, rt_notify_loom))))]
pub(crate) use self::linux::Futex;

#[cfg(not(any(target_os = "linux", all(test, rt_notify_loom))))]
mod portable;
#[cfg(not(any(target_os = "linux", all(test, rt_notify_loom))))]
pub(crate) use self::portable::Futex;
