//! What a waiter counts about its own waits.

use std::time::Duration;

/// What the waits of a [`Waiter`](crate::Waiter) did so far: see [`Waiter::stats`](crate::Waiter::stats).
///
/// Kept by the waiter alone, at no cost to the notifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WaitStats {
    /// Times that the thread went to sleep, or was about to, whatever ended it.
    pub sleeps: u64,
    /// Sleeps that a notifier ended: it had to make a system call.
    pub rings: u64,
    /// Sleeps that ended without reason: a signal, a flush that was for another wait, a ring that came late, or a
    /// notification below the target that came just as it fell asleep.
    pub spurious: u64,
    /// Waits that ended by their deadline.
    pub timeouts: u64,
    /// Waits that found what they waited for while spinning: no system call was needed.
    pub spin_hits: u64,
    /// Waits that found it pending at their start.
    pub pending: u64,
    /// Predicted notifications that came before the waiter was awake.
    pub early: u64,
    /// Predicted notifications that came after it had given up spinning.
    pub late: u64,
    /// Waits that blocked because anything else would have exceeded `max_cpu`.
    pub over_budget: u64,
    /// The largest count that a wait returned: how far the worker was behind.
    pub largest_pending: u32,
    /// Time spent spinning, without that for which other threads or the kernel had the CPU.
    pub spinning: Duration,
    /// The period learnt so far, if notifications are periodic.
    pub period: Option<Duration>,
    /// How long before the expected moment to be awake, as learnt by [`WaitStrategy::Periodic`](crate::WaitStrategy::Periodic).
    pub margin: Option<Duration>,
}
