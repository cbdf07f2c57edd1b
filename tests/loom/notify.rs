//! Notifications: counted exactly, published, and rung for.

use std::rc::Rc;

use loom::thread;

use super::{Page, check, notify_and_leave_nobody_asleep};
use crate::sys::loom::far_from_limit;
use crate::{Closed, Notifier, TryWaitError};

#[test]
fn what_was_written_before_a_notification_is_visible_after_the_wait() {
    check(None, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
            notifier.notify();
            notifier
        });
        let mut total = 0;
        while total < 2 {
            total += waiter.wait().unwrap();
            page.assert_written_up_to(total as usize);
        }
        assert_eq!(total, 2);
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        drop(thread.join());
    });
}

#[test]
fn many_at_once_are_as_many_as_said() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify_many(3);
            notifier.notify_many(0);
            written.write(1);
            notifier.notify_many(2);
        });
        let first = waiter.wait().unwrap();
        page.assert_written(0);
        let rest = if first < 5 { waiter.wait().unwrap() } else { 0 };
        page.assert_written(1);
        assert!(matches!((first, rest), (5, 0) | (3, 2)), "{first} and {rest}");
        assert_eq!(waiter.wait(), Err(Closed));
        thread.join().unwrap();
    });
}

#[test]
fn one_notifier_rings_once_per_sleep() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let thread = thread::spawn(move || {
            for _ in 0..3 {
                notify_and_leave_nobody_asleep(&notifier, 1);
            }
            notifier
        });
        let mut total = 0;
        while total < 3 {
            total += waiter.wait().unwrap();
        }
        let notifier = thread.join().unwrap();
        let state = notifier.state();
        assert!(state.futex().rings() <= state.look().sleep());
        // Awake: no ring.
        let rings = state.futex().rings();
        notifier.notify();
        assert_eq!(state.futex().rings(), rings);
        assert_eq!(waiter.wait(), Ok(1));
    });
}

/// `notifiers` threads notify `each` times.
fn exact_totals(notifiers: usize, each: u32) {
    far_from_limit();
    let (notifier, mut waiter) = Notifier::new();
    let notifier = Rc::new(notifier);
    let pages: Vec<_> = (0..notifiers).map(|_| Rc::new(Page::<1>::new())).collect();
    let threads: Vec<_> = pages
        .iter()
        .map(|page| {
            let (notifier, page) = (Rc::clone(&notifier), Rc::clone(page));
            thread::spawn(move || {
                page.write(0);
                for _ in 0..each {
                    notify_and_leave_nobody_asleep(&notifier, 1);
                }
            })
        })
        .collect();
    let all = u32::try_from(notifiers).unwrap() * each;
    let mut total = 0;
    while total < all {
        total += waiter.wait().unwrap();
    }
    assert_eq!(total, all);
    for page in pages {
        page.assert_written(0);
    }
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn two_notifiers_lose_nothing_and_leave_nobody_asleep() {
    check(3, || exact_totals(2, 2));
}

#[test]
fn three_notifiers_lose_nothing_and_leave_nobody_asleep() {
    check(3, || exact_totals(3, 1));
}
