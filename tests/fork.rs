//! A forked child has copies of everything. What it does with them does not reach its parent.
#![cfg(target_os = "linux")]

#[path = "support/fork.rs"]
mod fork;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use fork::Child;
use rt_notify::{Notifier, Semaphore, TryWaitError, WaitTimeoutError};
use stress::{Watchdog, until};
use threads::Sleeper;

#[test]
fn what_a_child_notifies_stops_and_drops_does_not_reach_the_parents_sleeper() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let taken = Arc::new(AtomicU32::new(0));
    let total = taken.clone();
    let sleeper = Sleeper::spawn_asleep(move || {
        while let Ok(n) = waiter.wait() {
            total.fetch_add(n, Relaxed);
        }
    });
    let mut ours = Some((notifier, stopper));
    let child = Child::fork(|| {
        let (notifier, stopper) = ours.take().expect("given");
        for _ in 0..1000 {
            notifier.notify();
        }
        notifier.flush();
        stopper.stop();
        assert!(notifier.is_closed());
        drop((notifier, stopper));
    });
    child.join();
    sleeper.wait_asleep();
    assert_eq!(taken.load(Relaxed), 0);
    let (notifier, stopper) = ours.take().expect("the child took its own copy");
    assert!(!notifier.is_closed());
    for n in 1..=1000 {
        notifier.notify();
        until("each notification arrives", || taken.load(Relaxed) == n);
    }
    stopper.stop();
    sleeper.join();
    assert_eq!(taken.load(Relaxed), 1000);
}

#[test]
fn what_a_child_waits_for_and_drops_is_its_own_copy() {
    let _watchdog = Watchdog::new();
    let (notifier, waiter) = Notifier::new();
    let mut waiter = Some(waiter);
    let child = Child::fork(|| {
        let mut waiter = waiter.take().expect("given");
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        assert_eq!(waiter.wait_timeout(Duration::from_millis(1)), Err(WaitTimeoutError::Timeout));
        notifier.notify();
        assert_eq!(waiter.wait(), Ok(1));
        drop(waiter);
        assert!(notifier.is_closed());
    });
    child.join();
    let mut waiter = waiter.take().expect("the child took its own copy");
    assert!(!notifier.is_closed());
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    for _ in 0..1000 {
        notifier.notify();
        assert_eq!(waiter.wait(), Ok(1));
    }
}

#[test]
fn what_a_child_posts_stays_in_the_child() {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let _watchdog = Watchdog::new();
    let sleeper = Sleeper::spawn_asleep(|| SEMAPHORE.wait());
    let child = Child::fork(|| {
        SEMAPHORE.post();
        SEMAPHORE.wait();
        SEMAPHORE.post();
    });
    child.join();
    sleeper.wait_asleep();
    assert_eq!(SEMAPHORE.count(), 0);
    SEMAPHORE.post();
    sleeper.join();
}
