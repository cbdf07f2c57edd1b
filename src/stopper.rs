//! Ends a pair from anywhere.

use std::fmt;

use crate::shared::Handle;

/// Ends the waits of one waiter, from any thread: a signal handler, JACK's shutdown callback, a GUI.
///
/// Made by [`Waiter::stopper`](crate::Waiter::stopper). It does not count as a notifier: a pair whose notifiers are
/// gone is closed, however many stoppers there are.
///
/// **Realtime-safe** and **async-signal-safe**: [`stop`](Stopper::stop), [`Clone`] and [`Drop`].
///
/// # Examples
///
/// ```
/// use rt_notify::{Closed, Notifier};
///
/// let (notifier, mut waiter) = Notifier::new();
/// let stopper = waiter.stopper();
/// notifier.notify();
/// stopper.stop();
/// assert_eq!(waiter.wait(), Ok(1)); // what was pending
/// assert_eq!(waiter.wait(), Err(Closed));
/// assert!(notifier.is_closed());
/// ```
#[derive(Clone)]
pub struct Stopper {
    shared: Handle,
}

impl Stopper {
    pub(crate) fn new(shared: Handle) -> Self {
        Stopper { shared }
    }

    /// Closes the pair: the waiter wakes, one wait hands out what is pending, every later one returns
    /// [`Closed`](crate::Closed).
    ///
    /// Realtime-safe, async-signal-safe: one system call, which does not block. Stopping twice does no harm.
    /// Everything written before is visible to the thread that is told [`Closed`](crate::Closed).
    #[inline]
    pub fn stop(&self) {
        self.shared.close();
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.state().look().fmt_as("Stopper", f)
    }
}
