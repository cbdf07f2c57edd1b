//! Waits that are armed at times and at others are not: at each point a notifier may notify, and a stopper stop.

use std::time::Duration;

use loom::thread;

use super::{check, join, notify_and_leave_nobody_asleep};
use crate::sys::loom::{fire, noon, past, start_clock, strike};
use crate::{Closed, Notifier, TryWaitError, WaitStrategy};

/// Sleeps armed, disarms, looks, arms again and sleeps. A wake that is lost anywhere leaves it asleep.
#[test]
fn a_planned_wait_takes_every_notification_whenever_it_comes() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&notifier, 2);
            notify_and_leave_nobody_asleep(&notifier, 2);
            notifier
        });
        assert_eq!(waiter.wait_by_a_plan(2, past()), Ok(2));
        let notifier = thread.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    });
}

/// What comes while the waiter spins must cost the notifier nothing: all of this is for that.
#[test]
fn what_is_met_while_spinning_was_not_rung_for() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        assert_eq!(waiter.wait_by_a_plan(1, past()), Ok(1));
        let notifier = thread.join().unwrap();
        let stats = waiter.stats();
        assert!(stats.spin_hits == 0 || notifier.state().futex().rings() == 0);
        assert_eq!(stats.rings, notifier.state().futex().rings().into());
    });
}

#[test]
fn a_stop_ends_a_planned_wait_whenever_it_comes() {
    check(3, || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let notifying = thread::spawn(move || notifier.notify());
        let stopping = thread::spawn(move || stopper.stop());
        match waiter.wait_by_a_plan(2, past()) {
            Ok(n) => assert_eq!(n, 1),
            Err(closed) => assert_eq!(closed, Closed),
        }
        assert_eq!(waiter.wait_by_a_plan(2, past()), Err(Closed));
        join([notifying, stopping]);
    });
}

/// The moment to wake comes before, during or after the ring.
#[test]
fn a_planned_sleep_that_ends_at_any_moment_loses_nothing() {
    check(3, || {
        start_clock();
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&notifier, 1);
            notifier
        });
        let clock = thread::spawn(|| {
            strike();
            fire();
        });
        assert_eq!(waiter.wait_by_a_plan(1, noon()), Ok(1));
        let notifier = thread.join().unwrap();
        clock.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    });
}

#[test]
fn a_spin_that_is_in_vain_ends_in_an_armed_sleep() {
    check(None, || {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(WaitStrategy::Spin(Duration::ZERO));
        let stopper = waiter.stopper();
        let thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&notifier, 1);
            notifier
        });
        assert_eq!(waiter.wait(), Ok(1));
        let notifier = thread.join().unwrap();
        let stopping = thread::spawn(move || stopper.stop());
        assert_eq!(waiter.wait(), Err(Closed));
        stopping.join().unwrap();
        drop(notifier);
    });
}

/// An interval never arms, and the clock stands: only the close itself can end this sleep.
#[test]
fn a_close_ends_the_sleep_of_an_interval() {
    check(3, || {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(WaitStrategy::Interval(Duration::from_secs(1)));
        let stopper = waiter.stopper();
        let notifying = thread::spawn(move || notifier.notify());
        let stopping = thread::spawn(move || stopper.stop());
        // Two calls at most: the notification, if it was counted before the end was told, and the end.
        while waiter.wait().is_ok() {}
        assert_eq!(waiter.wait(), Err(Closed));
        join([notifying, stopping]);
    });
}

#[test]
fn with_an_interval_nobody_rings() {
    check(3, || {
        start_clock();
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(WaitStrategy::Interval(Duration::from_secs(1)));
        let thread = thread::spawn(move || {
            notifier.notify();
            // After the notification: the clock strikes once, and the waiter looks then.
            strike();
            fire();
            notifier
        });
        assert_eq!(waiter.wait(), Ok(1));
        let notifier = thread.join().unwrap();
        assert_eq!(notifier.state().futex().rings(), 0);
    });
}
