//! What all waiting ends have in common.

use std::time::{Duration, Instant};

use crate::{Closed, Stopper, TryWaitError, WaitTimeoutError};

/// A waiting end: [`Waiter`](crate::Waiter), and whatever else a [`Worker`](crate::Worker) can be built on.
///
/// The methods are those that each type also has by itself; see there. The trait is sealed.
///
/// Not realtime-safe: waiting is what the other thread does.
pub trait Wait: sealed::Sealed {
    /// Takes *all* pending notifications; sleeps while there is none.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    fn wait(&mut self) -> Result<u32, Closed>;

    /// Takes all pending notifications, if there are any.
    ///
    /// # Errors
    ///
    /// [`TryWaitError::Empty`] if nothing is pending, [`TryWaitError::Closed`] if besides nothing will be.
    fn try_wait(&mut self) -> Result<u32, TryWaitError>;

    /// [`wait`](Wait::wait), for so long at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`].
    fn wait_timeout(&mut self, timeout: Duration) -> Result<u32, WaitTimeoutError>;

    /// [`wait`](Wait::wait), until then at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`].
    fn wait_deadline(&mut self, deadline: Instant) -> Result<u32, WaitTimeoutError>;

    /// Sleeps until `n` notifications are pending, then takes all.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    fn wait_for(&mut self, n: u32) -> Result<u32, Closed>;

    /// [`wait_for`](Wait::wait_for), until then at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`]. A timeout consumes nothing.
    fn wait_for_deadline(&mut self, n: u32, deadline: Instant) -> Result<u32, WaitTimeoutError>;

    /// A handle that ends the waits from elsewhere.
    fn stopper(&self) -> Stopper;
}

pub(crate) mod sealed {
    pub trait Sealed {
        /// Makes a descriptor readable although nothing is pending: its owner has something left to tell.
        fn rouse(&self) {}
    }
}

/// Implements [`Wait`] by the methods of the same names that the type has by itself. What follows the type goes into
/// the trait that seals it.
macro_rules! impl_wait {
    ($type:ty $(, $sealed:item)?) => {
        impl $crate::wait::sealed::Sealed for $type {
            $($sealed)?
        }

        impl $crate::Wait for $type {
            fn wait(&mut self) -> Result<u32, $crate::Closed> {
                self.wait()
            }

            fn try_wait(&mut self) -> Result<u32, $crate::TryWaitError> {
                self.try_wait()
            }

            fn wait_timeout(
                &mut self,
                timeout: std::time::Duration,
            ) -> Result<u32, $crate::WaitTimeoutError> {
                self.wait_timeout(timeout)
            }

            fn wait_deadline(
                &mut self,
                deadline: std::time::Instant,
            ) -> Result<u32, $crate::WaitTimeoutError> {
                self.wait_deadline(deadline)
            }

            fn wait_for(&mut self, n: u32) -> Result<u32, $crate::Closed> {
                self.wait_for(n)
            }

            fn wait_for_deadline(
                &mut self,
                n: u32,
                deadline: std::time::Instant,
            ) -> Result<u32, $crate::WaitTimeoutError> {
                self.wait_for_deadline(n, deadline)
            }

            fn stopper(&self) -> $crate::Stopper {
                self.stopper()
            }
        }
    };
}

pub(crate) use impl_wait;
