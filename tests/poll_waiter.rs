//! `PollWaiter`'s own waits, which sleep on the descriptor.
#![cfg(target_os = "linux")]

#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use descriptors::{is_readable, posts};
use rt_notify::{Closed, Notifier, PollWaiter, TryWaitError, Wait, WaitTimeoutError};
use rustix::time::{ClockId, clock_gettime};
use stress::{GENEROUS, Watchdog, rounds, spawn_notifiers};
use threads::Sleeper;

const LONG: Duration = Duration::from_secs(1000);

fn pair() -> (Notifier, PollWaiter) {
    Notifier::pollable().unwrap()
}

fn in_a_while() -> Instant {
    Instant::now() + LONG
}

/// A wait that sleeps; the error of a timeout is never wanted.
type Form = fn(&mut PollWaiter) -> Result<u32, Closed>;

/// All of them, for one notification.
const FORMS: [(&str, Form); 6] = [
    ("wait", |waiter| waiter.wait()),
    ("wait_timeout", |waiter| closed(waiter.wait_timeout(LONG))),
    ("wait_deadline", |waiter| closed(waiter.wait_deadline(in_a_while()))),
    ("wait_for", |waiter| waiter.wait_for(1)),
    ("wait_for nothing", |waiter| waiter.wait_for(0)),
    ("wait_for_deadline", |waiter| closed(waiter.wait_for_deadline(1, in_a_while()))),
];

fn closed(result: Result<u32, WaitTimeoutError>) -> Result<u32, Closed> {
    result.map_err(|error| {
        assert_eq!(error, WaitTimeoutError::Closed);
        Closed
    })
}

/// Nothing is pending, nor does the descriptor say so.
#[track_caller]
fn assert_quiet(waiter: &mut PollWaiter) {
    assert!(!is_readable(waiter));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert!(!is_readable(waiter));
}

#[test]
fn every_wait_takes_all_that_was_notified_before_it() {
    let (notifier, mut waiter) = pair();
    for (name, wait) in FORMS {
        for _ in 0..5 {
            notifier.notify();
        }
        notifier.notify_many(4);
        assert_eq!(wait(&mut waiter), Ok(9), "{name}");
        assert_quiet(&mut waiter);
    }
}

#[test]
fn every_wait_sleeps_until_it_is_notified() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = pair();
        let sleeper = Sleeper::spawn_asleep(move || {
            let result = wait(&mut waiter);
            (result, waiter)
        });
        notifier.notify();
        let (result, mut waiter) = sleeper.join();
        assert_eq!(result, Ok(1), "{name}");
        assert_quiet(&mut waiter);
    }
}

#[test]
fn every_wait_leaves_the_waiter_armed_for_one_notification() {
    let (notifier, mut waiter) = pair();
    for (name, wait) in FORMS {
        notifier.notify();
        wait(&mut waiter).unwrap();
        assert!(!is_readable(&waiter), "{name}");
        notifier.notify();
        assert!(is_readable(&waiter), "{name}");
        waiter.try_wait().unwrap();
    }
    notifier.notify_many(100);
    assert_eq!(waiter.wait_for(100), Ok(100));
    notifier.notify();
    assert!(is_readable(&waiter));
}

#[test]
fn the_waits_of_the_trait_are_the_waiters_own() {
    fn every_wait(notifier: &Notifier, waiter: &mut impl Wait) {
        notifier.notify();
        assert_eq!(waiter.wait(), Ok(1));
        notifier.notify();
        assert_eq!(waiter.try_wait(), Ok(1));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        assert_eq!(waiter.wait_timeout(Duration::from_nanos(1)), Err(WaitTimeoutError::Timeout));
        assert_eq!(waiter.wait_deadline(Instant::now()), Err(WaitTimeoutError::Timeout));
        notifier.notify();
        assert_eq!(waiter.wait_for_deadline(2, Instant::now()), Err(WaitTimeoutError::Timeout));
        notifier.notify();
        assert_eq!(waiter.wait_for(2), Ok(2));
        waiter.stopper().stop();
        assert_eq!(waiter.wait(), Err(Closed));
    }
    let (notifier, mut waiter) = pair();
    every_wait(&notifier, &mut waiter);
}

