//! The strategies at work on the word.

use std::time::{Duration, Instant};

use super::{Plan, Predictor, Seen, Spinning, Strategy, WaitStats, WaitStrategy, nanos};
use crate::shared::Shared;
use crate::state::{Goal, State};
use crate::sync::{now, spin_loop};
use crate::sys::sched::cpu_time_of_this_thread;

/// A waiter's strategy, and what it has to remember.
pub(crate) struct Waiting {
    strategy: Strategy,
    /// Of all but `Block`: any other can be kept busy without ever sleeping, on purpose.
    spinning: Option<Spinning>,
    stats: WaitStats,
}

impl Waiting {
    pub(crate) fn new(strategy: WaitStrategy) -> Self {
        let strategy = Strategy::new(strategy);
        Waiting {
            spinning: (!strategy.is_block()).then(Spinning::new),
            strategy,
            stats: WaitStats::default(),
        }
    }

    /// What was counted so far stays.
    pub(crate) fn set_strategy(&mut self, strategy: WaitStrategy) {
        let counted = WaitStats { period: None, margin: None, ..self.stats() };
        *self = Waiting { stats: counted, ..Waiting::new(strategy) };
    }

    pub(crate) fn stats(&self) -> WaitStats {
        let mut stats = self.stats;
        if let Strategy::Periodic(predictor) = &self.strategy {
            stats.period = predictor.period().map(duration);
            stats.margin = Some(duration(predictor.margin()));
            stats.over_budget += predictor.over_budget();
        }
        stats
    }

    pub(crate) fn stats_mut(&mut self) -> &mut WaitStats {
        &mut self.stats
    }

    /// Waits until `goal` is met, `deadline` at most. `None` is for ever. Tells whether it is met.
    #[inline]
    pub(crate) fn wait(&mut self, shared: &Shared, goal: Goal, deadline: Option<Instant>) -> bool {
        if goal.is_met_by(shared.state().look()) {
            self.stats.pending += 1;
            if self.spinning.is_some() {
                self.found_pending(shared);
            }
            return true;
        }
        self.wait_by_strategy(shared, goal, deadline)
    }

    #[inline(never)]
    fn wait_by_strategy(&mut self, shared: &Shared, goal: Goal, deadline: Option<Instant>) -> bool {
        let state = shared.state();
        let met = match self.strategy {
            Strategy::Block => self.stats.sleep(state, goal, deadline),
            Strategy::Spin(long) => self.spin(state, goal, deadline, long),
            Strategy::Interval(every) => self.look_every(state, goal, deadline, every),
            Strategy::Periodic(_) => self.predict(shared, goal, deadline),
        };
        self.stats.timeouts += u64::from(!met);
        met
    }

    #[cold]
    fn found_pending(&mut self, shared: &Shared) {
        if let Some(spinning) = &mut self.spinning {
            // A thread that always finds something never sleeps.
            spinning.check();
        }
        if let Strategy::Periodic(predictor) = &mut self.strategy {
            predictor.met(nanos_since(shared.hint().epoch()), Seen::Pending);
        }
    }

    fn spin(&mut self, state: &State, goal: Goal, deadline: Option<Instant>, long: Duration) -> bool {
        if let Some(spinning) = &mut self.spinning {
            if spinning.check() {
                let until = earlier(now().checked_add(long), deadline);
                if self.stats.spin(state, goal, until, spinning).is_some() {
                    return true;
                }
            }
        }
        self.stats.sleep(state, goal, deadline)
    }

    /// Never arms: a notification changes the word, but wakes nobody. Closing wakes whoever sleeps on it.
    fn look_every(&mut self, state: &State, goal: Goal, deadline: Option<Instant>, every: Duration) -> bool {
        let mut next = now().checked_add(every);
        loop {
            let until = earlier(next, deadline);
            loop {
                let seen = state.look();
                if goal.is_met_by(seen) {
                    return true;
                }
                let now = now();
                if deadline.is_some_and(|at| now >= at) {
                    return false;
                }
                if next.is_some_and(|at| now >= at) {
                    // From now, so that a thread that was kept away does not look many times at once.
                    next = now.checked_add(every);
                    break;
                }
                if let Some(spinning) = &mut self.spinning {
                    // Notifications below the target may come so fast that no sleep begins.
                    spinning.check();
                }
                self.stats.sleeps += 1;
                state.sleep(seen, until);
            }
        }
    }

    fn predict(&mut self, shared: &Shared, goal: Goal, deadline: Option<Instant>) -> bool {
        let (Strategy::Periodic(predictor), Some(spinning)) = (&mut self.strategy, &mut self.spinning) else {
            unreachable!("called for this strategy, which spins");
        };
        let state = shared.state();
        if !spinning.check() {
            return self.stats.sleep(state, goal, deadline);
        }
        let epoch = shared.hint().epoch();
        let now = nanos_since(epoch);
        let hint = shared.hint().latest(now, predictor.heard());
        let plan = predictor.plan(now, hint);
        let wait = Predicted { state, goal, deadline, epoch, now };
        wait.follow(plan, predictor, spinning, &mut self.stats)
    }
}

/// What takes longer than a look ever does, was another thread's or the kernel's.
const LONGEST_LOOK: Duration = Duration::from_micros(5);

/// A wait that follows a plan.
struct Predicted<'a> {
    state: &'a State,
    goal: Goal,
    deadline: Option<Instant>,
    epoch: Instant,
    /// When it began, and was planned.
    now: f64,
}

