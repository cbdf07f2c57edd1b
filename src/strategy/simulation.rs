//! The predictor against simulated notifications, without threads or a clock: it is fed only what a waiter sees.

use std::time::Duration;

use super::budget::WINDOW;
use super::{Periodic, Plan, Predictor, Seen};

const US: f64 = 1e3;
const MS: f64 = 1e6;
const SECOND: f64 = 1e9;
/// 64 and 1024 frames at 48 kHz.
const SHORT: f64 = 64.0 / 48_000.0 * SECOND;
const LONG: f64 = 1024.0 / 48_000.0 * SECOND;
const MAX_CPU: f64 = 0.05;

/// xorshift64*, by S. Vigna.
struct Random(u64);

impl Random {
    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// With a mean of 1: small mostly, large now and then.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

/// A waiter, and the machine that it runs on.
struct Waiter {
    predictor: Predictor,
    max_cpu: f64,
    random: Random,
    now: f64,
    events: u64,
    hits: u64,
    rings: u64,
    spinning: f64,
    /// Hits and misses in a row at the end.
    streak: u64,
    /// By how much its timers are late.
    overshoot: fn(&mut Random) -> f64,
    /// What a timed sleep costs.
    wake_up_cost: f64,
    /// What a wait costs besides that and its looks.
    besides: f64,
    /// The thread's CPU time, and what of it waiting has cost.
    cpu: f64,
    cost: f64,
    /// What of all that it spent the time passed since does not yet pay for, and until when it is counted.
    unpaid: f64,
    paid_at: f64,
    /// How long the notifier keeps it from its CPU, before the notification and after it.
    preempted: (f64, f64),
}

/// Timers of a quiet machine.
fn hardly(random: &mut Random) -> f64 {
    random.between(2.0 * US, 8.0 * US) + 3.0 * US * random.exponential()
}

/// Those of a virtual one.
fn by_far(random: &mut Random) -> f64 {
    match random.uniform() {
        x if x < 0.003 => random.between(130.0 * US, 400.0 * US),
        x if x < 0.02 => random.between(30.0 * US, 130.0 * US),
        _ => random.between(18.0 * US, 26.0 * US),
    }
}

impl Waiter {
    fn new(config: Periodic) -> Waiter {
        Waiter {
            predictor: Predictor::new(&config),
            max_cpu: config.max_cpu.into(),
            random: Random(0x9E37_79B9_7F4A_7C15),
            now: 0.0,
            events: 0,
            hits: 0,
            rings: 0,
            spinning: 0.0,
            streak: 0,
            overshoot: hardly,
            wake_up_cost: 0.0,
            besides: 0.0,
            cpu: 0.0,
            cost: 0.0,
            unpaid: 0.0,
            paid_at: 0.0,
            preempted: (0.0, 0.1 * US),
        }
    }

    /// A wait, begun as soon as the waiter was ready, for a notification at `event`.
    fn wait(&mut self, event: f64, hint: Option<f64>) {
        self.events += 1;
        let wake_up = self.random.between(20.0 * US, 50.0 * US);
        let began = self.now;
        if event <= self.now {
            self.predictor.met(self.now, Seen::Pending);
            return self.work();
        }
        match self.predictor.plan(self.now, hint) {
            Plan::Block => self.rung(event + wake_up, Seen::Woken),
            Plan::Spin { from, until } => {
                assert!(from <= until && from >= self.now);
                let mut since = from;
                if from > self.now {
                    since += (self.overshoot)(&mut self.random);
                    let before = self.cpu;
                    self.spend(self.wake_up_cost, event.min(since));
                    self.predictor.slept(began, before, self.cpu);
                }
                if event < since {
                    self.rung(event + wake_up, Seen::Woken);
                } else if event <= until.max(since) {
                    let (before, after) = self.preempted;
                    let looked = since.max(event - before);
                    self.spun(looked - since, looked);
                    self.hits += 1;
                    self.streak += 1;
                    self.now = event + after;
                    self.spend(self.besides, self.now);
                    self.predictor.met(self.now, Seen::Spinning { since, blind: self.now - looked });
                } else {
                    self.spun((until - since).max(0.0), until.max(since));
                    self.rung(event + wake_up, Seen::Late);
                }
            }
        }
        self.work();
    }

