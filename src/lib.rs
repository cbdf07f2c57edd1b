//! Wake a high-priority worker from a realtime audio thread.

mod error;
mod notifier;
mod parking;
mod priority;
mod semaphore;
mod shared;
mod state;
mod stopper;
mod sync;
mod sys;
mod wait;
mod waiter;
mod word;
mod worker;

pub use error::{Closed, TryWaitError, WaitTimeoutError};
pub use notifier::{NOTIFY_MANY_MAX, Notifier};
pub use priority::{Granted, Policy, Priority, PriorityError};
pub use semaphore::Semaphore;
pub use stopper::Stopper;
pub use wait::Wait;
pub use waiter::Waiter;
pub use worker::{OnDenied, Worker, WorkerBuilder, WorkerPanic};
