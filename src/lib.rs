//! Wake a high-priority worker from a realtime audio thread.

mod end;
mod error;
#[cfg(feature = "mio")]
mod mio;
mod notifier;
mod parking;
#[cfg(unix)]
mod poll_loop;
#[cfg(unix)]
mod poll_waiter;
mod semaphore;
mod shared;
mod state;
mod stopper;
mod sync;
mod sys;
mod wait;
mod waiter;
mod word;

pub use error::{Closed, TryWaitError, WaitTimeoutError};
pub use notifier::{NOTIFY_MANY_MAX, Notifier};
#[cfg(unix)]
pub use poll_loop::{Armed, PollLoop};
#[cfg(unix)]
pub use poll_waiter::PollWaiter;
pub use semaphore::Semaphore;
pub use stopper::Stopper;
pub use wait::Wait;
pub use waiter::Waiter;

// Here and not in a target of their own: they look at the word, and loom is a dependency of tests alone.
#[cfg(all(test, rt_notify_loom))]
#[path = "../tests/loom/mod.rs"]
mod models;
