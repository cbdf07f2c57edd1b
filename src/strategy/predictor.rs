//! When the next notification will come, and how long to look for it.
//!
//! The predictor knows only what the waiter has seen, and when:
//!
//! - a notification that came while the waiter was **spinning** came at that moment: it alone steers the loop. If
//!   something kept the waiter from its CPU meanwhile, most likely the notifier itself, it came at some moment since the
//!   look before: at the expected one, if that is possible;
//! - one that **woke** it came a wake-up earlier, some 20–50 µs: fed to the loop it would drag the prediction late, so
//!   that the next one comes "early" again, for ever;
//! - one found **pending** at the start of a wait came at any time before.
//!
//! So the latter two only bound the moment (censored data): it was before the waiter was to be awake, or, if the waiter
//! had given up looking, after that. A bound steers the loop as far as it is violated, and no further.
//!
//! It is in one of two states. *Searching*, the waiter blocks, and the intervals between wake-ups are collected until
//! several agree on a period. *Locked*, the waiter spins over the expected moment; when it has met nothing there for
//! several periods, it searches again.

use super::budget::Budget;
use super::dll::Dll;
use super::margin::Margin;
use super::{Periodic, nanos};
use crate::hint::Heard;

/// Intervals that must agree before the period is trusted.
const AGREEING: usize = 5;
/// How far they may spread, as a share of the period.
const SPREAD: f64 = 0.2;
/// Misses in a row after which the lock is given up. A hit makes up for half a miss, so that one in three may miss for
/// good: what hits every second time has half the period, and must be found out.
const MISSES: u32 = 11;
/// Periods without a notification after which it is given up at once.
const DROP_OUT: f64 = 4.0;
/// The shortest period worth predicting, in least margins: spinning over a good part of it would be spinning for ever.
const SHORTEST: f64 = 10.0;
/// The same in nanoseconds, for a least margin of nothing: a period of 0 has no phase.
const SHORTEST_EVER: f64 = 20_000.0;
/// How fast the lag behind an announcement is learnt.
const LAG: f64 = 0.1;
/// How fast the errors of announcements are forgotten.
const WRONG: f64 = 1.0 / 32.0;
/// More than that is no lag.
const MOST_LAG: f64 = 1e9;

/// What a wait is to do. Times are nanoseconds since the waiter's epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plan {
    /// Sleep until notified.
    Block,
    /// Sleep until `from`, though notified earlier if need be; look until `until`; then sleep until notified.
    Spin { from: f64, until: f64 },
}

/// How a wait met its notification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// At its start.
    Pending,
    /// While spinning, which had begun then, and so long after the look before.
    Spinning { since: f64, blind: f64 },
    /// Woken before it had begun to spin, or without a plan to.
    Woken,
    /// Woken after it had given up spinning.
    Late,
}

#[derive(Clone, Debug)]
pub(super) struct Predictor {
    state: State,
    search: Search,
    /// How long before the expected moment to be awake.
    before: Margin,
    /// How long after it to look on.
    after: Margin,
    budget: Budget,
    /// A known period, until it proves wrong.
    known: Option<f64>,
    hint: Hint,
    plan: Plan,
    /// The moment that the plan is for, if it is for one.
    expected: Option<f64>,
    over_budget: u64,
}

/// What the notifier's side announced.
#[derive(Clone, Debug, Default)]
struct Hint {
    heard: Heard,
    /// The latest, past or future.
    latest: Option<f64>,
    /// The moment that the present plan is for.
    at: Option<f64>,
    /// When a notification was met last.
    met: Option<f64>,
    /// By how much notifications follow their announcement.
    lag: f64,
    /// By how much the announcements were wrong lately, and what was learnt.
    wrong: Wrong,
}

/// Means of the latest errors.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    announced: f64,
    learnt: f64,
}

impl Hint {
    /// An audio server's own estimate of its cycles may be worse than what their ends show.
    fn is_believed(&self) -> bool {
        self.wrong.announced <= self.wrong.learnt
    }
}

#[derive(Clone, Debug)]
enum State {
    Searching,
    Locked { dll: Dll, doubt: u32 },
}

/// The latest intervals between wake-ups.
#[derive(Clone, Debug, Default)]
struct Search {
    last: Option<f64>,
    intervals: [f64; AGREEING],
    /// Where the next one goes.
    next: usize,
    /// How many there are.
    filled: usize,
    /// So many in a row were not met while spinning.
    missed: usize,
}

impl Search {
    fn met(&mut self, at: f64, seen: Seen) -> Option<f64> {
        match seen {
            // When it came is unknown, and so are the intervals around it.
            Seen::Pending => {
                *self = Search::default();
                return None;
            }
            Seen::Spinning { .. } => self.missed = 0,
            Seen::Woken | Seen::Late => self.missed += 1,
        }
        self.woken(at)
    }

