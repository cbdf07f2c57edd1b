//! `mio::event::Source` for `PollWaiter` and `PollLoop`.
#![cfg(all(target_os = "linux", feature = "mio"))]

#[path = "support/programs.rs"]
#[allow(dead_code, reason = "the tests with JACK use the rest")]
mod programs;
#[path = "support/stress.rs"]
mod stress;

use std::thread;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use programs::{EVENTUALLY, Program, example};
use rt_notify::{Notifier, PollWaiter, TryWaitError};
use stress::{GENEROUS, Watchdog, rounds, spawn_notifiers};

const A: Token = Token(1);
const B: Token = Token(2);

fn pair() -> (Notifier, PollWaiter) {
    Notifier::pollable().unwrap()
}

/// The tokens of the events within that time, sorted. None is an error or a hang-up.
fn events(poll: &mut Poll, timeout: Option<Duration>) -> Vec<Token> {
    let mut events = Events::with_capacity(8);
    poll.poll(&mut events, timeout).unwrap();
    let mut tokens = Vec::new();
    for event in &events {
        assert!(event.is_readable() && !event.is_error() && !event.is_read_closed(), "{event:?}");
        tokens.push(event.token());
    }
    tokens.sort();
    tokens
}

fn events_now(poll: &mut Poll) -> Vec<Token> {
    events(poll, Some(Duration::ZERO))
}

#[test]
fn two_waiters_in_one_poll_are_told_apart() {
    let mut poll = Poll::new().unwrap();
    let (notifier_a, mut a) = pair();
    let (notifier_b, mut b) = pair();
    poll.registry().register(&mut a, A, Interest::READABLE).unwrap();
    poll.registry().register(&mut b, B, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut poll), []);
    for _ in 0..10 {
        notifier_a.notify();
        assert_eq!(events_now(&mut poll), [A]);
        notifier_b.notify_many(2);
        assert_eq!(events_now(&mut poll), [B]);
        assert_eq!((a.try_wait(), b.try_wait()), (Ok(1), Ok(2)));
        notifier_b.notify();
        notifier_a.notify();
        assert_eq!(events_now(&mut poll), [A, B]);
        assert_eq!((a.try_wait(), b.try_wait()), (Ok(1), Ok(1)));
        assert_eq!(events_now(&mut poll), []);
    }
}

#[test]
fn registering_again_with_something_pending_is_an_event() {
    let mut poll = Poll::new().unwrap();
    let (notifier, mut waiter) = pair();
    poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
    notifier.notify();
    poll.registry().reregister(&mut waiter, B, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut poll), [B]);
    // Told, but not taken: whoever registers anew is told anew.
    poll.registry().reregister(&mut waiter, A, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut poll), [A]);
    poll.registry().deregister(&mut waiter).unwrap();
    notifier.notify();
    assert_eq!(events_now(&mut poll), []);
    poll.registry().register(&mut waiter, B, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut poll), [B]);
    assert_eq!(waiter.try_wait(), Ok(2));
    assert_eq!(events_now(&mut poll), []);
}

#[test]
fn a_waiter_moves_from_one_poll_to_another() {
    let (mut first, mut second) = (Poll::new().unwrap(), Poll::new().unwrap());
    let (notifier, mut waiter) = pair();
    first.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
    notifier.notify();
    assert_eq!(events_now(&mut first), [A]);
    first.registry().deregister(&mut waiter).unwrap();
    second.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut second), [A]);
    assert_eq!(waiter.try_wait(), Ok(1));
    assert_eq!((events_now(&mut first), events_now(&mut second)), (vec![], vec![]));
}

#[test]
fn a_notifier_dropped_right_after_it_notified_loses_nothing() {
    let _watchdog = Watchdog::new();
    let mut poll = Poll::new().unwrap();
    for _ in 0..rounds(300) {
        let (notifier, mut waiter) = pair();
        poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
        let notifying = thread::spawn(move || {
            notifier.notify();
            drop(notifier);
        });
        let mut total = 0;
        loop {
            assert_eq!(events(&mut poll, Some(GENEROUS)), [A]);
            match waiter.try_wait() {
                Ok(n) => total += n,
                Err(TryWaitError::Empty) => {}
                Err(TryWaitError::Closed) => break,
            }
        }
        assert_eq!(total, 1);
        notifying.join().unwrap();
        poll.registry().deregister(&mut waiter).unwrap();
        assert_eq!(events_now(&mut poll), []);
    }
}

