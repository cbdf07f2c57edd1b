//! What depends on the operating system, or is a model of it.
//!
//! Every platform has a [`Futex`]: an `AtomicU32` (by `Deref`) on which a thread can sleep.
//!
//! - `new(u32)`: const where the platform's atomics are.
//! - `wait(&self, expected)`: sleeps unless the word no longer holds `expected`. May return for no reason.
//! - `wait_until(&self, expected, at)`: the same, and returns at `at` at the latest, or soon after.
//! - `wake(&self, n)`: wakes up to `n` sleepers. One system call that never blocks; `errno` is kept. It uses the
//!   word's *address* alone, so that it may run after the word's owner is gone.
//!
//! Every unix has an [`Event`]: a descriptor that is readable from a post until it is drained.
//!
//! - `new()`: both ends non-blocking and close-on-exec from the start.
//! - `post(&self)`: makes it readable. One system call that never blocks; `errno` is kept. Full is readable.
//! - `drain(&self)`: makes it unreadable.
//! - `sleep(&self, until)`: sleeps until it is readable, or it is late. May return for no reason.
//! - `fd(&self)`: what to poll for readability.
//!
//! `first_call::prepare` spares the first `wake` or `post` of a process what rustix does at its first call.
//!
//! For workers, `sched` has `ThisThread`, a [`Scheduler`](crate::priority::Scheduler), and `set_cpus`; `signals` has
//! the guard `SignalsBlocked`.

pub(crate) mod first_call;

#[cfg(all(test, rt_notify_loom))]
pub(crate) mod loom;
#[cfg(all(test, rt_notify_loom))]
use self::loom as os;

#[cfg(not(all(test, rt_notify_loom)))]
mod os;

#[cfg(unix)]
pub(crate) use os::Event;
pub(crate) use os::Futex;

#[cfg(target_os = "linux")]
pub(crate) mod sched;
#[cfg(not(target_os = "linux"))]
#[path = "sched_other.rs"]
pub(crate) mod sched;

#[cfg(target_os = "linux")]
pub(crate) mod signals;
#[cfg(not(target_os = "linux"))]
#[path = "signals_other.rs"]
pub(crate) mod signals;