    /// A wake-up. Returns the period once the intervals agree on one.
    fn woken(&mut self, at: f64) -> Option<f64> {
        let last = self.last.replace(at)?;
        self.intervals[self.next] = at - last;
        self.next = (self.next + 1) % AGREEING;
        self.filled = (self.filled + 1).min(AGREEING);
        if self.filled < AGREEING {
            return None;
        }
        let period = self.intervals.iter().sum::<f64>() / self.intervals.len() as f64;
        let agree = |interval: &f64| (interval - period).abs() <= SPREAD * period;
        self.intervals.iter().all(agree).then_some(period)
    }
}

impl Predictor {
    pub(super) fn new(config: &Periodic) -> Predictor {
        Predictor {
            state: State::Searching,
            search: Search::default(),
            before: Margin::new(nanos(*config.margin.start()), nanos(*config.margin.end())),
            after: Margin::new(nanos(*config.margin.start()), nanos(*config.margin.end())),
            budget: Budget::new(config.max_cpu.into()),
            known: config.period.map(nanos),
            hint: Hint::default(),
            plan: Plan::Block,
            expected: None,
            over_budget: 0,
        }
    }

    /// The period, while locked.
    pub(super) fn period(&self) -> Option<f64> {
        match &self.state {
            State::Locked { dll, .. } => Some(dll.period()),
            State::Searching => None,
        }
    }

    pub(super) fn margin(&self) -> f64 {
        self.before.get()
    }

    pub(super) fn over_budget(&self) -> u64 {
        self.over_budget
    }

    pub(super) fn heard(&mut self) -> &mut Heard {
        &mut self.hint.heard
    }

    /// What the wait that begins `now` is to do. `hint` is what `expect_next` announced last.
    pub(super) fn plan(&mut self, now: f64, hint: Option<f64>) -> Plan {
        let left = self.budget.left(now);
        let after = self.after.get();
        self.hint.latest = hint;
        self.hint.at = hint.filter(|at| {
            let expected = at + self.hint.lag;
            // The next announcement may come only after the notification, and the waiter be faster.
            let is_met = self.hint.met.is_some_and(|met| expected <= met + after);
            expected + after > now && !is_met
        });
        let announced = self.hint.at.map(|at| at + self.hint.lag);
        self.expected = match &self.state {
            State::Locked { dll, .. } => announced.filter(|_| self.hint.is_believed()).or(Some(dll.next())),
            State::Searching => announced,
        };
        // Without a period, what is announced is the only one that is known to come.
        let interval = self.period().or(self.hint.at.map(|at| at - now));
        self.plan = match self.expected.zip(interval) {
            Some((expected, interval)) => self.plan_for(expected, interval, now, left),
            None => Plan::Block,
        };
        if !matches!(self.plan, Plan::Spin { from, .. } if from > now) {
            self.budget.leave_open();
        }
        self.plan
    }

    /// The plan for a notification that is expected then, as one in every `interval`, with so much `left` to spend.
    fn plan_for(&mut self, expected: f64, interval: f64, now: f64, left: f64) -> Plan {
        let before = self.before.get().min(self.budget.bearable(interval)).max(self.before.least());
        let after = self.after.get();
        if expected + after <= now {
            // Its moment has passed: a notification that is late is not worth spinning for.
            return Plan::Block;
        }
        let from = (expected - before).max(now);
        if left <= expected - from + before / 2.0 {
            self.over_budget += 1;
            return Plan::Block;
        }
        Plan::Spin { from, until: (expected + after).min(from + left) }
    }

    /// The wait that `began` then slept until the planned moment; the thread's CPU time was `before`, and is `after`.
    pub(super) fn slept(&mut self, began: f64, before: f64, after: f64) {
        self.budget.slept(began, before, after);
    }

    /// It looked for so long, until `end`.
    pub(super) fn looked(&mut self, time: f64, end: f64) {
        self.budget.looked(time, end);
    }