    fn rung(&mut self, at: f64, seen: Seen) {
        self.rings += 1;
        self.streak = 0;
        self.now = at;
        self.predictor.met(at, seen);
    }

    fn spun(&mut self, time: f64, end: f64) {
        self.spinning += time;
        self.spend(time, end);
        self.predictor.looked(time, end);
    }

    /// From whatever moment on, what was spent since is the share of the time since, and of two windows, at most: one that
    /// was saved before, and one while it slept until its moment came.
    fn spend(&mut self, time: f64, end: f64) {
        self.cpu += time;
        self.cost += time;
        let passed = (end - self.paid_at).max(0.0);
        self.paid_at += passed;
        self.unpaid = (self.unpaid - self.max_cpu * passed).max(0.0) + time;
        // The last wake-up may cost more than was left, and what it cost besides is known only later.
        let most = 2.0 * self.max_cpu * WINDOW + 2.0 * (self.wake_up_cost + self.besides) + US;
        assert!(self.unpaid <= most, "{} µs beyond the budget", (self.unpaid - most) / US);
    }

    /// What the worker does between two waits.
    fn work(&mut self) {
        let time = self.random.between(1.0 * US, 5.0 * US);
        self.now += time;
        self.cpu += time;
    }

    /// `count` notifications with that period, and the jitter of a callback on a quiet machine.
    fn run(&mut self, start: f64, period: f64, count: u64) -> f64 {
        for n in 0..count {
            let event = start + n as f64 * period + 4.0 * US * self.random.exponential();
            self.wait(event, None);
        }
        start + count as f64 * period
    }

    /// Like `run`, until `streak` in a row were caught while spinning. Returns how many notifications that took before.
    fn lock(&mut self, start: f64, period: f64) -> (u64, f64) {
        self.streak = 0;
        let mut at = start;
        for n in 0.. {
            if self.streak >= 10 {
                return (n - 10, at);
            }
            assert!(n < 1000, "never locked at a period of {} µs", period / US);
            at = self.run(at, period, 1);
        }
        unreachable!("the range has no end");
    }

    fn ring_share(&self) -> f64 {
        self.rings as f64 / self.events as f64
    }

