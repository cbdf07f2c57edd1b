//! The count at its limit. Models preset it: nobody counts to 2^23 here.

use std::rc::Rc;

use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use loom::thread;

use super::{Page, assert_nobody_sleeps_at, check, join};
use crate::sys::loom::stale_looks;
use crate::word::{LIMIT, SLEEP, Word};
use crate::{Notifier, TryWaitError};

#[test]
fn a_notification_after_the_drain_is_counted() {
    check(None, || {
        stale_looks();
        let (notifier, mut waiter) = Notifier::new();
        notifier.state().preset(Word::counting(LIMIT));
        // Without order of memory: the notifier may know of the drain, and yet see the count of before.
        let drained = Rc::new(AtomicBool::new(false));
        let is_drained = Rc::clone(&drained);
        let thread = thread::spawn(move || {
            let due = is_drained.load(Relaxed);
            notifier.notify();
            (notifier, due)
        });
        let taken = waiter.wait().unwrap();
        drained.store(true, Relaxed);
        let (notifier, due) = thread.join().unwrap();
        match waiter.try_wait() {
            Ok(n) => assert_eq!((taken, n), (LIMIT, 1)),
            Err(error) => {
                assert_eq!((taken, error), (LIMIT, TryWaitError::Empty));
                assert!(!due, "a notification after the drain is lost");
            }
        }
        drop(notifier);
    });
}

#[test]
fn who_sleeps_after_the_drain_is_rung() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        notifier.state().preset(Word::counting(LIMIT));
        let thread = thread::spawn(move || {
            notifier.notify();
            assert_nobody_sleeps_at(&notifier, 1);
            notifier.notify();
            assert_nobody_sleeps_at(&notifier, 1);
        });
        let mut total = 0;
        while let Ok(n) = waiter.wait() {
            total += n;
        }
        assert!((LIMIT..=LIMIT + 2).contains(&total));
        thread.join().unwrap();
    });
}

#[test]
fn a_notification_that_is_not_counted_is_published_all_the_same() {
    check(None, || {
        stale_looks();
        let (notifier, mut waiter) = Notifier::new();
        notifier.state().preset(Word::counting(LIMIT));
        let page = Rc::new((Page::<1>::new(), AtomicBool::new(false)));
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.0.write(0);
            notifier.notify();
            written.1.store(true, Relaxed);
            notifier
        });
        let notified = page.1.load(Relaxed);
        assert_eq!(waiter.wait(), Ok(LIMIT));
        if notified {
            page.0.assert_written(0);
        }
        drop(thread.join());
    });
}

/// One notifier reaches the limit, and may be preempted before its ring; the other finds the count full.
#[test]
fn who_waits_for_the_limit_is_rung_by_those_who_find_it_reached() {
    check(4, || {
        let (notifier, mut waiter) = Notifier::new();
        // The next sleep has number 0, which `rung` held before it.
        notifier.state().preset(Word(Word::counting(LIMIT - 1).0 | SLEEP));
        let notifier = Rc::new(notifier);
        let threads = [0; 2].map(|_| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || {
                notifier.notify();
                assert_nobody_sleeps_at(&notifier, LIMIT);
            })
        });
        // More is the limit.
        let taken = waiter.wait_for(u32::MAX).unwrap();
        assert!((LIMIT..=LIMIT + 1).contains(&taken), "{taken}");
        join(threads);
    });
}

/// A stale look at the count lets several add above the limit. The word has room for them.
#[test]
fn adding_above_the_limit_touches_no_flag() {
    check(4, || {
        stale_looks();
        let (notifier, mut waiter) = Notifier::new();
        notifier.state().preset(Word::counting(LIMIT - 1));
        let notifier = Rc::new(notifier);
        let threads = [0; 2].map(|_| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || notifier.notify_many(crate::NOTIFY_MANY_MAX))
        });
        let mut total = waiter.wait().unwrap();
        join(threads);
        total += waiter.try_wait().unwrap_or(0);
        let most = LIMIT - 1 + 2 * crate::NOTIFY_MANY_MAX;
        assert!(total == most || total == most - crate::NOTIFY_MANY_MAX, "{total}");
        assert!(!notifier.is_closed());
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    });
}
