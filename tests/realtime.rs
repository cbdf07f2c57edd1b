//! What is called realtime-safe neither allocates nor frees, in any state of the pair, whichever side goes first.
//!
//! The allocator ends the process if it is called inside `assert_no_alloc`, in release builds too.
#![cfg(target_os = "linux")]

#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::time::{Duration, Instant};

use assert_no_alloc::{AllocDisabler, assert_no_alloc};
use rt_notify::{Closed, NOTIFY_MANY_MAX, Notifier, Periodic, Semaphore, WaitStrategy, Waiter};
use stress::Watchdog;
use threads::Sleeper;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

/// All that a callback may do with a notifier it keeps.
fn use_it(notifier: &Notifier) -> bool {
    assert_no_alloc(|| {
        notifier.notify();
        notifier.notify_many(0);
        notifier.notify_many(NOTIFY_MANY_MAX);
        notifier.notify_many(u32::MAX);
        notifier.flush();
        notifier.expect_next(Instant::now() + Duration::from_millis(1));
        let clone = notifier.clone();
        clone.notify();
        drop(clone);
        notifier.is_closed()
    })
}

fn count(waiter: &mut Waiter) -> u32 {
    let mut total = 0;
    while let Ok(n) = waiter.wait() {
        total += n;
    }
    total
}

/// What [`use_it`] counts.
const USED: u32 = 2 + 2 * NOTIFY_MANY_MAX;

#[test]
fn notifiers_do_not_allocate_while_nobody_waits() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    assert!(!use_it(&notifier));
    assert_eq!(waiter.wait(), Ok(USED));
}

#[test]
fn notifiers_do_not_allocate_while_the_waiter_sleeps() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let sleeper = Sleeper::spawn(move || count(&mut waiter));
    for _ in 0..100 {
        sleeper.wait_asleep();
        assert!(!use_it(&notifier));
    }
    sleeper.wait_asleep();
    assert_no_alloc(|| drop(notifier));
    assert_eq!(sleeper.join(), 100 * USED);
}

#[test]
fn notifiers_do_not_allocate_at_the_limit() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    for _ in 0..1100 {
        assert!(!use_it(&notifier));
    }
    assert!(waiter.wait().unwrap() >= 1 << 23);
}

#[test]
fn notifiers_neither_allocate_nor_free_after_the_waiter_has_gone() {
    let (notifier, waiter) = Notifier::new();
    drop(waiter);
    assert!(use_it(&notifier));
    assert_no_alloc(|| drop(notifier));
}

#[test]
fn the_last_notifier_frees_nothing_whichever_side_goes_first() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    assert_no_alloc(|| drop(notifier));
    assert_eq!(waiter.wait(), Err(Closed));

    let (notifier, waiter) = Notifier::new();
    let clone = notifier.clone();
    assert_no_alloc(|| drop(notifier));
    drop(waiter);
    assert_no_alloc(|| drop(clone));
}

#[test]
fn stoppers_neither_allocate_nor_free() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let last = stopper.clone();
    let sleeper = Sleeper::spawn_asleep(move || count(&mut waiter));
    assert_no_alloc(|| {
        let clone = stopper.clone();
        clone.stop();
        drop(clone);
        stopper.stop();
        drop(stopper);
    });
    assert_eq!(sleeper.join(), 0);
    assert_no_alloc(|| drop(notifier));
    // The block's last handle.
    assert_no_alloc(|| {
        last.stop();
        drop(last);
    });
}

#[test]
fn post_does_not_allocate() {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let _watchdog = Watchdog::new();
    let sleeper = Sleeper::spawn(|| {
        for _ in 0..100 {
            SEMAPHORE.wait();
        }
    });
    for _ in 0..100 {
        sleeper.wait_asleep();
        assert_no_alloc(|| SEMAPHORE.post());
    }
    sleeper.join();
    let full = Semaphore::new(Semaphore::MAX);
    assert_no_alloc(|| {
        SEMAPHORE.post();
        full.post();
        assert_eq!(full.count(), Semaphore::MAX);
    });
}

#[test]
fn waits_do_not_allocate_either() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    assert_no_alloc(|| {
        notifier.notify();
        assert_eq!(waiter.wait(), Ok(1));
        assert!(waiter.try_wait().is_err());
        assert!(waiter.wait_timeout(Duration::from_micros(50)).is_err());
        drop(waiter.stopper());
    });
}

#[test]
fn no_strategy_allocates_once_it_is_set() {
    let _watchdog = Watchdog::new();
    for strategy in [
        WaitStrategy::Spin(Duration::from_micros(20)),
        WaitStrategy::Interval(Duration::from_micros(20)),
        WaitStrategy::Periodic(Periodic::every(Duration::from_millis(1)).max_cpu(1.0)),
    ] {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy);
        // What std allocates for a thread that asks who it is.
        let _ = std::thread::current().id();
        assert_no_alloc(|| {
            for _ in 0..20 {
                notifier.expect_next(Instant::now() + Duration::from_micros(100));
                assert!(waiter.wait_timeout(Duration::from_micros(300)).is_err());
                notifier.notify();
                assert_eq!(waiter.wait(), Ok(1));
            }
            let _ = waiter.stats();
        });
    }
}
