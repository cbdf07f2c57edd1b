//! `PollLoop`: notifiers write only while the loop sleeps.
#![cfg(target_os = "linux")]

#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use descriptors::{Poller, TRIGGERS, is_readable, posts};
use rt_notify::{Closed, Notifier, PollLoop, PollWaiter, TryWaitError, Worker};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use stress::{Watchdog, rounds, spawn_notifiers};
use threads::Sleeper;

/// A timeout that nobody waits for.
const LONG: Option<Duration> = Some(Duration::from_secs(1000));

fn pair() -> (Notifier, PollWaiter) {
    Notifier::pollable().unwrap()
}

/// The timeout that the loop hands on.
fn handed_on(poll_loop: &mut PollLoop<'_>, timeout: Option<Duration>) -> Option<Duration> {
    poll_loop.poll(timeout, |timeout| timeout)
}

#[track_caller]
fn assert_closed_and_quiet(poll_loop: &mut PollLoop<'_>) {
    for timeout in [None, LONG] {
        assert_eq!(handed_on(poll_loop, timeout), timeout);
        assert!(!is_readable(poll_loop));
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
    }
}

// ---- while it works ------------------------------------------------------------------------------------------------

#[test]
fn while_the_loop_works_notifiers_write_nothing() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    for _ in 0..3 {
        for _ in 0..1000 {
            notifier.notify();
            notifier.flush();
        }
        assert_eq!(posts(&poll_loop), 0);
        assert_eq!(handed_on(&mut poll_loop, None), Some(Duration::ZERO));
        assert_eq!(posts(&poll_loop), 0);
        assert_eq!(poll_loop.try_wait(), Ok(1000));
        assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Empty));
    }
}

#[test]
fn what_is_pending_keeps_the_loop_from_sleeping_until_it_is_taken() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    assert_eq!(handed_on(&mut poll_loop, LONG), LONG);
    notifier.notify();
    for timeout in [None, LONG, Some(Duration::ZERO)] {
        assert_eq!(handed_on(&mut poll_loop, timeout), Some(Duration::ZERO));
    }
    assert_eq!(poll_loop.try_wait(), Ok(1));
    for timeout in [None, LONG, Some(Duration::ZERO)] {
        assert_eq!(handed_on(&mut poll_loop, timeout), timeout);
    }
}

#[test]
fn what_was_pending_before_the_loop_is_taken_in_it() {
    let (notifier, mut waiter) = pair();
    notifier.notify_many(3);
    let mut poll_loop = waiter.poll_loop();
    assert_eq!(handed_on(&mut poll_loop, None), Some(Duration::ZERO));
    assert_eq!(poll_loop.try_wait(), Ok(3));
    assert!(!is_readable(&poll_loop));
    assert_eq!(handed_on(&mut poll_loop, None), None);
}

// ---- while it sleeps -----------------------------------------------------------------------------------------------

#[test]
fn a_notification_while_the_loop_polls_is_one_write() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    for _ in 0..3 {
        let fd = poll_loop.fd();
        poll_loop.poll(None, |timeout| {
            assert_eq!(timeout, None);
            for _ in 0..100 {
                notifier.notify();
            }
            assert_eq!(posts(&fd), 1);
            assert!(is_readable(&fd));
        });
        notifier.notify();
        assert_eq!(posts(&fd), 1);
        assert_eq!(poll_loop.try_wait(), Ok(101));
        assert!(!is_readable(&fd));
    }
}

#[test]
fn a_loop_that_sleeps_is_woken_by_notify_stop_and_the_last_drop() {
    let _watchdog = Watchdog::new();
    let wakes: [fn(Notifier, rt_notify::Stopper) -> Option<Notifier>; 3] = [
        |notifier, _| {
            notifier.notify();
            Some(notifier)
        },
        |notifier, stopper| {
            stopper.stop();
            Some(notifier)
        },
        |notifier, _| {
            drop(notifier);
            None
        },
    ];
    let results = wakes.map(|wake| {
        let (notifier, mut waiter) = pair();
        let stopper = waiter.stopper();
        let sleeper = Sleeper::spawn_asleep(move || {
            let mut poll_loop = waiter.poll_loop();
            let fd = poll_loop.fd();
            poll_loop.poll(None, |_| poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], None)).unwrap();
            poll_loop.try_wait()
        });
        let _notifier = wake(notifier, stopper);
        sleeper.join()
    });
    assert_eq!(results, [Ok(1), Err(TryWaitError::Closed), Err(TryWaitError::Closed)]);
}

