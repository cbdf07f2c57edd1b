//! A thread that stops in the midst of its call holds up nobody else.
//!
//! What a scheduler does to a low-priority thread is done here by a signal handler: at each instruction where the
//! processor can single-step, at random moments everywhere.
#![cfg(target_os = "linux")]

#[path = "support/freeze.rs"]
mod freeze;
#[path = "support/reader.rs"]
mod reader;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use freeze::{everywhere, freeze};
use reader::Reader;
use rt_notify::{Closed, Notifier, Semaphore, Waiter};
use stress::{Watchdog, until};

const LONG: Duration = Duration::from_secs(1000);

/// [`Reader::is_woken_by`], for two notifiers of a pair.
fn notify_wakes(
    wait: impl Fn(&mut Waiter) -> Result<u32, Closed> + Send + 'static,
    low: impl Fn(&Notifier) + Sync,
    counted: u32,
) {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let high = notifier.clone();
    let reader = Reader::new(move || wait(&mut waiter));
    reader.is_woken_by(|| high.notify(), || low(&notifier), counted);
    drop((notifier, high));
    reader.thread.join();
}

#[test]
fn notifier_frozen_in_notify_does_not_swallow_the_wake_of_another() {
    notify_wakes(Waiter::wait, Notifier::notify, 1);
}

#[test]
fn notifier_frozen_in_notify_does_not_swallow_the_wake_of_a_timed_sleeper() {
    notify_wakes(|waiter| waiter.wait_timeout(LONG).map_err(|_| Closed), Notifier::notify, 1);
}

#[test]
fn notifier_frozen_in_notify_many_does_not_swallow_the_wake_of_another() {
    // Beyond the maximum, so that it flushes too.
    notify_wakes(|waiter| waiter.wait_for(1), |low| low.notify_many(u32::MAX), rt_notify::NOTIFY_MANY_MAX);
}

#[test]
fn notifier_frozen_in_flush_does_not_swallow_the_wake_of_another() {
    notify_wakes(Waiter::wait, Notifier::flush, 0);
}

#[test]
fn notifier_frozen_in_clone_or_drop_does_not_swallow_the_wake_of_another() {
    notify_wakes(Waiter::wait, |low| drop(low.clone()), 0);
}

#[test]
fn thread_frozen_in_post_does_not_swallow_the_wake_of_another() {
    let _watchdog = Watchdog::new();
    let semaphore = Arc::new(Semaphore::new(0));
    let end = Arc::new(AtomicU32::new(0));
    let reader = Reader::new({
        let (semaphore, end) = (semaphore.clone(), end.clone());
        move || {
            semaphore.wait();
            if end.load(Relaxed) == 0 { Ok(1) } else { Err(Closed) }
        }
    });
    reader.is_woken_by(|| semaphore.post(), || semaphore.post(), 1);
    end.store(1, Relaxed);
    semaphore.post();
    reader.thread.join();
}

#[test]
fn notifier_frozen_until_the_sleep_numbers_wrap_loses_nothing() {
    let _watchdog = Watchdog::new();
    for short_sleeps in 14..=17 {
        let (low, mut waiter) = Notifier::new();
        let high = low.clone();
        let short = Arc::new(AtomicU32::new(0));
        let left = short.clone();
        let reader = Reader::new(move || {
            if left.load(Relaxed) == 0 {
                return waiter.wait();
            }
            left.fetch_sub(1, Relaxed);
            Ok(waiter.wait_timeout(Duration::from_nanos(1)).unwrap_or(0))
        });
        let mut posted = 0;
        everywhere(|point| {
            reader.thread.wait_asleep();
            let is_frozen = freeze(
                point,
                || low.notify(),
                || {
                    short.store(short_sleeps, Relaxed);
                    high.notify();
                    until("the reader has slept so often", || short.load(Relaxed) == 0);
                    reader.thread.wait_asleep();
                },
                || {},
            );
            posted += 1 + u32::from(is_frozen);
            until("all is handed out", || reader.total.load(Relaxed) == posted);
            for _ in 0..2 {
                reader.thread.wait_asleep();
                high.notify();
                posted += 1;
                until("the later sleeps end too", || reader.total.load(Relaxed) == posted);
            }
            is_frozen
        });
        drop((low, high));
        reader.thread.join();
    }
}

/// [`reader::notify_returns`], for a waiter on the futex.
fn notify_returns(wait: impl Fn(&mut Waiter) -> u32 + Sync) {
    reader::notify_returns(Notifier::new(), wait);
}

#[test]
fn waiter_frozen_in_wait_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.wait().unwrap());
}

#[test]
fn waiter_frozen_in_try_wait_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.try_wait().unwrap_or(0));
}

#[test]
fn waiter_frozen_in_a_timed_wait_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.wait_timeout(LONG).unwrap());
}

#[test]
fn waiter_frozen_while_it_times_out_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.wait_timeout(Duration::from_nanos(1)).unwrap_or(0));
}

#[test]
fn waiter_frozen_in_wait_for_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.wait_for(2).unwrap());
}

#[test]
fn waiter_frozen_in_wait_for_deadline_does_not_hold_up_notifiers() {
    notify_returns(|waiter| waiter.wait_for_deadline(2, Instant::now() + LONG).unwrap());
}

/// The same for a semaphore, where `wait` takes so many permits.
fn post_returns(wait: impl Fn(&Semaphore) -> u32 + Sync) {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(0);
    everywhere(|point| {
        let posted = Cell::new(0);
        let post = || {
            semaphore.post();
            posted.set(posted.get() + 1);
        };
        let mut taken = 0;
        let is_frozen = freeze(
            point,
            || taken = wait(&semaphore),
            || {
                post();
                post();
            },
            post,
        );
        while semaphore.try_wait() {
            taken += 1;
        }
        assert_eq!(taken, posted.get());
        is_frozen
    });
}

#[test]
fn thread_frozen_in_a_semaphores_wait_does_not_hold_up_posts() {
    post_returns(|semaphore| {
        semaphore.wait();
        1
    });
}

#[test]
fn thread_frozen_while_a_semaphores_wait_times_out_does_not_hold_up_posts() {
    post_returns(|semaphore| u32::from(semaphore.wait_timeout(Duration::from_nanos(1))));
}

#[test]
fn waiter_frozen_in_its_drop_does_not_hold_up_notifiers() {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let (notifier, waiter) = Notifier::new();
        let is_frozen = freeze(
            point,
            || drop(waiter),
            || {
                notifier.notify();
                drop(notifier.clone());
            },
            || {},
        );
        assert!(notifier.is_closed());
        is_frozen
    });
}

#[test]
fn thread_frozen_in_a_constructor_does_not_hold_up_drops() {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        // Something to sweep, and something to leave.
        let (left, waiter) = Notifier::new();
        drop(waiter);
        freeze(point, || drop(Notifier::new()), || drop(left), || {})
    });
}
