//! The worker's side: waits on a futex.

use std::fmt;
use std::time::{Duration, Instant};

use crate::end::End;
use crate::shared::WaiterHandle;
use crate::state::Goal;
use crate::strategy::Waiting;
use crate::sync::now;
use crate::wait::impl_wait;
use crate::{Closed, Stopper, TryWaitError, WaitStats, WaitStrategy, WaitTimeoutError};

/// Waits for the notifications of a [`Notifier`](crate::Notifier), on a futex.
///
/// Made by [`Notifier::new`](crate::Notifier::new). A pair has one waiter. It can be sent to another thread.
///
/// **Not realtime-safe**: waiting blocks, and the drop of a waiter frees memory. The notifiers never notice either.
///
/// A count that a wait returns is the number of notifications since the last successful wait, at least 1 unless
/// stated otherwise. After the last notifier is dropped, or the pair is [stopped](Stopper::stop), one wait hands out
/// what is pending; from then on every wait returns [`Closed`] at once.
pub struct Waiter {
    shared: WaiterHandle,
    end: End,
    waiting: Waiting,
}

impl Waiter {
    pub(crate) fn new(shared: WaiterHandle) -> Self {
        Waiter { shared, end: End::default(), waiting: Waiting::new(WaitStrategy::Block) }
    }

    /// Takes *all* pending notifications and returns their number, unlike [`Semaphore::wait`](crate::Semaphore::wait),
    /// which takes one; sleeps while there is none.
    ///
    /// Not realtime-safe: it blocks. Signals do not end it.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// use rt_notify::{Closed, Notifier};
    ///
    /// let (notifier, mut waiter) = Notifier::new();
    /// let worker = std::thread::spawn(move || {
    ///     let mut total = 0;
    ///     while let Ok(n) = waiter.wait() {
    ///         total += n;
    ///     }
    ///     total
    /// });
    /// for _ in 0..1000 {
    ///     notifier.notify();
    /// }
    /// drop(notifier);
    /// assert_eq!(worker.join().unwrap(), 1000);
    /// ```
    pub fn wait(&mut self) -> Result<u32, Closed> {
        self.block(Goal::ANY, None).map_err(WaitTimeoutError::only_closed)
    }

    /// Takes all pending notifications, if there are any. Never sleeps.
    ///
    /// Not in the realtime-safe list, but makes no system call.
    ///
    /// # Errors
    ///
    /// [`TryWaitError::Empty`] if nothing is pending, [`TryWaitError::Closed`] if besides nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Notifier, TryWaitError};
    /// let (notifier, mut waiter) = Notifier::new();
    /// assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    /// notifier.notify();
    /// assert_eq!(waiter.try_wait(), Ok(1));
    /// drop(notifier);
    /// assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
    /// ```
    pub fn try_wait(&mut self) -> Result<u32, TryWaitError> {
        if !self.end.has_come() && !Goal::ANY.is_met_by(self.shared.state().look()) {
            return Err(TryWaitError::Empty);
        }
        Ok(self.take(Goal::ANY)?)
    }

    /// [`wait`](Waiter::wait), for so long at most. Zero is [`try_wait`](Waiter::try_wait); what no clock can hold is
    /// for ever.
    ///
    /// Not realtime-safe: it blocks.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once that time has passed, never earlier, on the monotonic clock;
    /// [`WaitTimeoutError::Closed`] once nothing is pending and nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Notifier, WaitTimeoutError};
    /// # use std::time::Duration;
    /// let (notifier, mut waiter) = Notifier::new();
    /// assert_eq!(waiter.wait_timeout(Duration::from_micros(300)), Err(WaitTimeoutError::Timeout));
    /// notifier.notify();
    /// assert_eq!(waiter.wait_timeout(Duration::MAX), Ok(1));
    /// ```
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<u32, WaitTimeoutError> {
        if timeout.is_zero() {
            return Ok(self.try_wait()?);
        }
        self.block(Goal::ANY, now().checked_add(timeout))
    }

    /// [`wait`](Waiter::wait), until `deadline` at most.
    ///
    /// Not realtime-safe: it blocks. To wait periodically without drift, advance the deadline by the period.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once `Instant::now()` has reached `deadline`;
    /// [`WaitTimeoutError::Closed`] once nothing is pending and nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Notifier, WaitTimeoutError};
    /// # use std::time::{Duration, Instant};
    /// # let (notifier, mut waiter) = Notifier::new();
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(waiter.wait_deadline(deadline), Err(WaitTimeoutError::Timeout));
    /// assert!(Instant::now() >= deadline);
    /// ```
    pub fn wait_deadline(&mut self, deadline: Instant) -> Result<u32, WaitTimeoutError> {
        self.block(Goal::ANY, Some(deadline))
    }