/// One loop with a poller of each kind; the notifiers pause at random, so that it sleeps now and then.
#[test]
fn every_notification_of_several_threads_arrives() {
    const THREADS: u32 = 3;
    let _watchdog = Watchdog::new();
    for trigger in TRIGGERS {
        let each = rounds(5_000);
        let (notifier, mut waiter) = pair();
        let total = thread::scope(|scope| {
            spawn_notifiers(scope, notifier, THREADS, each, 400);
            let mut poll_loop = waiter.poll_loop();
            let poller = Poller::new(trigger, poll_loop.fd());
            let mut total = 0;
            loop {
                poll_loop.poll(None, |timeout| poller.event(timeout));
                match poll_loop.try_wait() {
                    Ok(n) => total += n,
                    Err(TryWaitError::Empty) => {}
                    Err(TryWaitError::Closed) => break total,
                }
            }
        });
        assert_eq!(total, THREADS * each, "{trigger:?}");
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert!(!is_readable(&waiter));
    }
}

/// The descriptors to poll change while the worker sleeps: the notifier's stays among them.
#[test]
fn a_worker_that_polls_nothing_else_is_woken_and_then_polls_its_new_descriptors() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = pair();
    let (commands, received) = std::sync::mpsc::channel::<Vec<OwnedFd>>();
    let sleeper = Sleeper::spawn_asleep(move || {
        let mut poll_loop = waiter.poll_loop();
        let fd = poll_loop.fd();
        let mut others: Vec<OwnedFd> = Vec::new();
        let mut bytes = 0;
        loop {
            let mut fds = vec![PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            fds.extend(others.iter().map(|other| PollFd::new(other, PollFlags::IN)));
            poll_loop.poll(None, |timeout| {
                let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
                poll(&mut fds, timeout.as_ref()).unwrap()
            });
            let readable: Vec<bool> = fds[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
            for (other, _) in others.iter().zip(readable).filter(|(_, readable)| *readable) {
                bytes += rustix::io::read(other, &mut [0; 16]).unwrap();
            }
            match poll_loop.try_wait() {
                Ok(_) => others = received.try_iter().last().unwrap_or(others),
                Err(TryWaitError::Empty) => {}
                Err(TryWaitError::Closed) => return bytes,
            }
        }
    });
    for n in [1, 3] {
        let (readers, writers): (Vec<_>, Vec<_>) =
            (0..n).map(|_| rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap()).unzip();
        commands.send(readers).unwrap();
        notifier.notify();
        for writer in &writers {
            sleeper.wait_asleep();
            rustix::io::write(writer, b"x").unwrap();
            stress::until("the byte is read", || {
                rustix::io::ioctl_fionread(writer).is_ok_and(|left| left == 0)
            });
        }
        // Before the worker drops the readers; a hang-up would be an event without end.
        commands.send(Vec::new()).unwrap();
        notifier.notify();
        stress::until("the worker has dropped the readers", || {
            writers.iter().all(|writer| {
                let mut fds = [PollFd::new(writer, PollFlags::empty())];
                poll(&mut fds, Some(&Timespec::default())).unwrap();
                fds[0].revents().contains(PollFlags::ERR)
            })
        });
        sleeper.wait_asleep();
    }
    drop(notifier);
    assert_eq!(sleeper.join(), 4);
}

/// A device that is gone gives a hang-up, or an error, each time. The loop turns fast, and looks every time.
#[test]
fn dropping_a_worker_ends_a_loop_whose_other_descriptor_is_broken() {
    let _watchdog = Watchdog::new();
    for broken_reader in [false, true] {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let (broken, event, other) =
            if broken_reader { (reader, PollFlags::HUP, writer) } else { (writer, PollFlags::ERR, reader) };
        drop(other);
        let (notifier, waiter) = pair();
        let (turning, turns) = std::sync::mpsc::sync_channel(1);
        let worker = Worker::builder()
            .spawn(waiter, move |mut waiter| {
                let mut poll_loop = waiter.poll_loop();
                let fd = poll_loop.fd();
                loop {
                    let mut fds = [
                        PollFd::from_borrowed_fd(fd, PollFlags::IN),
                        PollFd::new(&broken, PollFlags::IN | PollFlags::OUT),
                    ];
                    poll_loop.poll(None, |timeout| {
                        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
                        poll(&mut fds, timeout.as_ref()).unwrap()
                    });
                    assert!(fds[1].revents().contains(event));
                    let _ = turning.try_send(());
                    if poll_loop.try_wait() == Err(TryWaitError::Closed) {
                        return;
                    }
                }
            })
            .unwrap();
        for _ in 0..10 {
            turns.recv().unwrap();
        }
        drop(worker);
        assert!(notifier.is_closed());
    }
}

// ---- the end -------------------------------------------------------------------------------------------------------

#[test]
fn closed_is_told_once_and_then_the_timeout_passes_through() {
    for stops in [false, true] {
        for pending in [0, 3] {
            let (notifier, mut waiter) = pair();
            let stopper = waiter.stopper();
            let mut poll_loop = waiter.poll_loop();
            notifier.notify_many(pending);
            let late = if stops {
                stopper.stop();
                Some(notifier)
            } else {
                drop(notifier);
                None
            };
            if pending > 0 {
                assert_eq!(handed_on(&mut poll_loop, None), Some(Duration::ZERO));
                assert_eq!(poll_loop.try_wait(), Ok(pending));
            }
            // Not told yet, whatever the descriptor says.
            assert_eq!(handed_on(&mut poll_loop, None), Some(Duration::ZERO));
            assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
            assert_closed_and_quiet(&mut poll_loop);
            if let Some(notifier) = &late {
                notifier.notify();
                notifier.flush();
            }
            assert_closed_and_quiet(&mut poll_loop);
            drop(poll_loop);
            assert!(!is_readable(&waiter));
            if let Some(notifier) = &late {
                notifier.notify();
            }
            assert!(!is_readable(&waiter));
            assert_eq!(waiter.wait(), Err(Closed));
        }
    }
}

#[test]
fn closed_told_before_the_loop_is_not_pending_in_it() {
    let (notifier, mut waiter) = pair();
    drop(notifier);
    assert_eq!(waiter.wait(), Err(Closed));
    let mut poll_loop = waiter.poll_loop();
    assert!(!poll_loop.arm().pending());
    assert_closed_and_quiet(&mut poll_loop);
}

#[test]
fn a_stop_while_the_loop_is_told_already_is_drained() {
    let (_notifier, mut waiter) = pair();
    let stopper = waiter.stopper();
    let mut poll_loop = waiter.poll_loop();
    stopper.stop();
    assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
    stopper.stop();
    assert!(is_readable(&poll_loop));
    assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
    assert_closed_and_quiet(&mut poll_loop);
}

// ---- leaving -------------------------------------------------------------------------------------------------------

#[test]
fn dropping_the_loop_arms_again() {
    let (notifier, mut waiter) = pair();
    drop(waiter.poll_loop());
    assert!(!is_readable(&waiter));
    notifier.notify();
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(1));
}