/// What the models drive.
#[cfg(all(test, rt_notify_loom))]
impl Waiting {
    /// As [`wait`](Waiting::wait), by a plan to sleep until `from` and to look once then.
    pub(crate) fn follow_a_plan(&mut self, shared: &Shared, goal: Goal, from: Instant) -> bool {
        // Before all that the models' clock knows, so that the sleep is never left out.
        let epoch = crate::sys::loom::past() - Duration::from_secs(1);
        let from = nanos(from - epoch);
        let wait = Predicted { state: shared.state(), goal, deadline: None, epoch, now: 0.0 };
        let mut predictor = Predictor::new(&super::Periodic::learn());
        let plan = Plan::Spin { from, until: from };
        wait.follow(plan, &mut predictor, &mut Spinning::new(), &mut self.stats)
    }
}

impl Predicted<'_> {
    /// Sleeps armed until the plan says to spin, spins without being armed, and sleeps armed for the rest.
    fn follow(
        &self,
        plan: Plan,
        predictor: &mut Predictor,
        spinning: &mut Spinning,
        stats: &mut WaitStats,
    ) -> bool {
        let mut seen = Seen::Woken;
        if let Plan::Spin { from, until } = plan {
            if from > self.now {
                let from = earlier(self.instant(from), self.deadline);
                let before = nanos(cpu_time_of_this_thread());
                let met = stats.sleep(self.state, self.goal, from);
                predictor.slept(self.now, before, nanos(cpu_time_of_this_thread()));
                if met {
                    stats.early += 1;
                    predictor.met(nanos_since(self.epoch), Seen::Woken);
                    return true;
                }
                if self.is_over() {
                    return false;
                }
            }
            let since = nanos_since(self.epoch);
            let until = earlier(self.instant(until), self.deadline);
            let before = stats.spinning;
            let met = stats.spin(self.state, self.goal, until, spinning);
            let now = nanos_since(self.epoch);
            predictor.looked(nanos(stats.spinning - before), now);
            if let Some(blind) = met {
                let blind = nanos(blind);
                predictor.met(now, Seen::Spinning { since, blind });
                return true;
            }
            if self.is_over() {
                return false;
            }
            seen = Seen::Late;
        }
        let met = stats.sleep(self.state, self.goal, self.deadline);
        if met {
            stats.late += u64::from(seen == Seen::Late);
            predictor.met(nanos_since(self.epoch), seen);
        }
        met
    }

    /// Whether the caller waits no longer.
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|at| now() >= at)
    }

    /// `None` is a moment that no clock can hold.
    fn instant(&self, nanos: f64) -> Option<Instant> {
        self.epoch.checked_add(duration(nanos))
    }
}

impl WaitStats {
    /// Sleeps, armed, until `goal` is met or it is `until`. Tells whether it is met; if not, nobody rings any more.
    fn sleep(&mut self, state: &State, goal: Goal, until: Option<Instant>) -> bool {
        // A standing arming is reused, within this call: its target is the same, and no ring of it was consumed
        // unless the goal is met.
        let mut armed = false;
        loop {
            let mut seen = state.look();
            if goal.is_met_by(seen) {
                self.rings += u64::from(armed);
                return true;
            }
            if armed {
                if until.is_some_and(|at| now() >= at) {
                    // What came before the waiter disarmed was rung for this sleep, and nobody will ring again.
                    let met = goal.is_met_by(state.disarm());
                    self.rings += u64::from(met);
                    return met;
                }
                self.spurious += 1;
            } else {
                let Some(word) = state.arm(seen, goal) else { continue };
                seen = word;
                armed = true;
            }
            self.sleeps += 1;
            state.sleep(seen, until);
        }
    }

    /// Looks, without being armed, until `goal` is met or it is `until`. If it is met, tells how long it has not looked
    /// before. Gives up before if the thread may not spin any more.
    fn spin(
        &mut self,
        state: &State,
        goal: Goal,
        until: Option<Instant>,
        spinning: &mut Spinning,
    ) -> Option<Duration> {
        let mut looked = now();
        loop {
            let check = spinning.next_check();
            let met = self.look_until(state, goal, earlier(until, check), &mut looked);
            if met.is_some() {
                return met;
            }
            // The earlier of the two has passed.
            let over = until.is_some_and(|until| check.is_none_or(|check| until <= check));
            if over || !spinning.check() {
                return None;
            }
        }
    }

    /// The same in one go. `looked` becomes the time of the last look that met nothing.
    fn look_until(
        &mut self,
        state: &State,
        goal: Goal,
        until: Option<Instant>,
        looked: &mut Instant,
    ) -> Option<Duration> {
        loop {
            let met = goal.is_met_by(state.look());
            let now = now();
            let blind = now - *looked;
            self.spinning += blind.min(LONGEST_LOOK);
            if met || until.is_some_and(|at| now >= at) {
                self.spin_hits += u64::from(met);
                return met.then_some(blind);
            }
            *looked = now;
            spin_loop();
        }
    }
}

/// `None` is never.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// As near as a `Duration` can be.
fn duration(nanos: f64) -> Duration {
    Duration::try_from_secs_f64((nanos * 1e-9).max(0.0)).unwrap_or(Duration::MAX)
}

fn nanos_since(epoch: Instant) -> f64 {
    nanos(epoch.elapsed())
}
