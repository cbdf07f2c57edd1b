//! The descriptor: readable whenever a poller must not sleep, and quiet otherwise.
//!
//! Pollers are modelled that are told of a state (`poll(2)`), and ones that are told of a change, once (edge-triggered
//! `epoll`). A lost wake hangs a model; what is readable for no reason fails [`Poller::assert_quiet`].
//!
//! A `PollLoop` that did not disarm, on entering or after a poll, would cost notifiers system calls, and nothing else:
//! `a_loop_that_works_is_not_written_to` counts them.

use std::rc::Rc;
use std::time::Duration;

use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;

use super::{Page, check, join};
use crate::sys::Event;
use crate::sys::loom::{far_from_limit, past, stale_looks};
use crate::word::{ARMED, SLEEP, Word};
use crate::{Closed, Notifier, PollLoop, PollWaiter, TryWaitError, WaitTimeoutError};

#[derive(Clone, Copy)]
enum Poller {
    Level,
    Edge,
}

use Poller::{Edge, Level};

impl Poller {
    fn poll(self, event: &Event, timeout: Option<Duration>) {
        match (self, timeout) {
            (Level, None) => event.sleep(None),
            // Changes nothing, and whatever it returns, the waiter looks.
            (Level, Some(_)) => {}
            (Edge, timeout) => event.sleep_until_changed(timeout),
        }
    }

    /// As any reactor does it: sleeps, and takes what there is.
    fn turn(self, waiter: &mut PollWaiter) -> Result<u32, Closed> {
        self.poll(waiter.event(), None);
        none_if_empty(waiter.try_wait())
    }

    fn turn_of(self, poll_loop: &mut PollLoop<'_>) -> Result<u32, Closed> {
        let event = poll_loop.event();
        poll_loop.poll(None, |timeout| self.poll(event, timeout));
        none_if_empty(poll_loop.try_wait())
    }
}

fn none_if_empty(taken: Result<u32, TryWaitError>) -> Result<u32, Closed> {
    match taken {
        Ok(n) => {
            assert!(n > 0);
            Ok(n)
        }
        Err(TryWaitError::Empty) => Ok(0),
        Err(TryWaitError::Closed) => Err(Closed),
    }
}

/// Nothing is pending and nobody is left who could change that: after one look, which a late ring may have called for,
/// no poller is told anything.
fn assert_quiet(waiter: &mut PollWaiter, expected: TryWaitError) {
    assert_eq!(waiter.try_wait(), Err(expected));
    assert!(!waiter.event().is_readable());
    assert_eq!(waiter.try_wait(), Err(expected));
    assert!(!waiter.event().is_readable());
}

/// Notifies, and asserts that this leaves nobody asleep: if it found the waiter armed and `target` is reached, then as
/// long as that arming stands nobody sleeps in a poller, whichever other notifier was preempted before its ring.
fn notify_and_leave_nobody_asleep(notifier: &Notifier, target: u32) {
    notifier.notify();
    notifier.event().touch();
    let futex = notifier.state().futex();
    let (old, _, _) = futex.last_added();
    // An operation that changes nothing reads the newest value, with which the rest is one step.
    let (old, now) = (Word(old), Word(futex.fetch_or(0, Relaxed)));
    let is_due = old.is_armed() && old.count() + 1 >= target;
    let stands = now.is_armed() && now.sleep() == old.sleep();
    assert!(!is_due || !stands || !notifier.event().has_sleeper(), "left the waiter asleep at {old:?}");
}

fn pair() -> (Notifier, PollWaiter) {
    far_from_limit();
    // A waiter looks at the word after it has read the descriptor.
    stale_looks();
    Notifier::pollable().unwrap()
}

// ---- always armed --------------------------------------------------------------------------------------------------

