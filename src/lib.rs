//! Wake a high-priority worker from a realtime audio thread.

mod error;

pub use error::{Closed, TryWaitError, WaitTimeoutError};