    /// Sleeps until `n` notifications are pending, then takes all and returns their number.
    ///
    /// Not realtime-safe: it blocks. While fewer are pending, notifiers make no system call: a worker that waits for
    /// half a buffer is woken once per half buffer. 0 means 1; more than 2^23, the limit of the count, means that.
    ///
    /// It returns early, with fewer than `n` and perhaps with 0, after a [`flush`](crate::Notifier::flush), which it
    /// consumes; and with fewer, but at least 1, once the pair is closed.
    ///
    /// # Errors
    ///
    /// [`Closed`] once nothing is pending and nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Closed, Notifier};
    /// # let (notifier, mut waiter) = Notifier::new();
    /// notifier.notify_many(3);
    /// notifier.notify_many(2);
    /// assert_eq!(waiter.wait_for(4), Ok(5));
    /// notifier.flush();
    /// assert_eq!(waiter.wait_for(4), Ok(0));
    /// notifier.notify();
    /// drop(notifier);
    /// assert_eq!(waiter.wait_for(4), Ok(1));
    /// assert_eq!(waiter.wait_for(4), Err(Closed));
    /// ```
    pub fn wait_for(&mut self, n: u32) -> Result<u32, Closed> {
        self.block(Goal::at_least(n), None).map_err(WaitTimeoutError::only_closed)
    }

    /// [`wait_for`](Waiter::wait_for), until `deadline` at most.
    ///
    /// Not realtime-safe: it blocks.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::Timeout`] once `Instant::now()` has reached `deadline`: nothing was consumed, what is
    /// pending counts towards the next wait. [`WaitTimeoutError::Closed`] once nothing is pending and nothing will be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Notifier, WaitTimeoutError};
    /// # use std::time::{Duration, Instant};
    /// # let (notifier, mut waiter) = Notifier::new();
    /// notifier.notify_many(3);
    /// let soon = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(waiter.wait_for_deadline(4, soon), Err(WaitTimeoutError::Timeout));
    /// assert_eq!(waiter.try_wait(), Ok(3));
    /// ```
    pub fn wait_for_deadline(&mut self, n: u32, deadline: Instant) -> Result<u32, WaitTimeoutError> {
        self.block(Goal::at_least(n), Some(deadline))
    }

    /// A handle that ends the waits from elsewhere.
    ///
    /// Not in the realtime-safe list, but neither blocks nor allocates.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper::new(self.shared.clone())
    }

    /// Waits from now on as `strategy` says. What was counted and is pending stays.
    ///
    /// Not realtime-safe: it may allocate, and asks the system for CPUs and limits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::{Notifier, WaitStrategy};
    /// # use std::time::Duration;
    /// # let (notifier, mut waiter) = Notifier::new();
    /// waiter.set_strategy(WaitStrategy::Spin(Duration::from_micros(50)));
    /// notifier.notify();
    /// assert_eq!(waiter.wait(), Ok(1));
    /// ```
    pub fn set_strategy(&mut self, strategy: WaitStrategy) {
        self.waiting.set_strategy(strategy);
    }

    /// The same waiter, waiting as `strategy` says: see [`set_strategy`](Waiter::set_strategy).
    ///
    /// Not realtime-safe.
    #[must_use]
    pub fn with_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.set_strategy(strategy);
        self
    }

    /// What this waiter's waits did so far. [`try_wait`](Waiter::try_wait) does not count as one.
    ///
    /// Not in the realtime-safe list, but neither blocks nor allocates.
    ///
    /// # Examples
    ///
    /// ```
    /// # let (notifier, mut waiter) = rt_notify::Notifier::new();
    /// notifier.notify();
    /// notifier.notify();
    /// waiter.wait().unwrap();
    /// assert_eq!((waiter.stats().largest_pending, waiter.stats().rings), (2, 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> WaitStats {
        self.waiting.stats()
    }

    /// Waits until `goal` is met, then takes. `None` is for ever.
    fn block(&mut self, goal: Goal, deadline: Option<Instant>) -> Result<u32, WaitTimeoutError> {
        self.end.tell_if_come()?;
        if !self.waiting.wait(&self.shared, goal, deadline) {
            return Err(WaitTimeoutError::Timeout);
        }
        let count = self.take(goal)?;
        let largest = &mut self.waiting.stats_mut().largest_pending;
        *largest = count.max(*largest);
        Ok(count)
    }

    /// For models that look at the word.
    /// A wait by a plan to sleep until `from`, to look once then, and to sleep for ever if that was in vain.
    #[cfg(all(test, rt_notify_loom))]
    pub(crate) fn wait_by_a_plan(&mut self, n: u32, from: Instant) -> Result<u32, Closed> {
        self.end.tell_if_come()?;
        let goal = Goal::at_least(n);
        assert!(self.waiting.follow_a_plan(&self.shared, goal, from));
        self.take(goal)
    }

    #[cfg(all(test, rt_notify_loom))]
    pub(crate) fn state(&self) -> &crate::state::State {
        self.shared.state()
    }

    /// Takes what is pending, and notes the end.
    fn take(&mut self, goal: Goal) -> Result<u32, Closed> {
        self.end.tell_if_come()?;
        self.end.hand_out(self.shared.state().take(goal))
    }
}

impl_wait!(Waiter);

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.state().look().fmt_as("Waiter", f)
    }
}