#[test]
fn notifications_of_several_threads_are_all_counted() {
    const THREADS: u32 = 3;
    let _watchdog = Watchdog::new();
    let each = rounds(3_000);
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = pair();
        let total = thread::scope(|scope| {
            spawn_notifiers(scope, notifier, THREADS, each, 200);
            let mut total = 0;
            while let Ok(n) = wait(&mut waiter) {
                assert!(n > 0);
                total += n;
            }
            total
        });
        assert_eq!(total, THREADS * each, "{name}");
        // The ring of the last drop may have come after the end was seen.
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        assert!(!is_readable(&waiter));
    }
}

// ---- time ----------------------------------------------------------------------------------------------------------

#[test]
fn a_timeout_is_never_early() {
    let (_notifier, mut waiter) = pair();
    for _ in 0..20 {
        let timeout = Duration::from_millis(50);
        let start = Instant::now();
        assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
        assert!(start.elapsed() >= timeout);
        assert_quiet(&mut waiter);
    }
    for nanoseconds in (1..2_000_000).step_by(99_991) {
        let deadline = Instant::now() + Duration::from_nanos(nanoseconds);
        assert_eq!(waiter.wait_deadline(deadline), Err(WaitTimeoutError::Timeout));
        assert!(Instant::now() >= deadline);
        let deadline = Instant::now() + Duration::from_nanos(nanoseconds);
        assert_eq!(waiter.wait_for_deadline(2, deadline), Err(WaitTimeoutError::Timeout));
        assert!(Instant::now() >= deadline);
    }
}

#[test]
fn timeouts_below_a_millisecond_sleep_and_do_not_spin() {
    let (_notifier, mut waiter) = pair();
    for timeout in [300, 999, 1500].map(Duration::from_micros) {
        let times = 300;
        let (start, worked) = (Instant::now(), worked());
        for _ in 0..times {
            assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
        }
        let (passed, worked) = (start.elapsed(), crate::worked() - worked);
        assert!(passed >= timeout * times);
        assert!(worked < passed / 2, "{timeout:?}: {worked:?} of {passed:?} awake");
    }
}

/// The processor time of this thread.
fn worked() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

#[test]
fn a_timeout_that_no_clock_can_hold_is_for_ever() {
    let _watchdog = Watchdog::new();
    let huge = [
        Duration::MAX,
        Duration::from_secs(u64::MAX),
        Duration::from_secs(i64::MAX.unsigned_abs()),
        Duration::from_secs(1 << 31),
        Duration::from_secs(u64::from(u32::MAX)),
        Duration::from_millis(u64::from(i32::MAX.unsigned_abs()) + 1),
    ];
    let sleepers = huge.map(|timeout| {
        let (notifier, mut waiter) = pair();
        (notifier, Sleeper::spawn_asleep(move || waiter.wait_timeout(timeout)))
    });
    thread::sleep(Duration::from_millis(200));
    for (notifier, sleeper) in sleepers {
        assert!(!sleeper.is_finished());
        notifier.notify();
        assert_eq!(sleeper.join(), Ok(1));
    }
}

#[test]
fn a_timeout_of_zero_tries_once() {
    let (notifier, mut waiter) = pair();
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Timeout));
    notifier.notify();
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Ok(1));
    drop(notifier);
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Closed));
}

#[test]
fn what_is_pending_is_handed_out_even_past_the_deadline() {
    let (notifier, mut waiter) = pair();
    let past = Instant::now();
    notifier.notify_many(3);
    assert_eq!(waiter.wait_deadline(past), Ok(3));
    assert_eq!(waiter.wait_deadline(past), Err(WaitTimeoutError::Timeout));
    notifier.notify_many(3);
    assert_eq!(waiter.wait_for_deadline(3, past), Ok(3));
    assert_quiet(&mut waiter);
}

// ---- signals -------------------------------------------------------------------------------------------------------

static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

extern "C" fn interrupt(_signal: i32) {
    INTERRUPTIONS.fetch_add(1, Relaxed);
}

