//! When the descriptor of a `PollWaiter` is readable, to pollers that report states and to those that report changes.
#![cfg(target_os = "linux")]

#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/stress.rs"]
mod stress;

use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use descriptors::{Poller, TRIGGERS, Trigger, is_readable, posts};
use rt_notify::{Notifier, PollWaiter, TryWaitError};
use stress::{GENEROUS, Watchdog, rounds, spawn_notifiers};

/// What a poller that is never told anything waits for.
const IDLE: Duration = Duration::from_secs(1);

fn pair() -> (Notifier, PollWaiter) {
    Notifier::pollable().unwrap()
}

/// A second descriptor of the same thing: a poller that borrows it leaves the waiter free.
fn second(waiter: &PollWaiter) -> std::os::fd::OwnedFd {
    waiter.as_fd().try_clone_to_owned().unwrap()
}

#[test]
fn each_notification_after_a_try_wait_is_an_event() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        assert!(!poller.event_now());
        for _ in 0..100 {
            notifier.notify();
            assert!(poller.event_now(), "{trigger:?}");
            assert_eq!(waiter.try_wait(), Ok(1));
            assert!(!poller.event_now(), "{trigger:?}");
            assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        }
    }
}

#[test]
fn notifications_since_the_last_try_wait_are_one_event_and_counted() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        for _ in 0..5 {
            notifier.notify();
        }
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(5));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        assert!(!poller.event_now());
    }
}

#[test]
fn a_thousand_notifications_between_two_try_waits_are_one_write() {
    let (notifier, mut waiter) = pair();
    for _ in 0..3 {
        for _ in 0..1000 {
            notifier.notify();
        }
        assert_eq!(posts(&waiter), 1);
        assert_eq!(waiter.try_wait(), Ok(1000));
        assert_eq!(posts(&waiter), 0);
    }
}

#[test]
fn an_edge_left_undrained_is_made_good_by_the_next_try_wait() {
    let (notifier, mut waiter) = pair();
    let fd = second(&waiter);
    let poller = Poller::new(Trigger::Edge, fd.as_fd());
    notifier.notify();
    assert!(poller.event_now());
    // The event was all: it is up to the user to react.
    assert!(!poller.event_now());
    notifier.notify_many(10);
    assert_eq!(waiter.try_wait(), Ok(11));
    notifier.notify();
    assert!(poller.event_now());
    assert_eq!(waiter.try_wait(), Ok(1));
}

#[test]
fn a_state_left_undrained_is_reported_again() {
    let (notifier, mut waiter) = pair();
    let fd = second(&waiter);
    let poller = Poller::new(Trigger::Level, fd.as_fd());
    notifier.notify();
    assert!(poller.event_now());
    assert!(poller.event_now());
    assert_eq!(waiter.try_wait(), Ok(1));
    assert!(!poller.event_now());
}

#[test]
fn what_is_pending_when_it_is_registered_is_an_event() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        notifier.notify();
        let fd = second(&waiter);
        assert!(Poller::new(trigger, fd.as_fd()).event_now());
        // In another poller as well, and later.
        let poller = Poller::new(trigger, fd.as_fd());
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(1));
        assert!(!poller.event_now());
    }
}

#[test]
fn the_waiters_own_waits_and_a_poller_can_take_turns() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        for _ in 0..10 {
            notifier.notify();
            assert_eq!(waiter.wait(), Ok(1));
            assert!(!poller.event_now());
            notifier.notify();
            assert!(poller.event_now());
            assert_eq!(waiter.wait_for(1), Ok(1));
            assert_eq!(waiter.wait_for_deadline(5, std::time::Instant::now()).ok(), None);
            assert!(!poller.event_now());
            notifier.notify();
            assert!(poller.event_now());
            assert_eq!(waiter.try_wait(), Ok(1));
        }
    }
}

#[test]
fn a_flush_is_at_most_a_spurious_event() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        notifier.flush();
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        assert!(!poller.event_now());
        notifier.notify();
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(1));
    }
}

#[test]
fn a_poller_that_sleeps_gets_every_notification_of_several_threads() {
    const THREADS: u32 = 3;
    let _watchdog = Watchdog::new();
    for trigger in TRIGGERS {
        let each = rounds(5_000);
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        let total = thread::scope(|scope| {
            spawn_notifiers(scope, notifier, THREADS, each, 200);
            let mut total = 0;
            loop {
                assert!(poller.event(None));
                match waiter.try_wait() {
                    Ok(n) => total += n,
                    Err(TryWaitError::Empty) => {}
                    Err(TryWaitError::Closed) => break total,
                }
            }
        });
        assert_eq!(total, THREADS * each, "{trigger:?}");
        // The ring of the last drop may have come after the end was seen.
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert!(!poller.event_now());
    }
}

// ---- the end -------------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
enum End {
    Stop,
    LastDrop,
}