    fn forget_counts(&mut self) {
        (self.events, self.hits, self.rings) = (0, 0, 0);
    }
}

#[test]
fn a_learnt_period_is_locked_within_20_notifications() {
    for period in [SHORT, SHORT / 2.0, LONG, LONG * 4.0] {
        let (took, _) = Waiter::new(Periodic::learn()).lock(MS, period);
        assert!(took <= 20, "{took} at {} µs", period / US);
    }
}

#[test]
fn a_known_period_is_locked_within_8_notifications() {
    let known = Periodic::every(Duration::from_secs_f64(SHORT / SECOND));
    let (took, _) = Waiter::new(known).lock(MS, SHORT);
    assert!(took <= 8, "{took}");
}

#[test]
fn a_million_periods_ring_for_less_than_3_in_100() {
    let mut waiter = Waiter::new(Periodic::learn());
    let count = 1_000_000;
    let end = waiter.run(MS, SHORT, count);
    assert_eq!(waiter.events, count);
    assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
    assert!(waiter.spinning <= MAX_CPU * end);
    let period = waiter.predictor.period().unwrap();
    assert!((period - SHORT).abs() <= SHORT / 1000.0, "{period}");
}

#[test]
fn a_machine_with_late_timers_and_dear_wake_ups_rings_for_less_than_3_in_100_within_the_budget() {
    for hinted in [false, true] {
        let mut waiter = Waiter::new(Periodic::learn());
        waiter.overshoot = by_far;
        waiter.wake_up_cost = 20.0 * US;
        waiter.besides = 10.0 * US;
        let count = 100_000;
        for n in 0..count {
            let due = MS + f64::from(n) * SHORT;
            let event = due + by_far(&mut waiter.random);
            waiter.wait(event, hinted.then_some(due));
        }
        assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
        // What a wait cost besides stays unknown if the next one does not begin with a sleep, which is rare.
        let most = 1.01 * MAX_CPU * (f64::from(count) * SHORT + WINDOW);
        assert!(waiter.cost <= most, "{} of {}", waiter.cost, most);
    }
}

/// The server runs on the CPU on which the waiter spins, then its client, which notifies, and then the waiter again.
#[test]
fn a_waiter_that_its_notifier_preempts_keeps_phase_and_period() {
    let mut waiter = Waiter::new(Periodic::learn());
    waiter.overshoot = by_far;
    waiter.wake_up_cost = 30.0 * US;
    let (_, at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for n in 0..10_000 {
        // The callback takes its time.
        waiter.preempted = (5.0 * US, waiter.random.between(0.1 * US, 150.0 * US));
        let event = at + f64::from(n) * SHORT + by_far(&mut waiter.random);
        waiter.wait(event, None);
    }
    let period = waiter.predictor.period().unwrap();
    assert!((period - SHORT).abs() <= SHORT / 500.0, "{}", period / US);
    assert!(waiter.ring_share() <= 0.05, "{}", waiter.ring_share());
}

#[test]
fn drift_is_followed() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for n in 0..100_000 {
        // Up and down by 200 ppm within a minute or so.
        let ppm = 200.0 * (f64::from(n) / 10_000.0).sin();
        at = waiter.run(at, SHORT * (1.0 + ppm * 1e-6), 1);
    }
    assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
}

#[test]
fn period_changes_drop_outs_and_freewheeling_are_relocked_within_50_notifications() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    for period in [LONG, SHORT, SHORT * 1.3, SHORT / 2.0, SHORT] {
        at = waiter.run(at, period, 200);
        let (took, end) = waiter.lock(at + 0.3 * period, period);
        assert!(took <= 50, "{took} at {} µs", period / US);
        at = end;
    }
    // A second without anything, and a phase of its own.
    let (took, at) = waiter.lock(at + SECOND + 0.4 * SHORT, SHORT);
    assert!(took <= 50, "{took} after a drop-out");
    // Freewheeling: as fast as it goes.
    let at = waiter.run(at, 8.0 * US, 100_000).max(waiter.now);
    let (took, _) = waiter.lock(at + SHORT, SHORT);
    assert!(took <= 50, "{took} after freewheeling");
}

#[test]
fn a_callback_that_becomes_heavy_and_light_again_is_relocked_within_50_notifications() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    for shift in [0.6, -0.6, 0.3, 0.45, -0.75] {
        at = waiter.run(at, SHORT, 1000);
        let (took, end) = waiter.lock(at + shift * SHORT, SHORT);
        assert!(took <= 50, "{took} after {shift} periods");
        at = end;
    }
}

/// Timers are late by far, the callback with them, and wake-ups are dear.
#[test]
fn on_a_noisy_machine_changes_are_relocked_within_10_notifications_mostly_and_50_always() {
    let spells = [(SHORT, 0.02), (SHORT, 0.6), (SHORT, 0.02), (LONG, 0.02), (SHORT, 0.02)];
    let mut took = [const { Vec::new() }; 5];
    for seed in 1..=300 {
        let mut waiter = Waiter::new(Periodic::learn());
        waiter.random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed * 7919));
        waiter.overshoot = by_far;
        waiter.wake_up_cost = 20.0 * US;
        let mut cycle = MS;
        for ((period, takes), took) in spells.into_iter().zip(&mut took) {
            waiter.streak = 0;
            let mut before = None;
            for n in 0..if period == LONG { 80 } else { 1200 } {
                let event = cycle + takes * period + by_far(&mut waiter.random);
                waiter.wait(event, None);
                cycle += period;
                if waiter.streak == 10 {
                    before = before.or(Some(n - 9));
                }
            }
            took.push(before.expect("locked"));
        }
    }
    for took in &mut took {
        took.sort_unstable();
        assert!(took[took.len() / 2] <= 10 && *took.last().unwrap() <= 50, "{took:?}");
    }
}

