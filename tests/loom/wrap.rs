//! SLEEP is a number modulo 16: what comes from 16 sleeps ago looks like now.

use std::rc::Rc;

use loom::thread;

use super::{check, join, notify_and_leave_nobody_asleep};
use crate::Notifier;
use crate::sys::loom::far_from_limit;
use crate::word::{SLEEP, Word};

#[test]
fn a_ring_of_16_sleeps_ago_does_not_count_for_this_one() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        // The next sleep has number 0, which is what `rung` holds, too.
        notifier.state().preset(Word(SLEEP));
        assert_eq!(notifier.state().look().arming().sleep(), 0);
        let notifier = Rc::new(notifier);
        let threads = [0; 2].map(|_| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || notify_and_leave_nobody_asleep(&notifier, 1))
        });
        let mut total = 0;
        while total < 2 {
            total += waiter.wait().unwrap();
        }
        assert_eq!(total, 2);
        join(threads);
    });
}

/// A notifier that stopped in the middle of `notify` for 16 sleeps must do no harm when it goes on.
#[test]
fn a_notifier_that_slept_through_16_sleeps_loses_no_wake() {
    check(4, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let notifier = Rc::new(notifier);
        let late = Rc::clone(&notifier);
        let late_thread = thread::spawn(move || late.notify());
        let other = Rc::clone(&notifier);
        let other_thread = thread::spawn(move || {
            other.notify();
            other.notify();
        });
        let mut total = waiter.wait().unwrap();
        notifier.state().rewind_sleep();
        if total < 3 {
            total += waiter.wait_for(3 - total).unwrap();
        }
        assert_eq!(total, 3);
        late_thread.join().unwrap();
        other_thread.join().unwrap();
    });
}
