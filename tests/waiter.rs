//! The waiter's side: when each wait returns, what it takes, and what it leaves.

#[path = "support/stress.rs"]
mod stress;

use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Closed, Notifier, TryWaitError, Wait, WaitTimeoutError, Waiter};
use stress::Watchdog;

const LONG: Duration = Duration::from_secs(1000);

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(2)
}

/// Every wait with a count, as one signature. `wait_for`s wait for `n`.
type Form = (&'static str, fn(&mut Waiter, n: u32) -> Option<u32>);

const FORMS: [Form; 6] = [
    ("wait", |waiter, _| waiter.wait().ok()),
    ("try_wait", |waiter, _| waiter.try_wait().ok()),
    ("wait_timeout", |waiter, _| waiter.wait_timeout(LONG).ok()),
    ("wait_deadline", |waiter, _| waiter.wait_deadline(Instant::now() + LONG).ok()),
    ("wait_for", |waiter, n| waiter.wait_for(n).ok()),
    ("wait_for_deadline", |waiter, n| waiter.wait_for_deadline(n, Instant::now() + LONG).ok()),
];

#[test]
fn every_wait_takes_all_that_is_pending() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        notifier.notify_many(5);
        assert_eq!(wait(&mut waiter, 3), Some(5), "{name}");
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty), "{name}");
    }
}

#[test]
fn every_wait_can_follow_every_other() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    for (_, first) in FORMS {
        for (_, second) in FORMS {
            for (n, wait) in [(1, first), (2, second)] {
                notifier.notify_many(n);
                assert_eq!(wait(&mut waiter, n), Some(n));
            }
        }
    }
}

#[test]
fn every_wait_hands_out_what_comes_while_it_waits() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        if name == "try_wait" {
            continue;
        }
        let (notifier, mut waiter) = Notifier::new();
        let worker = thread::spawn(move || {
            let mut total = 0;
            while let Some(n) = wait(&mut waiter, 2) {
                total += n;
            }
            total
        });
        for _ in 0..1001 {
            notifier.notify();
        }
        drop(notifier);
        assert_eq!(worker.join().unwrap(), 1001, "{name}");
    }
}

#[test]
fn wait_for_waits_until_so_many_are_pending() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let worker = thread::spawn(move || (waiter.wait_for(100), waiter));
    for _ in 0..99 {
        notifier.notify();
        assert!(!worker.is_finished());
    }
    notifier.notify();
    let (taken, mut waiter) = worker.join().unwrap();
    assert_eq!(taken, Ok(100));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
}

#[test]
fn wait_for_takes_more_if_there_is_more() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(7);
    assert_eq!(waiter.wait_for(3), Ok(7));
}

#[test]
fn wait_for_zero_waits_for_one() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    assert_eq!(waiter.wait_for_deadline(0, soon()), Err(WaitTimeoutError::Timeout));
    notifier.notify();
    assert_eq!(waiter.wait_for(0), Ok(1));
}

#[test]
fn flush_ends_one_wait_for_which_hands_out_fewer() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(3);
    notifier.flush();
    assert_eq!(waiter.wait_for(10), Ok(3));
    notifier.notify_many(2);
    assert_eq!(waiter.wait_for_deadline(10, soon()), Err(WaitTimeoutError::Timeout));
    notifier.flush();
    assert_eq!(waiter.wait_for_deadline(10, soon()), Ok(2));
}

#[test]
fn flush_ends_a_wait_for_with_nothing_pending() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.flush();
    assert_eq!(waiter.wait_for(10), Ok(0));
    let worker = thread::spawn(move || waiter.wait_for(10));
    notifier.flush();
    assert_eq!(worker.join().unwrap(), Ok(0));
}

#[test]
fn flushes_while_nobody_waits_are_one() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.flush();
    notifier.flush();
    assert_eq!(waiter.wait_for(2), Ok(0));
    assert_eq!(waiter.wait_for_deadline(2, soon()), Err(WaitTimeoutError::Timeout));
}

#[test]
fn a_reached_target_consumes_the_flush_too() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(2);
    notifier.flush();
    assert_eq!(waiter.wait_for(2), Ok(2));
    assert_eq!(waiter.wait_for_deadline(2, soon()), Err(WaitTimeoutError::Timeout));
}

#[test]
fn the_other_waits_neither_end_by_a_flush_nor_consume_it() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.flush();
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Timeout));
    assert_eq!(waiter.wait_timeout(Duration::from_millis(2)), Err(WaitTimeoutError::Timeout));
    assert_eq!(waiter.wait_deadline(soon()), Err(WaitTimeoutError::Timeout));
    for (name, wait) in &FORMS[..4] {
        notifier.notify();
        assert_eq!(wait(&mut waiter, 1), Some(1), "{name}");
    }
    assert_eq!(waiter.wait_for(2), Ok(0));
}

#[test]
fn a_timeout_consumes_nothing() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify_many(3);
    for _ in 0..20 {
        assert_eq!(waiter.wait_for_deadline(4, soon()), Err(WaitTimeoutError::Timeout));
    }
    notifier.notify();
    assert_eq!(waiter.wait_for(4), Ok(4));
}

#[test]
fn timeouts_leave_the_waiter_as_it_was() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    for n in 1..=20 {
        assert_eq!(waiter.wait_timeout(Duration::from_micros(100)), Err(WaitTimeoutError::Timeout));
        assert_eq!(waiter.wait_deadline(Instant::now()), Err(WaitTimeoutError::Timeout));
        assert_eq!(waiter.wait_for_deadline(n + 1, Instant::now()), Err(WaitTimeoutError::Timeout));
        notifier.notify_many(n);
        assert_eq!(waiter.wait(), Ok(n));
    }
}

#[test]
fn a_deadline_that_has_passed_still_takes_what_is_pending() {
    let (notifier, mut waiter) = Notifier::new();
    let past = Instant::now();
    notifier.notify_many(2);
    assert_eq!(waiter.wait_for_deadline(2, past), Ok(2));
    notifier.notify();
    assert_eq!(waiter.wait_deadline(past), Ok(1));
    notifier.notify();
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Ok(1));
}

#[test]
fn what_was_written_before_notify_is_visible_after_the_wait() {
    let _watchdog = Watchdog::new();
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    let (notifier, mut waiter) = Notifier::new();
    let written = Arc::new(AtomicU32::new(0));
    let reader = thread::spawn({
        let written = written.clone();
        move || {
            let mut taken = 0;
            while let Ok(n) = waiter.wait() {
                taken += n;
                assert!(written.load(Relaxed) >= taken);
            }
        }
    });
    for n in 1..=10_000 {
        written.store(n, Relaxed);
        notifier.notify();
    }
    drop(notifier);
    reader.join().unwrap();
}

/// Nothing but the trait.
fn drain(mut waiter: impl Wait) -> u32 {
    let stopper = waiter.stopper();
    let mut total = 0;
    assert_eq!(waiter.wait_for_deadline(100, soon()), Err(WaitTimeoutError::Timeout));
    total += waiter.wait().unwrap();
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Timeout));
    assert_eq!(waiter.wait_deadline(soon()), Err(WaitTimeoutError::Timeout));
    stopper.stop();
    assert_eq!(waiter.wait_for(1), Err(Closed));
    total
}

#[test]
fn the_trait_does_what_the_methods_do() {
    let _watchdog = Watchdog::new();
    let (notifier, waiter) = Notifier::new();
    notifier.notify_many(3);
    assert_eq!(drain(waiter), 3);
}