/// The audio server announces its cycles, not when the callback is done.
#[test]
fn the_same_is_relocked_within_50_notifications_if_the_cycles_are_announced() {
    for (overshoot, period) in [(hardly as fn(&mut Random) -> f64, SHORT), (by_far, SHORT), (hardly, LONG)] {
        let mut waiter = Waiter::new(Periodic::learn());
        waiter.overshoot = overshoot;
        let mut cycle = MS;
        for takes in [0.02, 0.6, 0.02, 0.3, 0.75, 0.02] {
            waiter.streak = 0;
            let mut took = None;
            for n in 0..1000 {
                let event = cycle + takes * period + 4.0 * US * waiter.random.exponential();
                waiter.wait(event, Some(cycle));
                cycle += period;
                if waiter.streak == 10 {
                    took = took.or(Some(n - 9));
                }
            }
            assert!(took.is_some_and(|took| took <= 50), "{took:?} at {takes} of the period");
        }
    }
}

#[test]
fn several_notifications_at_once_do_not_break_the_lock() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for n in 0..10_000 {
        let event = at + 4.0 * US * waiter.random.exponential();
        for another in 0..=n % 5 {
            waiter.wait(event + 0.1 * US * f64::from(another), None);
        }
        at += SHORT;
    }
    // The last of them may come once it waits for the next period.
    assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
}

#[test]
fn missed_periods_do_not_break_the_lock() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for _ in 0..1000 {
        at = waiter.run(at, SHORT, 99);
        at += 2.0 * SHORT; // an xrun
    }
    assert!(waiter.ring_share() <= 0.04, "{}", waiter.ring_share());
}

#[test]
fn every_third_period_is_a_period() {
    let mut waiter = Waiter::new(Periodic::every(Duration::from_secs_f64(SHORT / SECOND)));
    let (took, at) = waiter.lock(MS, 3.0 * SHORT);
    assert!(took <= 50, "{took}");
    waiter.forget_counts();
    waiter.run(at, 3.0 * SHORT, 10_000);
    assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
}

#[test]
fn aperiodic_notifications_cost_what_blocking_costs() {
    let mut waiter = Waiter::new(Periodic::learn());
    let mut at = MS;
    for _ in 0..100_000 {
        at += SHORT * waiter.random.exponential();
        waiter.wait(at, None);
    }
    // Hardly anything but chance agreement is spent on.
    assert!(waiter.spinning <= 0.02 * at, "{}", waiter.spinning / at);
}

/// The audio server's own estimate follows its cycles with an error.
#[test]
fn announcements_that_are_worse_than_what_is_learnt_are_not_followed() {
    let mut shares = [0.0; 2];
    for (announced, share) in [false, true].into_iter().zip(&mut shares) {
        let mut waiter = Waiter::new(Periodic::learn());
        let mut cycle = MS;
        for _ in 0..50_000 {
            let event = cycle + 20.0 * US + 4.0 * US * waiter.random.exponential();
            let wrong = waiter.random.between(-100.0, 100.0) * US;
            waiter.wait(event, announced.then_some(cycle + wrong));
            cycle += SHORT;
        }
        *share = waiter.ring_share();
    }
    let [learnt, announced] = shares;
    assert!(announced <= learnt + 0.005, "{announced} announced, {learnt} learnt");
}

#[test]
fn an_announced_moment_is_met_at_once_even_without_a_period() {
    let mut waiter = Waiter::new(Periodic::learn());
    let mut at = MS;
    for _ in 0..10_000 {
        // Nothing to learn from: each interval is another.
        at += waiter.random.between(SHORT, 3.0 * SHORT);
        let event = at + 30.0 * US + 4.0 * US * waiter.random.exponential();
        waiter.wait(event, Some(at));
    }
    assert!(waiter.ring_share() <= 0.05, "{}", waiter.ring_share());
}

#[test]
fn an_announced_moment_is_met_though_other_notifications_come_between() {
    let mut waiter = Waiter::new(Periodic::learn());
    let mut at = MS;
    for n in 0..10_000 {
        at += SHORT;
        if n % 5 == 0 {
            let other = at - waiter.random.between(0.3, 0.9) * SHORT;
            waiter.wait(other, Some(at));
        }
        let event = at + 30.0 * US + 4.0 * US * waiter.random.exponential();
        waiter.wait(event, Some(at));
    }
    // The others ring, and one of them now and then comes where the announced one is looked for.
    assert!(waiter.ring_share() <= 0.2 + 0.05, "{}", waiter.ring_share());
}