#[test]
fn dropping_the_loop_leaves_the_descriptor_readable_if_something_is_pending() {
    let (notifier, mut waiter) = pair();
    let poll_loop = waiter.poll_loop();
    notifier.notify_many(3);
    assert!(!is_readable(&poll_loop));
    drop(poll_loop);
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(3));
    assert!(!is_readable(&waiter));
}

#[test]
fn dropping_the_loop_leaves_the_descriptor_readable_if_the_end_is_not_told() {
    for pending in [0, 3] {
        let (notifier, mut waiter) = pair();
        let mut poll_loop = waiter.poll_loop();
        notifier.notify_many(pending);
        drop(notifier);
        if pending > 0 {
            assert_eq!(poll_loop.try_wait(), Ok(pending));
        }
        drop(poll_loop);
        assert!(is_readable(&waiter));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert!(!is_readable(&waiter));
    }
}

#[test]
fn a_forgotten_loop_is_quiet_until_the_next_try_wait() {
    let (notifier, mut waiter) = pair();
    std::mem::forget(waiter.poll_loop());
    notifier.notify();
    assert!(!is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(1));
    notifier.notify();
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(1));
}

#[test]
fn a_forgotten_loop_does_not_hurt_the_waits() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = pair();
    std::mem::forget(waiter.poll_loop());
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(1));
    std::mem::forget(waiter.poll_loop());
    let sleeper = Sleeper::spawn_asleep(move || waiter.wait());
    notifier.notify();
    assert_eq!(sleeper.join(), Ok(1));
}

