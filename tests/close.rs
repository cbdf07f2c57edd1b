//! The end of a pair: said once, for ever, and to everybody who waits.

#[path = "support/stress.rs"]
mod stress;

use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Closed, Notifier, Stopper, TryWaitError, WaitTimeoutError, Waiter};
use stress::Watchdog;

const LONG: Duration = Duration::from_secs(1000);

/// Every wait, as one signature.
type Form = (&'static str, fn(&mut Waiter) -> Result<u32, Closed>);

const FORMS: [Form; 6] = [
    ("wait", Waiter::wait),
    ("try_wait", |waiter| waiter.try_wait().map_err(closed)),
    ("wait_timeout", |waiter| waiter.wait_timeout(LONG).map_err(timed_closed)),
    ("wait_deadline", |waiter| waiter.wait_deadline(Instant::now() + LONG).map_err(timed_closed)),
    ("wait_for", |waiter| waiter.wait_for(1000)),
    ("wait_for_deadline", |waiter| {
        waiter.wait_for_deadline(1000, Instant::now() + LONG).map_err(timed_closed)
    }),
];

fn closed(error: TryWaitError) -> Closed {
    assert_eq!(error, TryWaitError::Closed);
    Closed
}

fn timed_closed(error: WaitTimeoutError) -> Closed {
    assert_eq!(error, WaitTimeoutError::Closed);
    Closed
}

/// How a pair can end.
#[derive(Clone, Copy, Debug)]
enum End {
    LastDrop,
    Stop,
}

impl End {
    const ALL: [End; 2] = [End::LastDrop, End::Stop];

    /// Ends the pair. What is left may notify, if anything is.
    fn end(self, notifier: Notifier, stopper: &Stopper) -> Option<Notifier> {
        match self {
            End::LastDrop => {
                drop(notifier);
                None
            }
            End::Stop => {
                stopper.stop();
                Some(notifier)
            }
        }
    }
}

#[test]
fn after_the_end_one_wait_hands_out_what_is_pending() {
    let _watchdog = Watchdog::new();
    for end in End::ALL {
        for (name, wait) in FORMS {
            let (notifier, mut waiter) = Notifier::new();
            let stopper = waiter.stopper();
            notifier.notify_many(3);
            let _left = end.end(notifier, &stopper);
            assert_eq!(wait(&mut waiter), Ok(3), "{name}, {end:?}");
            for (later, wait) in FORMS {
                assert_eq!(wait(&mut waiter), Err(Closed), "{later} after {name}, {end:?}");
            }
        }
    }
}

#[test]
fn after_the_end_a_wait_with_nothing_pending_is_closed() {
    let _watchdog = Watchdog::new();
    for end in End::ALL {
        for (name, wait) in FORMS {
            let (notifier, mut waiter) = Notifier::new();
            let stopper = waiter.stopper();
            // A flush is no notification.
            notifier.flush();
            let _left = end.end(notifier, &stopper);
            assert_eq!(wait(&mut waiter), Err(Closed), "{name}, {end:?}");
        }
    }
}

#[test]
fn once_told_closed_it_stays_closed_whatever_is_notified() {
    let _watchdog = Watchdog::new();
    for (name, first) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        waiter.stopper().stop();
        assert_eq!(first(&mut waiter), Err(Closed));
        for (later, wait) in FORMS {
            notifier.notify();
            notifier.notify_many(5000);
            notifier.flush();
            assert_eq!(wait(&mut waiter), Err(Closed), "{later} after {name}");
        }
        assert!(notifier.is_closed());
    }
}

#[test]
fn once_handed_the_rest_it_stays_closed_whatever_is_notified() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    notifier.notify();
    waiter.stopper().stop();
    assert_eq!(waiter.wait(), Ok(1));
    for (name, wait) in FORMS {
        notifier.notify();
        notifier.flush();
        assert_eq!(wait(&mut waiter), Err(Closed), "{name}");
    }
}

#[test]
fn what_comes_between_the_stop_and_the_last_wait_is_handed_out_with_it() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    waiter.stopper().stop();
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(1));
    assert_eq!(waiter.wait(), Err(Closed));
}

#[test]
fn the_end_wakes_every_wait() {
    let _watchdog = Watchdog::new();
    for end in End::ALL {
        for (name, wait) in FORMS {
            let (notifier, mut waiter) = Notifier::new();
            if name == "try_wait" {
                continue;
            }
            let stopper = waiter.stopper();
            let worker = thread::spawn(move || wait(&mut waiter));
            let _left = end.end(notifier, &stopper);
            assert_eq!(worker.join().unwrap(), Err(Closed), "{name}, {end:?}");
        }
    }
}

#[test]
fn a_wait_for_that_the_end_wakes_hands_out_fewer() {
    let _watchdog = Watchdog::new();
    for end in End::ALL {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let worker = thread::spawn(move || (waiter.wait_for(1000), waiter.wait_for(1000)));
        notifier.notify_many(7);
        let _left = end.end(notifier, &stopper);
        assert_eq!(worker.join().unwrap(), (Ok(7), Err(Closed)), "{end:?}");
    }
}

#[test]
fn a_worker_loop_ends() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let worker = thread::spawn(move || {
        let mut total = 0;
        while let Ok(n) = waiter.wait() {
            total += n;
        }
        total
    });
    let clone = notifier.clone();
    notifier.notify_many(2);
    drop(notifier);
    clone.notify();
    drop(clone);
    assert_eq!(worker.join().unwrap(), 3);
}

#[test]
fn stoppers_do_not_keep_a_pair_open() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let clone = stopper.clone();
    drop(notifier);
    assert_eq!(waiter.wait(), Err(Closed));
    drop((stopper, clone));
}

#[test]
fn dropping_stoppers_does_not_stop() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    drop(stopper.clone());
    drop(stopper);
    assert!(!notifier.is_closed());
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(1));
}

#[test]
fn stopping_twice_or_after_everybody_is_gone_does_no_harm() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    stopper.stop();
    stopper.clone().stop();
    assert_eq!(waiter.wait(), Err(Closed));
    drop(waiter);
    stopper.stop();
    drop(notifier);
    stopper.stop();
}

#[test]
fn the_notifier_sees_the_stop_and_the_waiters_drop() {
    let (notifier, waiter) = Notifier::new();
    assert!(!notifier.is_closed());
    waiter.stopper().stop();
    assert!(notifier.is_closed());

    let (notifier, waiter) = Notifier::new();
    let stopper = waiter.stopper();
    drop(waiter);
    assert!(notifier.is_closed());
    drop(stopper);
}

#[test]
fn the_stop_can_come_from_any_thread() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let other = thread::spawn(move || stopper.stop());
    assert_eq!(waiter.wait(), Err(Closed));
    other.join().unwrap();
    assert!(notifier.is_closed());
}
