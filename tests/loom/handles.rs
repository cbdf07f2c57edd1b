//! The block that handles share: freed once, after the last touch, by a thread that is not realtime.
//!
//! What all models check, these ask of every order in which handles go. See [`blocks`](super::blocks).

use loom::thread;

use super::check;
use crate::sys::loom::past;
use crate::{Notifier, WaitTimeoutError};

#[test]
fn a_notifier_and_a_waiter_go_at_once() {
    check(None, || {
        let (notifier, waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notifier.notify();
            drop(notifier);
        });
        drop(waiter);
        thread.join().unwrap();
    });
}

/// The waiter arms first, so that the last drop's ring and the waiter's disarming meet too.
#[test]
fn a_notifier_goes_while_its_waiter_times_out_and_goes() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || drop(notifier));
        let waited = waiter.wait_deadline(past());
        assert!(matches!(waited, Err(WaitTimeoutError::Timeout | WaitTimeoutError::Closed)), "{waited:?}");
        drop(waiter);
        thread.join().unwrap();
    });
}

#[test]
fn a_notifier_a_stopper_and_a_waiter_go_at_once() {
    check(4, || {
        let (notifier, waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let notify = thread::spawn(move || {
            notifier.flush();
            drop(notifier);
        });
        let stop = thread::spawn(move || {
            stopper.stop();
            drop(stopper.clone());
        });
        drop(waiter);
        notify.join().unwrap();
        stop.join().unwrap();
    });
}

#[test]
fn a_waiter_and_a_notifier_go_while_another_pair_is_made() {
    check(4, || {
        let (notifier, waiter) = Notifier::new();
        let notify = thread::spawn(move || {
            notifier.notify();
            drop(notifier);
        });
        let other = thread::spawn(|| {
            let (notifier, waiter) = Notifier::new();
            drop(notifier);
            drop(waiter);
        });
        drop(waiter);
        notify.join().unwrap();
        other.join().unwrap();
    });
}

/// Sweeps meet: each takes the list, frees its part and parks the rest again.
#[test]
fn two_waiters_go_at_once_while_their_notifiers_live() {
    check(4, || {
        let (notifier, waiter) = Notifier::new();
        let (second, second_waiter) = Notifier::new();
        let thread = thread::spawn(move || drop(waiter));
        let second_thread = thread::spawn(move || drop(notifier));
        drop(second_waiter);
        thread.join().unwrap();
        second_thread.join().unwrap();
        second.notify();
        assert!(second.is_closed());
    });
}