    /// The planned wait met its notification at `at`, which is when it was seen.
    pub(super) fn met(&mut self, at: f64, seen: Seen) {
        if seen == Seen::Late {
            self.budget.leave_open();
        }
        let stray = self.is_stray(at, seen);
        self.hint.met = Some(at);
        if !stray {
            self.compare(at, seen);
            self.learn_margin(at, seen);
            self.learn_lag(at, seen);
        }
        let period = self.search.met(at, seen);
        match &mut self.state {
            State::Searching => {
                if let Some(period) = self.known.or(period).filter(|_| seen != Seen::Pending) {
                    self.lock(at, period);
                }
            }
            State::Locked { dll, doubt } => {
                if at - dll.next() > DROP_OUT * dll.period() {
                    return self.search(at);
                }
                if let Some(period) = period {
                    let is_another = (period - dll.period()).abs() > SPREAD * dll.period();
                    if is_another || self.search.missed > AGREEING {
                        self.search(at);
                        return self.lock(at, period);
                    }
                }
                match seen {
                    Seen::Spinning { blind, .. } => {
                        dll.event(probable(dll.next(), at, blind));
                        *doubt = doubt.saturating_sub(1);
                    }
                    // It may have been this period's or an earlier one's: the next to expect is certainly later.
                    Seen::Pending => dll.skip_to(at + self.after.get()),
                    Seen::Woken => {
                        if !stray {
                            // It came before the waiter was to be awake, whenever it was seen.
                            dll.no_later_than(match self.plan {
                                Plan::Spin { from, .. } => at.min(from),
                                Plan::Block => at,
                            });
                        }
                        // Without a plan to spin it is no miss.
                        *doubt += 2 * u32::from(self.plan != Plan::Block);
                    }
                    Seen::Late => {
                        if let Plan::Spin { until, .. } = self.plan {
                            dll.no_earlier_than(until, at);
                        }
                        *doubt += 2;
                    }
                }
                if *doubt >= 2 * MISSES || !self.is_worth_it() {
                    self.search(at);
                }
            }
        }
    }

    /// Whether it came so early that it is hardly the one that was expected, but one more, such as another thread's: the
    /// one that was expected is still to come. If it was the one after all, there will be more of them.
    fn is_stray(&self, at: f64, seen: Seen) -> bool {
        seen == Seen::Woken && self.expected.is_some_and(|expected| at < expected - 2.0 * self.before.get())
    }

    fn lock(&mut self, last: f64, period: f64) {
        self.state = State::Locked { dll: Dll::new(last, period), doubt: 0 };
        if let Some(announced) = self.hint.latest {
            // A callback may take most of its cycle; it may also be announced a little too late.
            let lag = last - announced;
            self.hint.lag = lag - (lag / period + 0.25).floor() * period;
        }
        if !self.is_worth_it() {
            self.search(last);
        }
    }

    fn search(&mut self, last: f64) {
        self.known = None;
        self.before.reset();
        self.after.reset();
        self.hint.lag = 0.0;
        self.hint.wrong = Wrong::default();
        self.search = Search { last: Some(last), ..Search::default() };
        self.state = State::Searching;
    }

    fn is_worth_it(&self) -> bool {
        self.period().is_none_or(|period| period >= (SHORTEST * self.before.least()).max(SHORTEST_EVER))
    }

    fn learn_margin(&mut self, at: f64, seen: Seen) {
        let (Plan::Spin { from, until }, Some(expected)) = (self.plan, self.expected) else { return };
        match seen {
            Seen::Spinning { since, blind } => {
                let late = probable(expected, at, blind) - expected;
                // To have been awake in time, with what the timer was late by; and to have looked long enough.
                self.before.needed(since - from - late);
                self.after.needed(late);
            }
            Seen::Woken => self.before.missed(expected - from),
            Seen::Late => self.after.missed(until - expected),
            Seen::Pending => {}
        }
    }

    /// By how much both the announcement and what was learnt were wrong, if there are both.
    fn compare(&mut self, at: f64, seen: Seen) {
        let (Some(announced), State::Locked { dll, .. }) = (self.hint.at, &self.state) else { return };
        let wrong = |expected: f64| match (seen, self.plan) {
            (Seen::Spinning { blind, .. }, _) => (probable(expected, at, blind) - expected).abs(),
            (Seen::Woken, _) => (expected - at).max(0.0),
            (Seen::Late, Plan::Spin { until, .. }) => (until - expected).max(0.0),
            _ => 0.0,
        };
        let Wrong { announced: before, learnt } = self.hint.wrong;
        let change =
            |before: f64, expected: f64| before + WRONG * (wrong(expected).min(dll.period()) - before);
        self.hint.wrong = Wrong {
            announced: change(before, announced + self.hint.lag),
            learnt: change(learnt, dll.next()),
        };
    }

    /// Of what was announced, whatever the plan was for.
    fn learn_lag(&mut self, at: f64, seen: Seen) {
        let Some(expected) = self.hint.at.map(|announced| announced + self.hint.lag) else { return };
        let change = match (seen, self.plan) {
            (Seen::Spinning { blind, .. }, _) => LAG * (probable(expected, at, blind) - expected),
            // It came earlier still; but what came much earlier was not what was announced.
            (Seen::Woken, _) => (at - expected).clamp(-self.before.get(), 0.0),
            (Seen::Late, Plan::Spin { until, .. }) => LAG * (until - expected).max(0.0),
            _ => 0.0,
        };
        self.hint.lag = (self.hint.lag + change).clamp(-MOST_LAG, MOST_LAG);
    }
}

/// The moment nearest to `expected` that was no later than `at`, and no more than `blind` before it.
fn probable(expected: f64, at: f64, blind: f64) -> f64 {
    expected.max(at - blind).min(at)
}
