//! `Semaphore`: several waiters on one word.

use std::rc::Rc;

use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use loom::thread;

use super::page::Freeable;
use super::{Page, check, join};
use crate::Semaphore;
use crate::sys::loom::{fire, noon, past, stale_looks, start_clock, strike};

/// Posts, and asserts that the sleepers need no other thread to go on for this permit's sake.
fn post_and_wake_somebody(semaphore: &Semaphore) {
    semaphore.post();
    semaphore.futex().touch();
    let (_, slept, unrung) = semaphore.futex().last_added();
    assert!(slept == 0 || unrung < slept, "left all sleepers un-rung");
}

fn assert_idle(semaphore: &Semaphore, permits: u32) {
    assert_eq!((semaphore.count(), semaphore.waiters()), (permits, 0));
}

#[test]
fn what_was_written_before_a_post_is_visible_after_the_wait() {
    check(None, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let page = Rc::new(Page::<2>::new());
        let (poster, written) = (Rc::clone(&semaphore), Rc::clone(&page));
        let thread = thread::spawn(move || {
            written.write(0);
            poster.post();
            written.write(1);
            poster.post();
        });
        for line in 0..2 {
            semaphore.wait();
            page.assert_written(line);
        }
        thread.join().unwrap();
        assert_idle(&semaphore, 0);
    });
}

#[test]
fn two_posters_release_two_waiters() {
    check(3, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let waiters = [0; 2].map(|_| {
            let semaphore = Rc::clone(&semaphore);
            thread::spawn(move || semaphore.wait())
        });
        let poster = Rc::clone(&semaphore);
        let poster = thread::spawn(move || post_and_wake_somebody(&poster));
        post_and_wake_somebody(&semaphore);
        poster.join().unwrap();
        join(waiters);
        assert_idle(&semaphore, 0);
    });
}

#[test]
fn two_posts_in_a_row_release_two_waiters() {
    check(3, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let waiters = [0; 2].map(|_| {
            let semaphore = Rc::clone(&semaphore);
            thread::spawn(move || semaphore.wait())
        });
        post_and_wake_somebody(&semaphore);
        post_and_wake_somebody(&semaphore);
        join(waiters);
        assert_idle(&semaphore, 0);
    });
}

#[test]
fn a_post_of_many_releases_as_many() {
    check(4, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let page = Rc::new(Page::<1>::new());
        let waiters = [0; 2].map(|_| {
            let (semaphore, page) = (Rc::clone(&semaphore), Rc::clone(&page));
            thread::spawn(move || {
                semaphore.wait();
                page.assert_written(0);
            })
        });
        page.write(0);
        semaphore.post_many(3);
        join(waiters);
        assert_idle(&semaphore, 1);
        semaphore.post_many(0);
        assert!(semaphore.try_wait());
        assert!(!semaphore.try_wait());
    });
}

#[test]
fn a_timeout_against_a_post_loses_no_permit() {
    check(None, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let poster = Rc::clone(&semaphore);
        let thread = thread::spawn(move || poster.post());
        let taken = semaphore.wait_deadline(past());
        thread.join().unwrap();
        assert_idle(&semaphore, u32::from(!taken));
    });
}

/// The wake of a post reaches the sleeper whose time is up. If it left without the permit, the other would sleep on.
#[test]
fn a_wake_that_meets_a_timeout_is_not_swallowed() {
    check(3, || {
        start_clock();
        let semaphore = Rc::new(Semaphore::new(0));
        let timed = Rc::clone(&semaphore);
        let timed = thread::spawn(move || timed.wait_deadline(noon()));
        let other = Rc::clone(&semaphore);
        let other = thread::spawn(move || other.wait());
        strike();
        post_and_wake_somebody(&semaphore);
        fire();
        if timed.join().unwrap() {
            semaphore.post();
        }
        other.join().unwrap();
        assert_idle(&semaphore, 0);
    });
}

#[test]
fn two_timeouts_against_two_posts_lose_no_permit() {
    check(4, || {
        let semaphore = Rc::new(Semaphore::new(0));
        let waiters = [0; 2].map(|_| {
            let semaphore = Rc::clone(&semaphore);
            thread::spawn(move || u32::from(!semaphore.wait_deadline(past())))
        });
        semaphore.post();
        semaphore.post();
        let left = waiters.map(|waiter| waiter.join().unwrap()).iter().sum();
        assert_idle(&semaphore, left);
    });
}

#[test]
fn a_post_after_permits_were_taken_at_the_limit_is_counted() {
    check(None, || {
        stale_looks();
        let semaphore = Rc::new(Semaphore::new(Semaphore::MAX));
        // Without order of memory: the poster may know of the permit taken, and yet see the count of before.
        let taken = Rc::new(AtomicBool::new(false));
        let (poster, is_taken) = (Rc::clone(&semaphore), Rc::clone(&taken));
        let thread = thread::spawn(move || {
            let due = is_taken.load(Relaxed);
            poster.post();
            due
        });
        assert!(semaphore.try_wait());
        taken.store(true, Relaxed);
        let due = thread.join().unwrap();
        if due {
            assert_idle(&semaphore, Semaphore::MAX);
        } else {
            assert!(semaphore.count() >= Semaphore::MAX - 1);
        }
    });
}

#[test]
fn a_post_absorbed_at_the_limit_is_published_all_the_same() {
    check(None, || {
        stale_looks();
        let semaphore = Rc::new(Semaphore::new(Semaphore::MAX));
        let page = Rc::new((Page::<1>::new(), AtomicBool::new(false)));
        let (poster, written) = (Rc::clone(&semaphore), Rc::clone(&page));
        let thread = thread::spawn(move || {
            written.0.write(0);
            poster.post();
            written.1.store(true, Relaxed);
        });
        let posted = page.1.load(Relaxed);
        semaphore.wait();
        if posted {
            page.0.assert_written(0);
        }
        thread.join().unwrap();
    });
}

/// The waiter that a post releases may free the semaphore at once.
#[test]
fn a_post_does_not_touch_the_semaphore_once_the_permit_is_added() {
    check(None, || {
        let semaphore = Rc::new(Freeable::new(Semaphore::new(0)));
        let poster = Rc::clone(&semaphore);
        let thread = thread::spawn(move || poster.get().post());
        semaphore.get().wait();
        semaphore.free();
        thread.join().unwrap();
    });
}

#[test]
fn a_waiter_without_a_place_to_register_takes_its_permit_all_the_same() {
    check(4, || {
        let semaphore = Rc::new(Semaphore::with_waiters(Semaphore::MOST_WAITERS));
        let poster = Rc::clone(&semaphore);
        let thread = thread::spawn(move || poster.post());
        semaphore.wait();
        assert!(!semaphore.wait_deadline(past()));
        thread.join().unwrap();
        assert_eq!((semaphore.count(), semaphore.waiters()), (0, Semaphore::MOST_WAITERS));
    });
}
