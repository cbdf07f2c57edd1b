//! Deadlines against notifications and stops.

use std::rc::Rc;

use loom::thread;

use super::{check, notify_and_leave_nobody_asleep};
use crate::sys::loom::{fire, noon, past, start_clock, strike};
use crate::{Closed, Notifier, TryWaitError, WaitTimeoutError};

/// A notifier that finds the waiter armed rings for it: a wait that was rung for must not say `Timeout`.
#[test]
fn a_timeout_means_that_nobody_rang_and_takes_nothing() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        let waited = waiter.wait_deadline(past());
        let notifier = thread.join().unwrap();
        match waited {
            Ok(n) => assert_eq!(n, 1),
            Err(error) => {
                assert_eq!(error, WaitTimeoutError::Timeout);
                assert_eq!(notifier.state().futex().rings(), 0);
                assert_eq!(waiter.try_wait(), Ok(1));
            }
        }
    });
}

#[test]
fn nobody_rings_after_a_timeout() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        assert_eq!(waiter.wait_deadline(past()), Err(WaitTimeoutError::Timeout));
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        let notifier = thread.join().unwrap();
        assert_eq!(notifier.state().futex().rings(), 0);
        assert_eq!(waiter.wait_for_deadline(2, past()), Err(WaitTimeoutError::Timeout));
        notifier.notify();
        assert_eq!(notifier.state().futex().rings(), 0);
        assert_eq!(waiter.wait_for(2), Ok(2));
    });
}

#[test]
fn a_stop_against_a_timeout_ends_this_wait_or_the_next() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let thread = thread::spawn(move || stopper.stop());
        match waiter.wait_for_deadline(2, past()) {
            Err(WaitTimeoutError::Closed) => {}
            waited => {
                assert_eq!(waited, Err(WaitTimeoutError::Timeout));
                assert_eq!(waiter.wait(), Err(Closed));
            }
        }
        thread.join().unwrap();
        drop(notifier);
    });
}

/// The deadline passes while the waiter sleeps, before, during or after the ring.
#[test]
fn a_deadline_that_strikes_during_a_sleep_loses_nothing() {
    check(4, || {
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
        let waited = waiter.wait_deadline(noon());
        let notifier = thread.join().unwrap();
        clock.join().unwrap();
        match waited {
            Ok(n) => assert_eq!(n, 1),
            Err(error) => {
                assert_eq!(error, WaitTimeoutError::Timeout);
                assert_eq!(notifier.state().futex().rings(), 0);
                assert_eq!(waiter.try_wait(), Ok(1));
            }
        }
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    });
}

#[test]
fn an_interrupted_sleep_goes_on_and_costs_no_second_ring() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let other = Rc::clone(&notifier);
        let thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&other, 2);
            notify_and_leave_nobody_asleep(&other, 2);
        });
        let third = Rc::clone(&notifier);
        let signal = thread::spawn(move || third.state().futex().interrupt());
        assert_eq!(waiter.wait_for(2), Ok(2));
        thread.join().unwrap();
        signal.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
    });
}