/// Interrupts `sleeper` every millisecond, `times` times or until it has ended.
fn interrupt_every_millisecond<T: Send + 'static>(sleeper: &Sleeper<T>, times: u32) {
    for _ in 0..times {
        if sleeper.is_finished() {
            break;
        }
        signals::send_if_alive(sleeper.probe().tid, libc::SIGUSR1);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn signals_neither_end_nor_prolong_a_wait() {
    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, interrupt);

    // For longer than the time limit of a deadline that each signal puts off.
    let start = Instant::now();
    let timeout = Duration::from_millis(500);
    let (_silent, mut waiter) = pair();
    let sleeper = Sleeper::spawn(move || (waiter.wait_timeout(timeout), start.elapsed()));
    interrupt_every_millisecond(&sleeper, u32::try_from(GENEROUS.as_millis()).unwrap());
    let (result, elapsed) = sleeper.join();
    assert_eq!(result, Err(WaitTimeoutError::Timeout));
    assert!(elapsed >= timeout);
    assert!(elapsed < GENEROUS / 2, "{elapsed:?}");

    for (name, wait) in FORMS {
        let (notifier, mut waiter) = pair();
        let sleeper = Sleeper::spawn_asleep(move || {
            let result = wait(&mut waiter);
            (result, waiter)
        });
        interrupt_every_millisecond(&sleeper, 200);
        assert!(!sleeper.is_finished(), "{name}");
        notifier.notify();
        let (result, mut waiter) = sleeper.join();
        assert_eq!(result, Ok(1), "{name}");
        assert_quiet(&mut waiter);
    }
    assert!(INTERRUPTIONS.load(Relaxed) > 100);
}

// ---- wait_for, flush -----------------------------------------------------------------------------------------------

#[test]
fn below_the_target_notifiers_write_nothing() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = pair();
    let fd = waiter.as_fd().try_clone_to_owned().unwrap();
    let sleeper = Sleeper::spawn_asleep(move || {
        let result = waiter.wait_for(1000);
        (result, waiter)
    });
    for _ in 0..999 {
        notifier.notify();
    }
    assert_eq!(posts(&fd), 0);
    sleeper.wait_asleep();
    notifier.notify();
    let (result, mut waiter) = sleeper.join();
    assert_eq!(result, Ok(1000));
    assert_quiet(&mut waiter);
}

#[test]
fn a_target_that_timed_out_consumes_nothing_and_leaves_the_descriptor_readable() {
    let (notifier, mut waiter) = pair();
    for pending in [1, 5, 9] {
        notifier.notify_many(pending);
        let deadline = Instant::now() + Duration::from_millis(1);
        assert_eq!(waiter.wait_for_deadline(10, deadline), Err(WaitTimeoutError::Timeout));
        assert!(is_readable(&waiter));
        assert_eq!(waiter.try_wait(), Ok(pending));
        assert_quiet(&mut waiter);
    }
    // What stayed behind counts towards the next target.
    notifier.notify_many(4);
    assert_eq!(waiter.wait_for_deadline(10, Instant::now()), Err(WaitTimeoutError::Timeout));
    assert_eq!(waiter.wait_for_deadline(5, Instant::now()), Err(WaitTimeoutError::Timeout));
    notifier.notify();
    assert_eq!(waiter.wait_for(5), Ok(5));
}

#[test]
fn a_target_that_timed_out_with_nothing_pending_leaves_the_descriptor_quiet_and_armed() {
    let (notifier, mut waiter) = pair();
    assert_eq!(waiter.wait_for_deadline(10, Instant::now()), Err(WaitTimeoutError::Timeout));
    assert_quiet(&mut waiter);
    notifier.notify();
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Ok(1));
}

#[test]
fn a_flush_ends_the_wait_for_a_target() {
    let _watchdog = Watchdog::new();
    for pending in [0, 3] {
        let (notifier, mut waiter) = pair();
        let sleeper = Sleeper::spawn_asleep(move || {
            let result = waiter.wait_for(1000);
            (result, waiter)
        });
        notifier.notify_many(pending);
        notifier.flush();
        let (result, mut waiter) = sleeper.join();
        assert_eq!(result, Ok(pending));
        assert_quiet(&mut waiter);

        // Also the one that comes first.
        notifier.notify_many(pending);
        notifier.flush();
        assert_eq!(waiter.wait_for(1000), Ok(pending));
        assert_quiet(&mut waiter);
        let soon = Instant::now() + Duration::from_millis(1);
        assert_eq!(waiter.wait_for_deadline(1000, soon), Err(WaitTimeoutError::Timeout));
    }
}

#[test]
fn only_the_wait_for_a_target_consumes_a_flush_or_ends_by_it() {
    let (notifier, mut waiter) = pair();
    notifier.flush();
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    assert_eq!(waiter.wait_timeout(Duration::from_millis(1)), Err(WaitTimeoutError::Timeout));
    notifier.notify();
    assert_eq!(waiter.wait(), Ok(1));
    assert_quiet(&mut waiter);
    assert_eq!(waiter.wait_for(1000), Ok(0));
    assert_quiet(&mut waiter);
}

