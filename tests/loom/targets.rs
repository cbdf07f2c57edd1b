//! `wait_for`: rung when the target is reached, and not before.

use std::rc::Rc;

use loom::thread;

use super::{Page, check, notify_and_leave_nobody_asleep};
use crate::sys::loom::{far_from_limit, past};
use crate::{Notifier, WaitTimeoutError};

#[test]
fn one_notifier_reaches_a_target_in_steps_with_one_ring() {
    check(None, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
            notifier.notify_many(2);
            notifier
        });
        assert_eq!(waiter.wait_for(3), Ok(3));
        page.assert_written_up_to(2);
        let notifier = thread.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
    });
}

#[test]
fn two_notifiers_reach_a_target_and_leave_nobody_asleep() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let other = Rc::clone(&notifier);
        let thread = thread::spawn(move || notify_and_leave_nobody_asleep(&other, 2));
        let third = Rc::clone(&notifier);
        let second_thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&third, 2);
            notify_and_leave_nobody_asleep(&third, 2);
        });
        let first = waiter.wait_for(2).unwrap();
        assert!(first == 2 || first == 3, "{first}");
        thread.join().unwrap();
        second_thread.join().unwrap();
        if first == 2 {
            assert_eq!(waiter.try_wait(), Ok(1));
        }
        assert!(notifier.state().futex().rings() <= 2);
    });
}

#[test]
fn a_target_lowered_after_a_timeout_is_met() {
    check(None, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        assert_eq!(waiter.wait_for_deadline(3, past()), Err(WaitTimeoutError::Timeout));
        assert_eq!(waiter.wait(), Ok(1));
        drop(thread.join());
    });
}

#[test]
fn a_target_raised_after_a_timeout_is_met() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let other = Rc::clone(&notifier);
        let thread = thread::spawn(move || {
            other.notify();
            other.notify();
        });
        let second = Rc::clone(&notifier);
        let second_thread = thread::spawn(move || second.notify());
        let mut total = 0;
        match waiter.wait_for_deadline(2, past()) {
            Ok(n) => total += n,
            Err(error) => assert_eq!(error, WaitTimeoutError::Timeout),
        }
        if total < 3 {
            total += waiter.wait_for(3 - total).unwrap();
        }
        assert_eq!(total, 3);
        thread.join().unwrap();
        second_thread.join().unwrap();
    });
}
