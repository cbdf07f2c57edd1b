//! Counts that reach their limit stay there; nothing wraps, and nobody is left asleep.

#[path = "support/stress.rs"]
mod stress;

use std::thread;

use rt_notify::{NOTIFY_MANY_MAX, Notifier, Semaphore, TryWaitError, Waiter};
use stress::Watchdog;

const LIMIT: u32 = 1 << 23;

/// A pair with `LIMIT - missing` notifications pending.
fn nearly_full(missing: u32) -> (Notifier, Waiter) {
    let (notifier, waiter) = Notifier::new();
    for _ in 1..LIMIT / NOTIFY_MANY_MAX {
        notifier.notify_many(NOTIFY_MANY_MAX);
    }
    notifier.notify_many(NOTIFY_MANY_MAX - missing);
    (notifier, waiter)
}

#[test]
fn the_count_is_exact_up_to_its_limit() {
    let _watchdog = Watchdog::new();
    for missing in [0, 1, 2] {
        let (_notifier, mut waiter) = nearly_full(missing);
        assert_eq!(waiter.wait(), Ok(LIMIT - missing));
    }
}

#[test]
fn at_the_limit_nothing_is_added() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = nearly_full(1);
    for _ in 0..3 {
        notifier.notify();
    }
    notifier.notify_many(NOTIFY_MANY_MAX);
    notifier.notify_many(u32::MAX);
    assert_eq!(waiter.wait(), Ok(LIMIT));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
}

#[test]
fn the_call_that_crosses_the_limit_is_counted_whole() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = nearly_full(1);
    notifier.notify_many(NOTIFY_MANY_MAX);
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(LIMIT - 1 + NOTIFY_MANY_MAX));
}

#[test]
fn after_the_limit_was_taken_counting_goes_on() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = nearly_full(0);
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(LIMIT));
    for _ in 0..3 {
        notifier.notify();
    }
    assert_eq!(waiter.wait(), Ok(3));
}

#[test]
fn flush_and_close_work_at_the_limit() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = nearly_full(0);
    notifier.flush();
    assert_eq!(waiter.wait(), Ok(LIMIT));
    assert_eq!(waiter.wait_for(2), Ok(0));
    for _ in 0..=LIMIT / NOTIFY_MANY_MAX {
        notifier.notify_many(NOTIFY_MANY_MAX);
    }
    drop(notifier);
    assert_eq!(waiter.wait(), Ok(LIMIT));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
}

#[test]
fn wait_for_more_than_the_limit_waits_for_the_limit() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = nearly_full(2);
    let worker = thread::spawn(move || waiter.wait_for(u32::MAX));
    notifier.notify();
    assert!(!worker.is_finished());
    notifier.notify();
    assert_eq!(worker.join().unwrap(), Ok(LIMIT));
}

#[test]
fn notifiers_that_cross_the_limit_together_lose_no_wake() {
    let _watchdog = Watchdog::new();
    for round in 0..20 {
        let (notifier, mut waiter) = nearly_full(5);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        notifier.notify();
                    }
                });
            }
            let taken = if round % 2 == 0 { waiter.wait_for(u32::MAX) } else { waiter.wait() };
            assert!(taken.unwrap() <= LIMIT + 3);
        });
        waiter.try_wait().unwrap_or_default();
        notifier.notify();
        assert_eq!(waiter.wait(), Ok(1));
    }
}

#[test]
fn a_semaphore_holds_max_permits_and_absorbs_the_rest() {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(Semaphore::MAX - 1);
    for _ in 0..3 {
        semaphore.post();
        assert_eq!(semaphore.count(), Semaphore::MAX);
    }
    semaphore.post_many(1);
    semaphore.post_many(u32::MAX);
    assert_eq!(semaphore.count(), Semaphore::MAX);
    semaphore.wait();
    assert_eq!(semaphore.count(), Semaphore::MAX - 1);
    semaphore.post();
    semaphore.post();
    assert_eq!(semaphore.count(), Semaphore::MAX);
    let mut taken = 0;
    while semaphore.try_wait() {
        taken += 1;
    }
    assert_eq!(taken, Semaphore::MAX);
}

#[test]
fn a_semaphore_made_with_too_many_permits_has_max() {
    assert_eq!(Semaphore::new(Semaphore::MAX).count(), Semaphore::MAX);
    assert_eq!(Semaphore::new(Semaphore::MAX + 1).count(), Semaphore::MAX);
    assert_eq!(Semaphore::new(u32::MAX).count(), Semaphore::MAX);
}

#[test]
fn post_many_stops_at_max() {
    let semaphore = Semaphore::new(0);
    semaphore.post_many(Semaphore::MAX - 1);
    assert_eq!(semaphore.count(), Semaphore::MAX - 1);
    semaphore.post_many(2);
    assert_eq!(semaphore.count(), Semaphore::MAX);
}