#[test]
fn notifications_out_of_turn_do_not_break_the_lock() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    at = waiter.run(at, SHORT, 1000);
    waiter.forget_counts();
    let rounds = 2000;
    for _ in 0..rounds {
        at = waiter.run(at, SHORT, 10);
        // Such as one of another thread, anywhere in the period.
        let stray = at - waiter.random.uniform() * SHORT;
        waiter.wait(stray, None);
    }
    assert_eq!(waiter.events, rounds * 11);
    // One in 11 is out of turn and rings, and may cost its neighbour.
    assert!(waiter.ring_share() <= 0.2, "{}", waiter.ring_share());
}

/// Wake-ups take longer than the margin is wide: were they taken for the notifications' own times, each would be
/// expected too late, and come "early", for ever.
#[test]
fn a_margin_below_the_time_of_a_wake_up_is_enough() {
    let margin = Duration::from_micros(10)..=Duration::from_micros(16);
    let mut waiter = Waiter::new(Periodic::learn().margin(margin));
    let (took, at) = waiter.lock(MS, SHORT);
    assert!(took <= 100, "{took}");
    waiter.forget_counts();
    waiter.run(at, SHORT, 10_000);
    assert!(waiter.ring_share() <= 0.2, "{}", waiter.ring_share());
}

/// The wake-up is seen after the expected moment, but what it is for came before the waiter was to be awake.
#[test]
fn a_wake_up_before_the_spin_moves_the_phase_ahead_of_it() {
    let margin = Duration::from_micros(10);
    let mut predictor = Predictor::new(&Periodic::every(Duration::from_millis(1)).margin(margin..=margin));
    assert_eq!(predictor.plan(0.0, None), Plan::Block);
    predictor.met(MS, Seen::Woken);
    let Plan::Spin { from: first, .. } = predictor.plan(1.1 * MS, None) else { panic!("locked") };
    predictor.met(first + 30.0 * US, Seen::Woken);
    let Plan::Spin { from: second, .. } = predictor.plan(2.1 * MS, None) else { panic!("still locked") };
    assert!(second < first + MS - 5.0 * US, "{}", second - first);
}

/// It may have come at any time since the look before, also when it was expected.
#[test]
fn a_notification_seen_after_a_blind_time_moves_the_phase_no_more_than_it_must() {
    let from_after = |blind: f64| {
        let mut predictor = Predictor::new(&Periodic::every(Duration::from_millis(1)));
        assert_eq!(predictor.plan(0.0, None), Plan::Block);
        predictor.met(MS, Seen::Woken);
        let Plan::Spin { from, .. } = predictor.plan(1.1 * MS, None) else { panic!("locked") };
        predictor.met(2.0 * MS + 80.0 * US, Seen::Spinning { since: from, blind });
        let Plan::Spin { from, .. } = predictor.plan(2.1 * MS, None) else { panic!("still locked") };
        from
    };
    assert!(from_after(0.0) > from_after(100.0 * US) + 20.0 * US);
    assert!((from_after(80.0 * US) - from_after(100.0 * US)).abs() < US);
}

#[test]
fn a_machine_that_becomes_noisier_is_followed() {
    let mut waiter = Waiter::new(Periodic::learn().max_cpu(0.2));
    let mut at = waiter.run(MS, SHORT, 5000);
    waiter.forget_counts();
    for _ in 0..5000 {
        let event = at + 120.0 * US * waiter.random.uniform();
        waiter.wait(event, None);
        at += SHORT;
    }
    assert!(waiter.ring_share() <= 0.1, "{}", waiter.ring_share());
}

#[test]
fn a_worker_that_is_often_busy_for_longer_than_a_period_keeps_the_lock() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for _ in 0..1000 {
        waiter.now += 1.5 * SHORT * waiter.random.uniform();
        at = waiter.run(at, SHORT, 10);
    }
    assert!(waiter.ring_share() <= 0.15, "{}", waiter.ring_share());
}

#[test]
fn stragglers_do_not_drag_the_phase() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    at = waiter.run(at, SHORT, 2000);
    waiter.forget_counts();
    let rounds = 2000;
    for _ in 0..rounds {
        at = waiter.run(at, SHORT, 9);
        let event = at + waiter.random.between(200.0 * US, 500.0 * US);
        waiter.wait(event, None);
        at += SHORT;
    }
    assert!(waiter.ring_share() <= 0.2, "{}", waiter.ring_share());
}

