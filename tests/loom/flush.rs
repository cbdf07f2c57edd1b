//! Flushes end `wait_for`, once, and nothing else.

use std::rc::Rc;

use loom::thread;

use super::{Page, check, notify_and_leave_nobody_asleep};
use crate::sys::loom::past;
use crate::{NOTIFY_MANY_MAX, Notifier, TryWaitError, WaitTimeoutError};

#[test]
fn a_flush_ends_wait_for_with_what_is_pending() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
            notifier.flush();
            notifier
        });
        assert_eq!(waiter.wait_for(3), Ok(1));
        page.assert_written_up_to(2);
        // It was consumed.
        assert_eq!(waiter.wait_for_deadline(3, past()), Err(WaitTimeoutError::Timeout));
        let notifier = thread.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
    });
}

#[test]
fn a_flush_while_nobody_waits_outlives_other_waits_and_ends_the_next_wait_for() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        notifier.flush();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        assert_eq!(waiter.wait(), Ok(1));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        assert_eq!(waiter.wait_deadline(past()), Err(WaitTimeoutError::Timeout));
        assert_eq!(waiter.wait_for(5), Ok(0));
        assert_eq!(waiter.wait_for_deadline(5, past()), Err(WaitTimeoutError::Timeout));
        drop(thread.join());
    });
}

#[test]
fn a_flush_that_a_timeout_missed_ends_the_next_wait_for() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            notifier.flush();
            notifier
        });
        match waiter.wait_for_deadline(2, past()) {
            Ok(n) => assert_eq!(n, 0),
            Err(error) => {
                assert_eq!(error, WaitTimeoutError::Timeout);
                assert_eq!(waiter.wait_for(2), Ok(0));
            }
        }
        drop(thread.join());
    });
}

/// A ring for a flush says nothing about the target: notifiers that reach it must not rely on it.
#[test]
fn a_plain_wait_sleeps_through_a_flush_and_is_rung_all_the_same() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let other = Rc::clone(&notifier);
        let thread = thread::spawn(move || {
            other.flush();
            notify_and_leave_nobody_asleep(&other, 1);
        });
        let second = Rc::clone(&notifier);
        let second_thread = thread::spawn(move || notify_and_leave_nobody_asleep(&second, 1));
        let mut total = 0;
        while total < 2 {
            total += waiter.wait().unwrap();
        }
        assert_eq!(total, 2);
        thread.join().unwrap();
        second_thread.join().unwrap();
    });
}

#[test]
fn too_many_at_once_count_the_most_and_flush_with_one_ring() {
    check(None, || {
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<1>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify_many(NOTIFY_MANY_MAX + 1);
            notifier
        });
        assert_eq!(waiter.wait_for(2 * NOTIFY_MANY_MAX), Ok(NOTIFY_MANY_MAX));
        page.assert_written(0);
        let notifier = thread.join().unwrap();
        assert!(notifier.state().futex().rings() <= 1);
    });
}

#[test]
fn too_many_at_once_reach_a_target_and_another_notifier_leaves_nobody_asleep() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let other = Rc::clone(&notifier);
        let thread = thread::spawn(move || other.notify_many(u32::MAX));
        let second = Rc::clone(&notifier);
        let second_thread = thread::spawn(move || notify_and_leave_nobody_asleep(&second, NOTIFY_MANY_MAX));
        let mut total = waiter.wait_for(NOTIFY_MANY_MAX).unwrap();
        thread.join().unwrap();
        second_thread.join().unwrap();
        total += waiter.try_wait().unwrap_or(0);
        assert_eq!(total, NOTIFY_MANY_MAX + 1);
    });
}
