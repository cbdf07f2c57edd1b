//! The end: what is pending is handed out once, and nothing afterwards.

use std::rc::Rc;

use loom::thread;

use super::{Page, check, join};
use crate::sys::loom::past;
use crate::{Closed, Notifier, TryWaitError, WaitTimeoutError};

#[test]
fn the_last_drop_ends_the_wait_after_what_is_pending() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
        });
        assert_eq!(waiter.wait(), Ok(1));
        page.assert_written(0);
        assert_eq!(waiter.wait(), Err(Closed));
        page.assert_written(1);
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        thread.join().unwrap();
    });
}

#[test]
fn the_drop_of_an_idle_notifier_ends_a_wait_for() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || drop(notifier));
        assert_eq!(waiter.wait_for(2), Err(Closed));
        thread.join().unwrap();
    });
}

#[test]
fn a_stop_ends_a_wait_for_with_what_is_pending() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let page = Rc::new(Page::<1>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            notifier.notify();
            written.write(0);
            stopper.stop();
            // Too late.
            notifier.notify();
            assert!(notifier.is_closed());
            notifier
        });
        let taken = waiter.wait_for(3).unwrap();
        assert!(taken == 1 || taken == 2, "{taken}");
        page.assert_written(0);
        assert_eq!(waiter.wait_for(3), Err(Closed));
        drop(thread.join());
        assert_eq!(waiter.wait(), Err(Closed));
        assert_eq!(waiter.wait_deadline(past()), Err(WaitTimeoutError::Closed));
    });
}

#[test]
fn a_stop_against_a_notifier_hands_out_each_notification_at_most_once() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let stop = thread::spawn(move || stopper.stop());
        let notify = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        let mut total = 0;
        while let Ok(n) = waiter.wait() {
            assert!(n > 0);
            total += n;
        }
        assert!(total <= 1, "{total}");
        stop.join().unwrap();
        let notifier = notify.join().unwrap();
        notifier.notify();
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
    });
}

#[test]
fn a_stopper_does_not_keep_a_pair_open() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let thread = thread::spawn(move || drop(notifier));
        assert_eq!(waiter.wait(), Err(Closed));
        drop(stopper);
        thread.join().unwrap();
    });
}

/// Two go at the same time: one of them closes, for both.
#[test]
fn of_two_notifiers_dropped_at_once_exactly_one_closes() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let threads = [(0, notifier.clone()), (1, notifier)].map(|(line, notifier)| {
            let page = Rc::clone(&page);
            thread::spawn(move || {
                // Not notified of: the close alone publishes it.
                page.write(line);
                drop(notifier);
            })
        });
        assert_eq!(waiter.wait(), Err(Closed));
        page.assert_written_up_to(2);
        join(threads);
        assert_eq!(waiter.state().futex().rings(), 1);
    });
}

#[test]
fn a_clone_keeps_the_pair_open_while_the_original_goes() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let clone = notifier.clone();
        let original = thread::spawn(move || drop(notifier));
        let cloned = thread::spawn(move || {
            let second = clone.clone();
            drop(clone);
            second.notify();
        });
        assert_eq!(waiter.wait(), Ok(1));
        assert_eq!(waiter.wait(), Err(Closed));
        original.join().unwrap();
        cloned.join().unwrap();
    });
}

#[test]
fn a_dropped_waiter_is_seen_as_closed_and_is_not_rung() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            assert_eq!(waiter.wait_deadline(past()), Err(WaitTimeoutError::Timeout));
        });
        let closed = notifier.is_closed();
        if closed {
            notifier.notify();
            assert_eq!(notifier.state().futex().rings(), 0);
        }
        thread.join().unwrap();
        assert!(notifier.is_closed());
    });
}