fn one_notifier(take: impl Fn(&mut PollWaiter) -> Result<u32, Closed> + Send + Sync + 'static) {
    check(4, move || {
        let (notifier, mut waiter) = pair();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notify_and_leave_nobody_asleep(&notifier, 1);
            written.write(1);
            notify_and_leave_nobody_asleep(&notifier, 1);
            notifier
        });
        let mut total = 0;
        while total < 2 {
            total += take(&mut waiter).unwrap();
            page.assert_written_up_to(total as usize);
        }
        assert_eq!(total, 2);
        let notifier = thread.join().unwrap();
        assert!(notifier.event().posts() <= 2);
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

#[test]
fn what_was_written_before_a_notification_is_visible_after_a_wait() {
    one_notifier(PollWaiter::wait);
}

#[test]
fn what_was_written_before_a_notification_is_visible_after_a_try_wait() {
    one_notifier(|waiter| Level.turn(waiter));
}

#[test]
fn what_was_written_before_a_notification_is_visible_after_a_try_wait_on_edges() {
    one_notifier(|waiter| Edge.turn(waiter));
}

fn two_notifiers(take: fn(&mut PollWaiter) -> Result<u32, Closed>) {
    for (preemptions, times) in [(3, [1, 1]), (2, [2, 1])] {
        check(preemptions, move || {
            let (notifier, mut waiter) = pair();
            let notifier = Rc::new(notifier);
            let pages = [(); 2].map(|()| Rc::new(Page::<1>::new()));
            let threads = [0, 1].map(|i| {
                let (notifier, page) = (Rc::clone(&notifier), Rc::clone(&pages[i]));
                thread::spawn(move || {
                    page.write(0);
                    for _ in 0..times[i] {
                        notify_and_leave_nobody_asleep(&notifier, 1);
                    }
                })
            });
            let all = times.iter().sum();
            let mut total = 0;
            while total < all {
                total += take(&mut waiter).unwrap();
            }
            assert_eq!(total, all);
            for page in pages {
                page.assert_written(0);
            }
            join(threads);
            assert_quiet(&mut waiter, TryWaitError::Empty);
        });
    }
}

#[test]
fn two_notifiers_lose_nothing_in_waits() {
    two_notifiers(PollWaiter::wait);
}

#[test]
fn two_notifiers_lose_nothing_in_a_poller() {
    two_notifiers(|waiter| Level.turn(waiter));
}

#[test]
fn two_notifiers_lose_nothing_in_a_poller_of_edges() {
    two_notifiers(|waiter| Edge.turn(waiter));
}

/// The number of a sleep is one modulo 16.
#[test]
fn a_ring_of_16_sleeps_ago_does_not_count_for_this_one() {
    check(3, || {
        let (notifier, mut waiter) = pair();
        // The next arming has number 0, which is what `rung` holds, too.
        notifier.state().preset(Word(SLEEP | ARMED));
        assert_eq!(notifier.state().look().arming().sleep(), 0);
        let notifier = Rc::new(notifier);
        let threads = [(); 2].map(|()| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || notify_and_leave_nobody_asleep(&notifier, 1))
        });
        let mut total = none_if_empty(waiter.try_wait()).unwrap();
        while total < 2 {
            total += Level.turn(&mut waiter).unwrap();
        }
        assert_eq!(total, 2);
        join(threads);
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

/// Its ring comes late, and what it says of `rung` as well.
#[test]
fn a_notifier_that_slept_through_16_polls_loses_no_wake() {
    check(3, || {
        let (notifier, mut waiter) = pair();
        let notifier = Rc::new(notifier);
        let threads = [1, 2].map(|times| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || (0..times).for_each(|_| notifier.notify()))
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = Level.turn_of(&mut poll_loop).unwrap();
        notifier.state().rewind_sleep();
        while total < 3 {
            total += Level.turn_of(&mut poll_loop).unwrap();
        }
        assert_eq!(total, 3);
        join(threads);
    });
}

// ---- wait_for ------------------------------------------------------------------------------------------------------

#[test]
fn a_target_is_reached_and_then_one_notification_rings() {
    check(2, || {
        let (notifier, mut waiter) = pair();
        let notifier = Rc::new(notifier);
        let threads = [1, 2].map(|times| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || {
                for _ in 0..times {
                    // 1, where the waiter has gone on to the poller.
                    notify_and_leave_nobody_asleep(&notifier, 2);
                }
            })
        });
        let mut total = waiter.wait_for(2).unwrap();
        assert!(total >= 2);
        while total < 3 {
            total += Level.turn(&mut waiter).unwrap();
        }
        join(threads);
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

#[test]
fn a_target_raised_after_a_timeout_is_met() {
    check(3, || {
        let (notifier, mut waiter) = pair();
        let notifier = Rc::new(notifier);
        let threads = [(); 2].map(|()| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || notifier.notify())
        });
        let mut total = 0;
        match waiter.wait_for_deadline(1, past()) {
            Ok(n) => total += n,
            Err(error) => assert_eq!(error, WaitTimeoutError::Timeout),
        }
        if total < 2 {
            total += waiter.wait_for(2 - total).unwrap();
        }
        assert_eq!(total, 2);
        join(threads);
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

/// One notification, at any moment: a poller is told of it, although the target was not reached.
fn target_timed_out(poller: Poller, notifiers: usize) {
    check(if notifiers == 1 { None } else { Some(3) }, move || {
        let (notifier, mut waiter) = pair();
        let notifier = Rc::new(notifier);
        let threads: Vec<_> = (0..notifiers)
            .map(|_| {
                let notifier = Rc::clone(&notifier);
                thread::spawn(move || notifier.notify())
            })
            .collect();
        let mut total = 0;
        match waiter.wait_for_deadline(3, past()) {
            Ok(n) => panic!("{n} of 3"),
            Err(error) => assert_eq!(error, WaitTimeoutError::Timeout),
        }
        while total < u32::try_from(notifiers).unwrap() {
            total += poller.turn(&mut waiter).unwrap();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

#[test]
fn what_is_pending_after_a_timeout_is_readable() {
    target_timed_out(Level, 1);
}

#[test]
fn what_is_pending_after_a_timeout_is_an_edge() {
    target_timed_out(Edge, 1);
}

#[test]
fn what_two_leave_pending_after_a_timeout_is_readable() {
    target_timed_out(Level, 2);
}

#[test]
fn a_timeout_takes_nothing() {
    check(None, || {
        let (notifier, mut waiter) = pair();
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
                assert!(waiter.event().is_readable());
                assert_eq!(waiter.try_wait(), Ok(1));
            }
        }
        assert_quiet(&mut waiter, TryWaitError::Empty);
        drop(notifier);
    });
}

// ---- flush ---------------------------------------------------------------------------------------------------------

#[test]
fn a_flush_ends_wait_for_with_what_is_pending() {
    check(4, || {
        let (notifier, mut waiter) = pair();
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
        drop(thread.join());
        // What is left is the end, which is told once.
        assert_quiet(&mut waiter, TryWaitError::Closed);
    });
}

/// A ring for a flush says nothing about the target.
#[test]
fn a_flush_swallows_nobodys_notification() {
    for poller in [Level, Edge] {
        check(3, move || {
            let (notifier, mut waiter) = pair();
            let notifier = Rc::new(notifier);
            let other = Rc::clone(&notifier);
            let flush = thread::spawn(move || other.flush());
            let other = Rc::clone(&notifier);
            let notify = thread::spawn(move || notify_and_leave_nobody_asleep(&other, 1));
            while poller.turn(&mut waiter) == Ok(0) {}
            join([flush, notify]);
            assert_quiet(&mut waiter, TryWaitError::Empty);
            assert_eq!(waiter.wait_for(5), Ok(0));
        });
    }
}

#[test]
fn a_flush_that_a_timeout_missed_ends_the_next_wait_for() {
    check(None, || {
        let (notifier, mut waiter) = pair();
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
        let _notifier = thread.join().unwrap();
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

// ---- the end -------------------------------------------------------------------------------------------------------

fn last_drop(take: impl Fn(&mut PollWaiter) -> Result<u32, Closed> + Send + Sync + 'static) {
    check(4, move || {
        let (notifier, mut waiter) = pair();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
        });
        let mut total = 0;
        while let Ok(n) = take(&mut waiter) {
            total += n;
        }
        assert_eq!(total, 1);
        page.assert_written_up_to(2);
        thread.join().unwrap();
        assert_quiet(&mut waiter, TryWaitError::Closed);
    });
}

#[test]
fn the_last_drop_ends_waits() {
    last_drop(PollWaiter::wait);
}

#[test]
fn the_last_drop_ends_waits_for_more() {
    last_drop(|waiter| waiter.wait_for(3));
}

#[test]
fn the_last_drop_is_told_to_a_poller() {
    last_drop(|waiter| Level.turn(waiter));
}

#[test]
fn the_last_drop_is_told_to_a_poller_of_edges() {
    last_drop(|waiter| Edge.turn(waiter));
}

/// A notifier comes at the same time; afterwards at most one late write of each is left.
fn stop(take: impl Fn(&mut PollWaiter) -> Result<u32, Closed> + Send + Sync + 'static) {
    check(3, move || {
        let (notifier, mut waiter) = pair();
        let stopper = waiter.stopper();
        let stop = thread::spawn(move || stopper.stop());
        let notify = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        let mut total = 0;
        while let Ok(n) = take(&mut waiter) {
            total += n;
        }
        assert!(total <= 1);
        let posts = waiter.event().posts();
        stop.join().unwrap();
        let notifier = notify.join().unwrap();
        assert!(waiter.event().posts() <= posts + 2);
        assert_quiet(&mut waiter, TryWaitError::Closed);
        // Nobody was inside any more.
        let posts = waiter.event().posts();
        notifier.notify();
        notifier.flush();
        assert_eq!(waiter.event().posts(), posts);
    });
}

#[test]
fn a_stop_ends_waits() {
    stop(PollWaiter::wait);
}

#[test]
fn a_stop_is_told_to_a_poller() {
    stop(|waiter| Level.turn(waiter));
}

#[test]
fn a_stop_is_told_to_a_poller_of_edges() {
    stop(|waiter| Edge.turn(waiter));
}

#[test]
fn a_dropped_waiter_is_not_written_to() {
    check(None, || {
        let (notifier, waiter) = pair();
        let thread = thread::spawn(move || drop(waiter));
        if notifier.is_closed() {
            thread.join().unwrap();
            notifier.notify();
            notifier.flush();
            assert_eq!(notifier.event().posts(), 0);
        } else {
            notifier.notify();
            thread.join().unwrap();
        }
    });
}

// ---- PollLoop ------------------------------------------------------------------------------------------------------

fn looping(poller: Poller) {
    check(4, move || {
        let (notifier, mut waiter) = pair();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notify_and_leave_nobody_asleep(&notifier, 1);
            written.write(1);
            notify_and_leave_nobody_asleep(&notifier, 1);
            notifier
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while total < 2 {
            total += poller.turn_of(&mut poll_loop).unwrap();
            page.assert_written_up_to(total as usize);
        }
        assert_eq!(total, 2);
        let _notifier = thread.join().unwrap();
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Empty));
        assert!(!poll_loop.event().is_readable());
        drop(poll_loop);
        assert!(!waiter.event().is_readable());
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

#[test]
fn a_loop_loses_nothing() {
    looping(Level);
}

#[test]
fn a_loop_over_edges_loses_nothing() {
    looping(Edge);
}

fn looping_with_two(poller: Poller) {
    check(3, move || {
        let (notifier, mut waiter) = pair();
        let notifier = Rc::new(notifier);
        let threads = [1, 1].map(|times| {
            let notifier = Rc::clone(&notifier);
            thread::spawn(move || (0..times).for_each(|_| notify_and_leave_nobody_asleep(&notifier, 1)))
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while total < 2 {
            total += poller.turn_of(&mut poll_loop).unwrap();
        }
        assert_eq!(total, 2);
        join(threads);
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Empty));
        assert!(!poll_loop.event().is_readable());
    });
}

#[test]
fn a_loop_loses_nothing_of_two_notifiers() {
    looping_with_two(Level);
}

#[test]
fn a_loop_over_edges_loses_nothing_of_two_notifiers() {
    looping_with_two(Edge);
}

/// The notifier is met before, in and after the loop, which makes one turn or none.
fn entering_and_leaving(poller: Poller, turns: u32) {
    check(4, move || {
        let (notifier, mut waiter) = pair();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier.notify();
            notifier
        });
        let mut total = 0;
        let mut poll_loop = waiter.poll_loop();
        for _ in 0..turns {
            total += poller.turn_of(&mut poll_loop).unwrap();
        }
        drop(poll_loop);
        while total < 2 {
            total += poller.turn(&mut waiter).unwrap();
        }
        let _notifier = thread.join().unwrap();
        assert_quiet(&mut waiter, TryWaitError::Empty);
    });
}

#[test]
fn a_loop_that_is_left_at_once_loses_nothing() {
    entering_and_leaving(Level, 0);
}

#[test]
fn a_loop_over_edges_that_is_left_at_once_loses_nothing() {
    entering_and_leaving(Edge, 0);
}

#[test]
fn a_loop_that_is_left_after_a_turn_loses_nothing() {
    entering_and_leaving(Level, 1);
}

#[test]
fn a_loop_over_edges_that_is_left_after_a_turn_loses_nothing() {
    entering_and_leaving(Edge, 1);
}

#[test]
fn a_loop_that_is_forgotten_loses_nothing() {
    check(4, || {
        let (notifier, mut waiter) = pair();
        let thread = thread::spawn(move || {
            notifier.notify();
            notifier.notify();
            notifier
        });
        std::mem::forget(waiter.poll_loop());
        let mut total = none_if_empty(waiter.try_wait()).unwrap();
        while total < 2 {
            total += Level.turn(&mut waiter).unwrap();
        }
        drop(thread.join());
    });
}

/// Armed for a sleep of which the guard says that it must not be.
#[test]
fn a_guard_that_says_nothing_is_pending_is_rung() {
    check(4, || {
        let (notifier, mut waiter) = pair();
        let thread = thread::spawn(move || {
            notify_and_leave_nobody_asleep(&notifier, 1);
            notify_and_leave_nobody_asleep(&notifier, 1);
            notifier
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while total < 2 {
            let event = poll_loop.event();
            let armed = poll_loop.arm();
            if !armed.pending() {
                event.sleep(None);
            }
            drop(armed);
            total += none_if_empty(poll_loop.try_wait()).unwrap();
        }
        drop(thread.join());
    });
}

fn loop_ends(poller: Poller) {
    check(4, move || {
        let (notifier, mut waiter) = pair();
        let page = Rc::new(Page::<2>::new());
        let written = Rc::clone(&page);
        let thread = thread::spawn(move || {
            written.write(0);
            notifier.notify();
            written.write(1);
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while let Ok(n) = poller.turn_of(&mut poll_loop) {
            total += n;
        }
        assert_eq!(total, 1);
        page.assert_written_up_to(2);
        // Told: the loop sleeps for others, as long as they like.
        poll_loop.poll(None, |timeout| assert_eq!(timeout, None));
        thread.join().unwrap();
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
        assert!(!poll_loop.event().is_readable());
        drop(poll_loop);
        assert!(!waiter.event().is_readable());
        assert_quiet(&mut waiter, TryWaitError::Closed);
    });
}

#[test]
fn the_last_drop_ends_a_loop() {
    loop_ends(Level);
}

#[test]
fn the_last_drop_ends_a_loop_over_edges() {
    loop_ends(Edge);
}

fn stopping_loop(poller: Poller) {
    check(3, move || {
        let (notifier, mut waiter) = pair();
        let stopper = waiter.stopper();
        let stop = thread::spawn(move || stopper.stop());
        let notify = thread::spawn(move || {
            notifier.notify();
            notifier
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while let Ok(n) = poller.turn_of(&mut poll_loop) {
            total += n;
        }
        assert!(total <= 1);
        stop.join().unwrap();
        let notifier = notify.join().unwrap();
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
        assert!(!poll_loop.event().is_readable());
        let posts = poll_loop.event().posts();
        poll_loop.poll(None, |timeout| {
            assert_eq!(timeout, None);
            notifier.notify();
        });
        drop(poll_loop);
        notifier.notify();
        assert_eq!(waiter.event().posts(), posts);
        assert_quiet(&mut waiter, TryWaitError::Closed);
    });
}

#[test]
fn a_stop_ends_a_loop() {
    stopping_loop(Level);
}

#[test]
fn a_stop_ends_a_loop_over_edges() {
    stopping_loop(Edge);
}

/// The stop is met before, in and after the loop.
#[test]
fn a_stop_that_a_loop_was_not_told_of_is_told_to_the_poller_after_it() {
    for poller in [Level, Edge] {
        for takes in [false, true] {
            check(None, move || {
                let (notifier, mut waiter) = pair();
                let stopper = waiter.stopper();
                notifier.notify();
                let stop = thread::spawn(move || stopper.stop());
                let mut poll_loop = waiter.poll_loop();
                let mut total = 0;
                if takes {
                    total += poll_loop.try_wait().unwrap();
                }
                drop(poll_loop);
                while let Ok(n) = poller.turn(&mut waiter) {
                    total += n;
                }
                assert_eq!(total, 1);
                stop.join().unwrap();
                assert_quiet(&mut waiter, TryWaitError::Closed);
            });
        }
    }
}

#[test]
fn a_loop_that_works_is_not_written_to() {
    check(None, || {
        let (notifier, mut waiter) = pair();
        let mut poll_loop = waiter.poll_loop();
        for _ in 0..2 {
            let notifier = notifier.clone();
            let thread = thread::spawn(move || {
                notifier.notify();
                notifier.flush();
                notifier.notify();
            });
            thread.join().unwrap();
            poll_loop.poll(None, |timeout| assert_eq!(timeout, Some(Duration::ZERO)));
            assert_eq!(poll_loop.try_wait(), Ok(2));
            poll_loop.poll(None, |timeout| assert_eq!(timeout, None));
        }
        assert_eq!(poll_loop.event().posts(), 0);
    });
}

#[test]
fn one_notifier_writes_once_per_arming() {
    check(4, || {
        let (notifier, mut waiter) = pair();
        let thread = thread::spawn(move || {
            for _ in 0..3 {
                notifier.notify();
            }
            notifier
        });
        let mut poll_loop = waiter.poll_loop();
        let mut total = 0;
        while total < 3 {
            total += Level.turn_of(&mut poll_loop).unwrap();
        }
        let notifier = thread.join().unwrap();
        // Each arming has a number; the first was before the loop.
        assert!(poll_loop.event().posts() <= notifier.state().look().sleep());
    });
}
