//! The notifiers' side: what a call counts, and what it does not.

#[path = "support/stress.rs"]
mod stress;

use std::thread;
use std::time::Instant;

use rt_notify::{NOTIFY_MANY_MAX, Notifier, TryWaitError, WaitTimeoutError, Waiter};
use stress::Watchdog;

#[test]
fn notifications_are_counted_before_the_first_wait() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    for _ in 0..3 {
        notifier.notify();
    }
    assert_eq!(waiter.wait(), Ok(3));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
}

#[test]
fn wait_hands_out_what_came_since_the_last_one() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    for n in 1..=100 {
        for _ in 0..n {
            notifier.notify();
        }
        assert_eq!(waiter.wait(), Ok(n));
    }
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
}

#[test]
fn clones_notify_the_same_waiter() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let clone = notifier.clone();
    let clone_of_clone = clone.clone();
    notifier.notify();
    clone.notify_many(10);
    clone_of_clone.notify_many(100);
    assert_eq!(waiter.wait(), Ok(111));
}

#[test]
fn notify_many_counts_up_to_its_maximum() {
    let (notifier, mut waiter) = Notifier::new();
    for n in [1, 2, 64, NOTIFY_MANY_MAX - 1, NOTIFY_MANY_MAX] {
        notifier.notify_many(n);
        assert_eq!(waiter.try_wait(), Ok(n));
    }
}

#[test]
fn notify_many_of_its_maximum_does_not_flush() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(NOTIFY_MANY_MAX);
    assert_eq!(waiter.wait(), Ok(NOTIFY_MANY_MAX));
    assert!(!is_flushed(&mut waiter));
}

#[test]
fn notify_many_beyond_its_maximum_counts_that_and_flushes() {
    let _watchdog = Watchdog::new();
    for n in [NOTIFY_MANY_MAX + 1, u32::MAX] {
        let (notifier, mut waiter) = Notifier::new();
        notifier.notify_many(n);
        assert_eq!(waiter.wait(), Ok(NOTIFY_MANY_MAX));
        assert!(is_flushed(&mut waiter));
    }
}

#[test]
fn notify_many_beyond_its_maximum_wakes_who_waits_for_more() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let worker = thread::spawn(move || waiter.wait_for(NOTIFY_MANY_MAX + 1));
    notifier.notify_many(NOTIFY_MANY_MAX + 1);
    assert_eq!(worker.join().unwrap(), Ok(NOTIFY_MANY_MAX));
}

#[test]
fn notify_many_of_zero_does_nothing() {
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(0);
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert!(!is_flushed(&mut waiter));
}

#[test]
fn flush_counts_nothing() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.flush();
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    notifier.notify();
    notifier.flush();
    assert_eq!(waiter.wait(), Ok(1));
    assert!(is_flushed(&mut waiter), "`wait` does not consume it");
    assert!(!is_flushed(&mut waiter), "several are one");
}

#[test]
fn notifying_after_the_waiter_is_gone_does_no_harm() {
    let (notifier, waiter) = Notifier::new();
    assert!(!notifier.is_closed());
    drop(waiter);
    for notifier in [notifier.clone(), notifier] {
        assert!(notifier.is_closed());
        notifier.notify();
        notifier.notify_many(u32::MAX);
        notifier.flush();
        assert!(notifier.is_closed());
    }
}

#[test]
fn only_the_drop_of_the_last_notifier_closes() {
    let (notifier, mut waiter) = Notifier::new();
    let clone = notifier.clone();
    drop(notifier);
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert!(!clone.is_closed());
    let clone_of_clone = clone.clone();
    drop(clone);
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    drop(clone_of_clone);
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
}

/// Whether a flush waits for the next `wait_for`, where nothing else does. Consumes it.
fn is_flushed(waiter: &mut Waiter) -> bool {
    match waiter.wait_for_deadline(1, Instant::now()) {
        Ok(n) => {
            assert_eq!(n, 0);
            true
        }
        Err(error) => {
            assert_eq!(error, WaitTimeoutError::Timeout);
            false
        }
    }
}