#[test]
fn a_poll_that_unwinds_leaves_the_loop_disarmed_and_whole() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        poll_loop.poll(None, |_| -> () { std::panic::resume_unwind(Box::new("from the poller")) });
    }));
    assert!(unwound.is_err());
    for _ in 0..1000 {
        notifier.notify();
    }
    assert_eq!(posts(&poll_loop), 0);
    assert_eq!(poll_loop.try_wait(), Ok(1000));
    assert_eq!(handed_on(&mut poll_loop, None), None);
}

#[test]
fn a_loop_dropped_while_it_unwinds_arms_again() {
    let (notifier, mut waiter) = pair();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let mut poll_loop = waiter.poll_loop();
        poll_loop.poll(None, |_| -> () { std::panic::resume_unwind(Box::new("from the poller")) });
    }));
    assert!(unwound.is_err());
    notifier.notify();
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(1));
}

// ---- arm -----------------------------------------------------------------------------------------------------------

#[test]
fn while_the_guard_lives_a_notification_makes_the_descriptor_readable() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    let fd = poll_loop.fd();
    let armed = poll_loop.arm();
    assert!(!armed.pending());
    notifier.notify();
    assert!(armed.pending());
    assert_eq!(posts(&fd), 1);
    drop(armed);
    notifier.notify();
    assert_eq!(posts(&fd), 1);
    assert_eq!(poll_loop.try_wait(), Ok(2));
    notifier.notify();
    assert_eq!(posts(&fd), 0);
}

#[test]
fn the_guard_does_not_arm_if_something_is_pending() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    let fd = poll_loop.fd();
    notifier.notify();
    let armed = poll_loop.arm();
    assert!(armed.pending());
    notifier.notify();
    assert_eq!(posts(&fd), 0);
    drop(armed);
    assert_eq!(poll_loop.try_wait(), Ok(2));
    drop(notifier);
    assert!(poll_loop.arm().pending(), "the end is not told");
    assert_eq!(poll_loop.try_wait(), Err(TryWaitError::Closed));
    assert!(!poll_loop.arm().pending());
}

#[test]
fn a_forgotten_guard_costs_writes_and_nothing_else() {
    let (notifier, mut waiter) = pair();
    let mut poll_loop = waiter.poll_loop();
    std::mem::forget(poll_loop.arm());
    notifier.notify();
    assert_eq!(posts(&poll_loop), 1);
    assert_eq!(handed_on(&mut poll_loop, None), Some(Duration::ZERO));
    assert_eq!(poll_loop.try_wait(), Ok(1));
    assert_eq!(handed_on(&mut poll_loop, None), None);
    notifier.notify();
    assert_eq!(posts(&poll_loop), 0);
    assert_eq!(poll_loop.try_wait(), Ok(1));
}

#[test]
fn the_loops_descriptor_is_the_waiters() {
    let (_notifier, mut waiter) = pair();
    let number = waiter.as_raw_fd();
    let poll_loop = waiter.poll_loop();
    assert_eq!(poll_loop.as_raw_fd(), number);
    assert_eq!(poll_loop.as_fd().as_raw_fd(), number);
    assert_eq!(poll_loop.fd().as_raw_fd(), number);
}