#[test]
fn half_the_period_in_phase_is_found_out() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    at = waiter.run(at, SHORT, 2000);
    let (took, _) = waiter.lock(at, SHORT / 2.0);
    assert!(took <= 50, "{took}");
}

#[test]
fn an_announcement_that_has_passed_leaves_the_period() {
    let mut waiter = Waiter::new(Periodic::learn());
    let (_, mut at) = waiter.lock(MS, SHORT);
    waiter.forget_counts();
    for _ in 0..10_000 {
        let event = at + 4.0 * US * waiter.random.exponential();
        // The notifier announces only after it has notified, and the waiter is faster.
        waiter.wait(event, Some(at - SHORT));
        at += SHORT;
    }
    assert!(waiter.ring_share() <= 0.03, "{}", waiter.ring_share());
}

#[test]
fn what_was_saved_in_an_idle_hour_is_not_spent_at_once() {
    let wide = Duration::from_micros(100)..=Duration::from_micros(600);
    let mut waiter = Waiter::new(Periodic::learn().margin(wide));
    let idle = 3600.0 * SECOND;
    waiter.run(MS, SHORT, 100);
    let before = waiter.spinning;
    let mut at = idle;
    for _ in 0..750 {
        // Anywhere within the margin, so that it stays wide.
        let event = at + 900.0 * US * waiter.random.uniform();
        waiter.wait(event, None);
        at += SHORT;
    }
    let spent = waiter.spinning - before;
    assert!(spent <= MAX_CPU * (at - idle + WINDOW), "{spent}");
}

#[test]
fn no_sequence_of_times_makes_it_panic_or_spin_beyond_the_budget() {
    for seed in 1..=200 {
        play_havoc(Periodic::learn(), seed);
    }
}

#[test]
fn no_configuration_does_either() {
    let long = [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(100), Duration::MAX];
    for (n, period) in long.into_iter().enumerate() {
        for least in long {
            for most in long {
                for max_cpu in [0.0, 0.05, 1.0] {
                    // Reversed as well, of which the first counts.
                    let margin = std::ops::RangeInclusive::new(least, most);
                    let seed = n as u64 + 1;
                    play_havoc(Periodic::every(period).margin(margin.clone()).max_cpu(max_cpu), seed);
                    play_havoc(Periodic::learn().margin(margin).max_cpu(max_cpu), seed);
                }
            }
        }
    }
}

fn play_havoc(config: Periodic, seed: u64) {
    let mut waiter = Waiter::new(config);
    waiter.random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
    waiter.overshoot = if seed % 2 == 0 { hardly } else { by_far };
    waiter.wake_up_cost = waiter.random.between(0.0, 60.0 * US);
    let mut at = 0.0;
    let mut period = SHORT;
    for _ in 0..5000 {
        at += match waiter.random.uniform() {
            x if x < 0.02 => 0.0,
            x if x < 0.03 => SECOND * waiter.random.exponential(),
            // A suspended machine: days.
            x if x < 0.0305 => 1e6 * SECOND * waiter.random.uniform(),
            x if x < 0.3 => US * waiter.random.exponential(),
            x if x < 0.35 => -US,
            x if x < 0.352 => {
                period = 10f64.powf(waiter.random.between(3.0, 9.0));
                period
            }
            _ => period * waiter.random.between(0.99, 1.01),
        };
        let hint = match waiter.random.uniform() {
            x if x < 0.7 => None,
            x if x < 0.95 => Some(at + MS * waiter.random.between(-5.0, 5.0)),
            // As far as one is heard, and behind.
            _ => Some(at + 10.0 * SECOND * waiter.random.between(-1.0, 1.0)),
        };
        waiter.preempted = match waiter.random.uniform() {
            x if x < 0.9 => (0.0, 0.1 * US),
            _ => (5.0 * US, 300.0 * US * waiter.random.uniform()),
        };
        // `wait` itself asserts the budget.
        waiter.wait(at, hint);
        assert!(waiter.predictor.margin().is_finite());
        assert!(waiter.predictor.period().is_none_or(|period| period.is_finite() && period > 0.0));
    }
}