#[test]
fn a_waiter_dropped_while_registered_leaves_the_poll_quiet() {
    let mut poll = Poll::new().unwrap();
    let (notifier, mut waiter) = pair();
    poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
    drop(waiter);
    // The descriptor is still open, and nobody writes to it.
    notifier.notify();
    notifier.flush();
    assert_eq!(events_now(&mut poll), []);
    drop(notifier);
    // Closes it, which removes it from the poll.
    let (_notifier, mut waiter) = pair();
    poll.registry().register(&mut waiter, B, Interest::READABLE).unwrap();
    assert_eq!(events_now(&mut poll), []);
}

#[test]
fn closed_is_one_event_and_then_the_poll_is_quiet() {
    let mut poll = Poll::new().unwrap();
    for stops in [false, true] {
        let (notifier, mut waiter) = pair();
        poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
        notifier.notify();
        let _late = if stops {
            waiter.stopper().stop();
            Some(notifier)
        } else {
            drop(notifier);
            None
        };
        assert_eq!(events_now(&mut poll), [A]);
        assert_eq!(waiter.try_wait(), Ok(1));
        assert_eq!(events_now(&mut poll), [A]);
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert_eq!(events(&mut poll, Some(Duration::from_millis(500))), []);
        poll.registry().deregister(&mut waiter).unwrap();
    }
}

/// A `PollLoop` can be registered itself, or its waiter before it.
#[test]
fn every_notification_arrives_in_a_poll_loop_over_mio() {
    const THREADS: u32 = 3;
    let _watchdog = Watchdog::new();
    for registers_loop in [false, true] {
        let each = rounds(5_000);
        let (notifier, mut waiter) = pair();
        let mut poll = Poll::new().unwrap();
        if !registers_loop {
            poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
        }
        let total = thread::scope(|scope| {
            spawn_notifiers(scope, notifier, THREADS, each, 400);
            let mut poll_loop = waiter.poll_loop();
            if registers_loop {
                poll.registry().register(&mut poll_loop, A, Interest::READABLE).unwrap();
            }
            let mut total = 0;
            loop {
                poll_loop.poll(None, |timeout| events(&mut poll, timeout));
                match poll_loop.try_wait() {
                    Ok(n) => total += n,
                    Err(TryWaitError::Empty) => {}
                    Err(TryWaitError::Closed) => break,
                }
            }
            if registers_loop {
                poll.registry().reregister(&mut poll_loop, B, Interest::READABLE).unwrap();
                poll.registry().deregister(&mut poll_loop).unwrap();
            } else {
                // They are one source.
                poll.registry().deregister(&mut poll_loop).unwrap();
            }
            total
        });
        assert_eq!(total, THREADS * each);
        assert_eq!(events_now(&mut poll), []);
    }
}

/// What `Waker` needs a token and a system call for, next to it in the same poll.
#[test]
fn mios_own_waker_works_beside_it() {
    let mut poll = Poll::new().unwrap();
    let waker = mio::Waker::new(poll.registry(), B).unwrap();
    let (notifier, mut waiter) = pair();
    poll.registry().register(&mut waiter, A, Interest::READABLE).unwrap();
    notifier.notify();
    waker.wake().unwrap();
    assert_eq!(events_now(&mut poll), [A, B]);
    assert_eq!(waiter.try_wait(), Ok(1));
    assert_eq!(events_now(&mut poll), []);
}

#[test]
fn the_example_loses_nothing() {
    let ended = Program::start(&mut example("mio_loop")).end_within(EVENTUALLY);
    ended.assert_code(0);
    let text = &ended.stdout;
    assert!(text.starts_with("100 notifications, ") && text.contains(" 10 lines"), "{text}");
}
