//! As in `frozen`, of pairs that end: a thread that stops in the midst of ending a pair does not keep another from ending
//! its waiter's sleep.
#![cfg(target_os = "linux")]

#[path = "support/freeze.rs"]
mod freeze;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::sync::Mutex;

use freeze::{everywhere, freeze};
use rt_notify::{Notifier, Stopper};
use stress::{Watchdog, until};
use threads::Sleeper;

/// Both ends of a pair that are not its waiter's.
type Handles = (Notifier, Stopper);

/// `low` is frozen at many points, each time with a pair of its own, whose waiter sleeps. `high` must end that sleep before
/// `low` goes on.
fn sleep_ends(
    pair: fn() -> (Handles, Sleeper<()>),
    low: impl Fn(&mut Option<Notifier>, &Stopper) + Sync,
    high: impl Fn(&Stopper),
) {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let ((notifier, stopper), waiter) = pair();
        let its_own = Mutex::new((Some(notifier), stopper.clone()));
        let is_frozen = freeze(
            point,
            || {
                let (notifier, stopper) = &mut *its_own.lock().unwrap();
                low(notifier, stopper);
            },
            || {
                high(&stopper);
                until("the wait ends while the other thread is frozen", || waiter.is_finished());
            },
            || {},
        );
        // If it was not frozen, it has ended the wait itself.
        waiter.join();
        is_frozen
    });
}

fn on_a_futex() -> (Handles, Sleeper<()>) {
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || while waiter.wait().is_ok() {});
    ((notifier, stopper), sleeper)
}

fn on_a_descriptor() -> (Handles, Sleeper<()>) {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || while waiter.wait().is_ok() {});
    ((notifier, stopper), sleeper)
}

#[test]
fn thread_frozen_in_stop_does_not_swallow_the_stop_of_another() {
    sleep_ends(on_a_futex, |_, stopper| stopper.stop(), Stopper::stop);
}

#[test]
fn thread_frozen_in_the_last_drop_does_not_swallow_a_stop() {
    sleep_ends(on_a_futex, |notifier, _| drop(notifier.take()), Stopper::stop);
}

#[test]
fn thread_frozen_in_stop_does_not_swallow_the_write_of_another_stop() {
    sleep_ends(on_a_descriptor, |_, stopper| stopper.stop(), Stopper::stop);
}

#[test]
fn thread_frozen_in_the_last_drop_does_not_swallow_the_write_of_a_stop() {
    sleep_ends(on_a_descriptor, |notifier, _| drop(notifier.take()), Stopper::stop);
}
