//! What notifications and waits cost in system calls: counted by the descriptors themselves, and by strace.
#![cfg(target_os = "linux")]

#[path = "support/child.rs"]
mod child;
#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/strace.rs"]
mod strace;
#[path = "support/stress.rs"]
mod stress;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use descriptors::posts;
use rt_notify::{Notifier, TryWaitError, WaitTimeoutError};
use strace::{section, trace};

const NOTIFICATIONS: u32 = 1000;

/// What a thousand notifications write.
#[derive(Debug, PartialEq)]
struct Writes {
    /// To the worker of a `PollLoop` that is busy.
    busy_loop: u64,
    /// To a `PollWaiter` that nobody drains.
    undrained: u64,
    /// By mio's own waker.
    mio_waker: Option<u64>,
}

const EXPECTED: Writes = Writes {
    busy_loop: 0,
    undrained: 1,
    mio_waker: if cfg!(feature = "mio") { Some(NOTIFICATIONS as u64) } else { None },
};

/// A thousand of each, and what the descriptors hold afterwards.
fn notify_all() -> Writes {
    Writes { busy_loop: notify_busy_loop(), undrained: notify_undrained(), mio_waker: wake_mio() }
}

fn notify_busy_loop() -> u64 {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let (working, begun) = mpsc::channel();
    let (finish, finished) = mpsc::channel::<()>();
    let worker = thread::spawn(move || {
        let mut poll_loop = waiter.poll_loop();
        // A loop that has slept and woken before.
        let fd = poll_loop.fd();
        poll_loop.poll(None, |_| while !descriptors::is_readable(&fd) {});
        assert_eq!(poll_loop.try_wait(), Ok(1));
        working.send(()).unwrap();
        while finished.try_recv() == Err(mpsc::TryRecvError::Empty) {
            std::hint::spin_loop();
        }
        let writes = posts(&poll_loop);
        assert_eq!(poll_loop.try_wait(), Ok(NOTIFICATIONS));
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Empty));
        writes
    });
    notifier.notify();
    begun.recv().unwrap();
    section("busy_loop", || {
        for _ in 0..NOTIFICATIONS {
            notifier.notify();
        }
    });
    drop(finish);
    worker.join().unwrap()
}

fn notify_undrained() -> u64 {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    section("undrained", || {
        for _ in 0..NOTIFICATIONS {
            notifier.notify();
        }
    });
    let writes = posts(&waiter);
    assert_eq!(waiter.try_wait(), Ok(NOTIFICATIONS));
    writes
}

#[cfg(not(feature = "mio"))]
fn wake_mio() -> Option<u64> {
    None
}

#[cfg(feature = "mio")]
fn wake_mio() -> Option<u64> {
    let poll = mio::Poll::new().unwrap();
    let before = descriptors::open();
    let waker = mio::Waker::new(poll.registry(), mio::Token(0)).unwrap();
    let mut new = descriptors::open();
    new.retain(|number, target| !before.contains_key(number) && target.ends_with("[eventfd]"));
    let (&number, _) = new.first_key_value().expect("mio's waker is an eventfd");
    section("mio_waker", || {
        for _ in 0..NOTIFICATIONS {
            waker.wake().unwrap();
        }
    });
    Some(descriptors::eventfd_count(number))
}

#[test]
fn a_thousand_notifications_write_nothing_to_a_busy_loop_and_once_to_a_waiter() {
    child::in_child("a_thousand_notifications_write_nothing_to_a_busy_loop_and_once_to_a_waiter", || {
        let _watchdog = stress::Watchdog::new();
        let writes = notify_all();
        println!("{NOTIFICATIONS} notifications: {writes:?}");
        assert_eq!(writes, EXPECTED);
    });
}

#[test]
fn strace_sees_no_other_system_calls_of_notifiers() {
    let trace = trace("strace_sees_no_other_system_calls_of_notifiers", || {
        assert_eq!(notify_all(), EXPECTED);
    });
    let Some(trace) = trace else { return };
    assert_eq!(trace.calls("busy_loop"), "");
    assert_eq!(trace.calls("undrained"), "1 write");
    if cfg!(feature = "mio") {
        assert_eq!(trace.calls("mio_waker"), "1000 write");
    }
}

#[test]
fn each_short_timeout_is_one_sleep() {
    const TIMES: u32 = 300;
    let timeouts = [("300us", 300), ("999us", 999), ("1500us", 1500)];
    let trace = trace("each_short_timeout_is_one_sleep", || {
        let (_notifier, mut waiter) = Notifier::pollable().unwrap();
        for (name, microseconds) in timeouts {
            let timeout = Duration::from_micros(microseconds);
            section(name, || {
                for _ in 0..TIMES {
                    assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
                }
            });
        }
    });
    let Some(trace) = trace else { return };
    for (name, _) in timeouts {
        // The descriptor is drained before each look at the word.
        assert_eq!(trace.calls(name), "300 ppoll, 600 read", "{name}");
    }
}

#[test]
fn try_wait_is_one_read_and_a_turn_of_a_loop_too() {
    let trace = trace("try_wait_is_one_read_and_a_turn_of_a_loop_too", || {
        let (notifier, mut waiter) = Notifier::pollable().unwrap();
        section("try_wait", || {
            for _ in 0..10 {
                assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
            }
        });
        let mut poll_loop = waiter.poll_loop();
        section("turn", || {
            for _ in 0..10 {
                notifier.notify();
                poll_loop.poll(None, |timeout| assert_eq!(timeout, Some(Duration::ZERO)));
                assert_eq!(poll_loop.try_wait(), Ok(1));
            }
        });
    });
    let Some(trace) = trace else { return };
    assert_eq!(trace.calls("try_wait"), "10 read");
    assert_eq!(trace.calls("turn"), "10 read");
}