#[test]
fn more_than_may_be_counted_at_once_flushes() {
    let (notifier, mut waiter) = pair();
    notifier.notify_many(u32::MAX);
    assert_eq!(waiter.wait_for(u32::MAX), Ok(Notifier::NOTIFY_MANY_MAX));
    assert_quiet(&mut waiter);
}

// ---- the end -------------------------------------------------------------------------------------------------------

#[test]
fn stop_and_the_last_drop_end_every_wait_that_sleeps() {
    let _watchdog = Watchdog::new();
    let forms = FORMS.into_iter().chain([("wait_for more", (|waiter| waiter.wait_for(1000)) as Form)]);
    for (name, wait) in forms {
        for stops in [false, true] {
            let (notifier, mut waiter) = pair();
            let stopper = waiter.stopper();
            let sleeper = Sleeper::spawn_asleep(move || {
                let result = wait(&mut waiter);
                (result, waiter)
            });
            if stops {
                stopper.stop();
            } else {
                let other = notifier.clone();
                drop(notifier);
                sleeper.wait_asleep();
                drop(other);
            }
            let (result, waiter) = sleeper.join();
            assert_eq!(result, Err(Closed), "{name}");
            assert!(!is_readable(&waiter), "{name}");
        }
    }
}

#[test]
fn after_close_one_wait_hands_out_what_is_pending_and_every_later_one_says_closed() {
    for (name, wait) in FORMS {
        for stops in [false, true] {
            let (notifier, mut waiter) = pair();
            notifier.notify_many(3);
            if stops {
                waiter.stopper().stop();
                // Too late to be told apart from what was in time: one wait takes both.
                notifier.notify();
            }
            let pending = if stops { 4 } else { 3 };
            let late = stops.then_some(notifier);
            assert_eq!(wait(&mut waiter), Ok(pending), "{name}");
            for _ in 0..2 {
                if let Some(notifier) = &late {
                    notifier.notify();
                }
                for (name, wait) in FORMS {
                    assert_eq!(wait(&mut waiter), Err(Closed), "{name}");
                }
                assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
                assert_eq!(waiter.wait_timeout(Duration::MAX), Err(WaitTimeoutError::Closed));
                assert!(!is_readable(&waiter));
            }
        }
    }
}

#[test]
fn a_target_out_of_reach_after_close_gives_the_rest() {
    let (notifier, mut waiter) = pair();
    notifier.notify_many(3);
    drop(notifier);
    assert_eq!(waiter.wait_for(1000), Ok(3));
    assert_eq!(waiter.wait_for(1000), Err(Closed));
    assert!(!is_readable(&waiter));
}

#[test]
fn stop_ends_a_wait_while_signals_interrupt_it() {
    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, interrupt);
    let (_notifier, mut waiter) = pair();
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || waiter.wait());
    thread::scope(|scope| {
        scope.spawn(|| interrupt_every_millisecond(&sleeper, u32::MAX));
        stopper.stop();
    });
    assert_eq!(sleeper.join(), Err(Closed));
}

// ---- types ---------------------------------------------------------------------------------------------------------

mod auto_traits {
    use rt_notify::{Armed, PollLoop, PollWaiter};

    /// Ambiguous, and so an error, for a type that implements the trait in question.
    trait Lacks<Marker> {
        fn check() {}
    }
    struct Implemented;
    impl<T> Lacks<()> for T {}
    impl<T: Clone> Lacks<Implemented> for T {}

    #[test]
    fn waiters_and_loops_cross_threads_and_are_not_cloned() {
        fn crosses<T: Send + Sync>() {}
        crosses::<PollWaiter>();
        crosses::<PollLoop<'_>>();
        crosses::<Armed<'_>>();
        <PollWaiter as Lacks<_>>::check();
        <PollLoop<'_> as Lacks<_>>::check();
        <Armed<'_> as Lacks<_>>::check();
    }

    #[test]
    fn waiters_and_loops_unwind_safely() {
        fn unwinds<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        unwinds::<PollWaiter>();
    }
}

#[test]
fn debug_output_shows_what_is_pending() {
    let (notifier, mut waiter) = pair();
    notifier.notify_many(3);
    assert_eq!(format!("{waiter:?}"), "PollWaiter { pending: 3, closed: false, .. }");
    assert_eq!(format!("{:?}", waiter.poll_loop()), "PollLoop { pending: 3, closed: false, .. }");
}
