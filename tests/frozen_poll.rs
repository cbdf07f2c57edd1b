//! As in `frozen`, of pairs that sleep on a descriptor: a thread that stops in the midst of its call holds up nobody else.
#![cfg(target_os = "linux")]

#[path = "support/freeze.rs"]
mod freeze;
#[path = "support/reader.rs"]
mod reader;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use freeze::{everywhere, freeze};
use reader::Reader;
use rt_notify::{Closed, Notifier, PollLoop, PollWaiter, TryWaitError};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use stress::Watchdog;

/// Sleeps in `poll` until something has come.
fn wait_in(poll_loop: &mut PollLoop<'_>) -> Result<u32, Closed> {
    loop {
        let fd = poll_loop.fd();
        poll_loop.poll(None, |timeout| {
            let timeout = timeout.map(|timeout| timeout.try_into().expect("zero"));
            match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => panic!("{error}"),
            }
        });
        match poll_loop.try_wait() {
            Ok(n) => return Ok(n),
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => return Err(Closed),
        }
    }
}

/// `low`, which counts `counted`, is frozen at many points; another notifier must wake the waiter all the same.
fn notify_wakes(reader: Reader, notifier: Notifier, low: impl Fn(&Notifier) + Sync, counted: u32) {
    let high = notifier.clone();
    reader.is_woken_by(|| high.notify(), || low(&notifier), counted);
    drop((notifier, high));
    reader.thread.join();
}

fn notify_wakes_a_waiter(low: impl Fn(&Notifier) + Sync, counted: u32) {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    notify_wakes(Reader::new(move || waiter.wait()), notifier, low, counted);
}

fn notify_wakes_a_loop(low: impl Fn(&Notifier) + Sync, counted: u32) {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    notify_wakes(Reader::new(move || wait_in(&mut waiter.poll_loop())), notifier, low, counted);
}

#[test]
fn notifier_frozen_in_notify_does_not_swallow_the_write_of_another() {
    notify_wakes_a_waiter(Notifier::notify, 1);
}

#[test]
fn notifier_frozen_in_flush_does_not_swallow_the_write_of_another() {
    notify_wakes_a_waiter(Notifier::flush, 0);
}

#[test]
fn notifier_frozen_in_notify_does_not_swallow_the_wake_of_a_poll_loop_by_another() {
    notify_wakes_a_loop(Notifier::notify, 1);
}

#[test]
fn notifier_frozen_in_notify_many_does_not_swallow_the_wake_of_a_poll_loop_by_another() {
    // Beyond the maximum, so that it flushes too.
    notify_wakes_a_loop(|low| low.notify_many(u32::MAX), rt_notify::NOTIFY_MANY_MAX);
}

/// [`reader::notify_returns`], for a waiter on a descriptor.
fn notify_returns(wait: impl Fn(&mut PollWaiter) -> u32 + Sync) {
    reader::notify_returns(Notifier::pollable().unwrap(), wait);
}

#[test]
fn waiter_frozen_in_wait_does_not_hold_up_those_who_write() {
    notify_returns(|waiter| waiter.wait().unwrap());
}

#[test]
fn waiter_frozen_in_try_wait_does_not_hold_up_those_who_write() {
    notify_returns(|waiter| waiter.try_wait().unwrap_or(0));
}

#[test]
fn waiter_frozen_in_a_poll_loop_does_not_hold_up_notifiers() {
    notify_returns(|waiter| wait_in(&mut waiter.poll_loop()).unwrap());
}

#[test]
fn waiter_frozen_in_its_drop_does_not_hold_up_those_who_write() {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let (notifier, waiter) = Notifier::pollable().unwrap();
        let is_frozen = freeze(
            point,
            || drop(waiter),
            || {
                notifier.notify();
                drop(notifier.clone());
            },
            || {},
        );
        assert!(notifier.is_closed());
        is_frozen
    });
}