#[test]
fn the_end_is_one_event_and_then_closed_and_then_quiet() {
    for trigger in TRIGGERS {
        for end in [End::Stop, End::LastDrop] {
            for pending in [0, 3] {
                let case = format!("{trigger:?} {end:?} {pending}");
                let (notifier, mut waiter) = pair();
                let fd = second(&waiter);
                let poller = Poller::new(trigger, fd.as_fd());
                notifier.notify_many(pending);
                let late = match end {
                    End::Stop => {
                        waiter.stopper().stop();
                        Some(notifier)
                    }
                    End::LastDrop => {
                        drop(notifier);
                        None
                    }
                };
                if pending > 0 {
                    assert!(poller.event_now(), "{case}");
                    assert_eq!(waiter.try_wait(), Ok(pending), "{case}");
                }
                assert!(poller.event_now(), "{case}");
                assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed), "{case}");
                assert!(!poller.event_now(), "{case}");
                if let Some(notifier) = &late {
                    notifier.notify();
                    notifier.flush();
                    notifier.notify_many(u32::MAX);
                }
                assert!(!poller.event_now(), "{case}");
                assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed), "{case}");
                assert!(!poller.event_now(), "{case}");
            }
        }
    }
}

#[test]
fn the_end_told_by_a_wait_is_told_to_the_poller_too_if_something_was_handed_out() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        notifier.notify();
        drop(notifier);
        assert_eq!(waiter.wait_for(5), Ok(1));
        assert!(poller.event_now());
        assert!(waiter.wait().is_err());
        assert!(!poller.event_now());
    }
}

#[test]
fn each_further_close_is_one_more_event_and_then_quiet() {
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let stopper = waiter.stopper();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        let closes: [Box<dyn FnOnce()>; 3] =
            [Box::new(|| stopper.stop()), Box::new(|| stopper.stop()), Box::new(|| drop(notifier))];
        for close in closes {
            close();
            assert!(poller.event_now());
            assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
            assert!(!poller.event_now());
        }
    }
}

/// As a user would write it, who does not deregister.
#[test]
fn a_loop_by_hand_has_one_event_at_the_end_and_then_idles() {
    let _watchdog = Watchdog::new();
    for trigger in TRIGGERS {
        for end in [End::Stop, End::LastDrop] {
            let (notifier, mut waiter) = pair();
            let fd = second(&waiter);
            let poller = Poller::new(trigger, fd.as_fd());
            let stopper = waiter.stopper();
            let ending = thread::spawn(move || {
                match end {
                    End::Stop => stopper.stop(),
                    End::LastDrop => return None,
                }
                // Not dropped here: that would be an end of its own.
                Some(notifier)
            });
            let mut events = 0;
            while poller.event(if events == 0 { None } else { Some(IDLE) }) {
                events += 1;
                assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
            }
            let _still_there = ending.join().unwrap();
            assert_eq!(events, 1, "{trigger:?} {end:?}");
        }
    }
}

#[test]
fn a_notifier_dropped_right_after_it_notified_loses_nothing() {
    let _watchdog = Watchdog::new();
    for trigger in TRIGGERS {
        for _ in 0..rounds(300) {
            let (notifier, mut waiter) = pair();
            let fd = second(&waiter);
            let poller = Poller::new(trigger, fd.as_fd());
            let notifying = thread::spawn(move || {
                notifier.notify();
                drop(notifier);
            });
            let mut total = 0;
            loop {
                assert!(poller.event(Some(GENEROUS)), "{trigger:?}");
                match waiter.try_wait() {
                    Ok(n) => total += n,
                    Err(TryWaitError::Empty) => {}
                    Err(TryWaitError::Closed) => break,
                }
            }
            assert_eq!(total, 1);
            notifying.join().unwrap();
        }
    }
}

// ---- full ----------------------------------------------------------------------------------------------------------

#[test]
fn a_million_notifications_without_a_reader_do_not_block() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = pair();
    for _ in 0..1_000_000 {
        notifier.notify();
    }
    assert!(is_readable(&waiter));
    assert_eq!(waiter.wait(), Ok(1_000_000));
    assert!(!is_readable(&waiter));
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(1));
}

/// Every flush of an armed waiter writes. A pipe holds 65,536 bytes.
#[test]
fn a_full_descriptor_is_readable_and_takes_what_comes_as_success() {
    let _watchdog = Watchdog::new();
    for trigger in TRIGGERS {
        let (notifier, mut waiter) = pair();
        let fd = second(&waiter);
        let poller = Poller::new(trigger, fd.as_fd());
        for _ in 0..70_000 {
            notifier.flush();
        }
        if cfg!(rt_notify_force_pipe) {
            assert_eq!(posts(&waiter), 65_536);
        } else {
            assert_eq!(posts(&waiter), 70_000);
            // Up to the counter's maximum.
            rustix::io::write(&waiter, &(u64::MAX - 1 - 70_000).to_ne_bytes()).unwrap();
            assert_eq!(posts(&waiter), u64::MAX - 1);
            let more = rustix::io::write(&waiter, &1_u64.to_ne_bytes());
            assert_eq!(more, Err(rustix::io::Errno::AGAIN));
        }
        notifier.notify();
        notifier.flush();
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(1));
        assert!(!poller.event_now(), "one try_wait empties it");
        notifier.notify();
        assert!(poller.event_now());
        waiter.stopper().stop();
        assert_eq!(waiter.try_wait(), Ok(1));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert!(!poller.event_now());
    }
}
