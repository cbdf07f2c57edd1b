//! How a waiter waits.

mod budget;
mod dll;
mod margin;
mod predictor;
#[cfg(all(test, not(rt_notify_loom)))]
mod simulation;
mod spinning;
mod stats;
mod wait;

use std::ops::RangeInclusive;
use std::time::Duration;

use self::predictor::{Plan, Predictor, Seen};
use self::spinning::Spinning;
pub use self::stats::WaitStats;
pub(crate) use self::wait::Waiting;

/// How a [`Waiter`](crate::Waiter) waits. The notifiers neither change nor know.
///
/// | strategy | `notify` makes a system call | the worker reacts within | costs |
/// |---|---|---|---|
/// | [`Block`](WaitStrategy::Block) | once per sleep | a wake-up: 5–50 µs | nothing while it sleeps |
/// | [`Spin`](WaitStrategy::Spin) | only if nothing came for so long | a cache line | a CPU, for so long after each wait |
/// | [`Interval`](WaitStrategy::Interval) | never | the interval, and the timer | a timer per interval |
/// | [`Periodic`](WaitStrategy::Periodic) | seldom, if notifications are periodic | a cache line | up to `max_cpu` of a CPU |
///
/// Those that spin behave as `Block` where the process has one CPU, since the notifier needs it; they must never run at
/// a priority at which they could keep the audio thread from a CPU: see
/// [`WorkerBuilder::below`](crate::WorkerBuilder::below). With all but `Block`, a realtime thread blocks within its waits
/// for a moment at least every 20 ms, or every quarter of `RLIMIT_RTTIME`, which would kill the process.
///
/// The [guide](crate::guide::strategies) tells which to choose, and what to look out for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Sleep until notified.
    #[default]
    Block,
    /// Look for so long, then sleep until notified.
    Spin(Duration),
    /// Never ask to be woken; look at these intervals. Less than 10 µs means that.
    ///
    /// Closing and stopping wake at once, all the same; a [flush](crate::Notifier::flush) is noticed at the next look.
    Interval(Duration),
    /// Wake just before the next notification is expected, look until a little after it, then sleep until notified.
    ///
    /// For notifications that come with a period, such as those of a JACK callback. Experimental: measured on virtual
    /// machines only.
    Periodic(Periodic),
}

/// What [`WaitStrategy::Periodic`] knows, and may do.
///
/// # Examples
///
/// ```
/// use rt_notify::{Notifier, Periodic, WaitStrategy};
/// use std::time::Duration;
///
/// let period = Duration::from_secs_f64(64.0 / 48_000.0);
/// let strategy = WaitStrategy::Periodic(Periodic::every(period).max_cpu(0.1));
///
/// let (notifier, waiter) = Notifier::new();
/// let mut waiter = waiter.with_strategy(strategy);
/// notifier.notify();
/// assert_eq!(waiter.wait(), Ok(1));
/// ```
#[derive(Clone, Debug)]
pub struct Periodic {
    period: Option<Duration>,
    margin: RangeInclusive<Duration>,
    max_cpu: f32,
}

impl Periodic {
    const MARGIN: RangeInclusive<Duration> = Duration::from_micros(10)..=Duration::from_micros(500);
    const MAX_CPU: f32 = 0.05;

    /// The period is learnt from the notifications.
    #[must_use]
    pub fn learn() -> Periodic {
        Periodic { period: None, margin: Self::MARGIN, max_cpu: Self::MAX_CPU }
    }

    /// The period is known, at least at first. A change is learnt.
    #[must_use]
    pub fn every(period: Duration) -> Periodic {
        Periodic { period: Some(period), ..Periodic::learn() }
    }

    /// How long before the expected moment to wake, and after it to look on: each learnt within these bounds, from what
    /// timers and notifications are late by. The default is 10 µs to 500 µs.
    #[must_use]
    pub fn margin(self, margin: RangeInclusive<Duration>) -> Periodic {
        Periodic { margin, ..self }
    }

    /// The share of one CPU, from 0 to 1, that being awake in time may take: looking, and the timed wake-ups before it. What
    /// exceeds it is spared by looking for a shorter time, and by blocking now and then. The default is 0.05. A wait that
    /// blocks, and what the worker does between its waits, is not included.
    ///
    /// Each waiter has its own share: 20 of them at the default may take a whole CPU.
    #[must_use]
    pub fn max_cpu(self, share: f32) -> Periodic {
        let max_cpu = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        Periodic { max_cpu, ..self }
    }
}

/// A strategy at work.
enum Strategy {
    Block,
    Spin(Duration),
    Interval(Duration),
    Periodic(Box<Predictor>),
}

/// The shortest interval. A timer is hardly more precise.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(10);

impl Strategy {
    fn new(strategy: WaitStrategy) -> Strategy {
        match strategy {
            WaitStrategy::Block => Strategy::Block,
            WaitStrategy::Spin(long) => Strategy::Spin(long),
            WaitStrategy::Interval(every) => Strategy::Interval(every.max(SHORTEST_INTERVAL)),
            WaitStrategy::Periodic(periodic) => Strategy::Periodic(Box::new(Predictor::new(&periodic))),
        }
    }

    fn is_block(&self) -> bool {
        matches!(self, Strategy::Block)
    }
}

fn nanos(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}
