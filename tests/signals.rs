//! Signals at a waiting thread do not end its wait; handlers may notify, and nobody's `errno` changes.
#![cfg(target_os = "linux")]

#[path = "support/fork.rs"]
mod fork;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use fork::Child;
use rt_notify::{Closed, Notifier, Semaphore, Stopper, TryWaitError, WaitTimeoutError, Waiter};
use rustix::process::Signal;
use stress::{GENEROUS, Watchdog};
use threads::Sleeper;

const LONG: Duration = Duration::from_secs(1000);
const MILLISECOND: Duration = Duration::from_millis(1);

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: i32) {
    HANDLED.fetch_add(1, Relaxed);
}

type Form = fn(&mut Waiter) -> Result<u32, Closed>;

/// Every wait that sleeps.
const FORMS: [Form; 5] = [
    Waiter::wait,
    |waiter| waiter.wait_timeout(LONG).map_err(|_| Closed),
    |waiter| waiter.wait_deadline(Instant::now() + LONG).map_err(|_| Closed),
    |waiter| waiter.wait_for(1),
    |waiter| waiter.wait_for_deadline(1, Instant::now() + LONG).map_err(|_| Closed),
];

const SEMAPHORE_FORMS: [fn(&Semaphore) -> bool; 3] = [
    |semaphore| {
        semaphore.wait();
        true
    },
    |semaphore| semaphore.wait_timeout(LONG),
    |semaphore| semaphore.wait_deadline(Instant::now() + LONG),
];

#[test]
fn signals_at_1_khz_end_no_wait() {
    static SEMAPHORES: [Semaphore; 3] = [const { Semaphore::new(0) }; 3];

    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, count);
    let before = HANDLED.load(Relaxed);
    let waits = FORMS.map(|wait| {
        let (notifier, mut waiter) = Notifier::new();
        (notifier, Sleeper::spawn_asleep(move || (wait(&mut waiter), waiter)))
    });
    let semaphore_waits =
        [0, 1, 2].map(|n| Sleeper::spawn_asleep(move || SEMAPHORE_FORMS[n](&SEMAPHORES[n])));
    let probes = || {
        let first = waits.iter().map(|(_, sleeper)| sleeper.probe());
        first.chain(semaphore_waits.iter().map(Sleeper::probe))
    };
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < Duration::from_secs(1) {
        for probe in probes() {
            signals::send(probe.tid, libc::SIGUSR1);
        }
        sent += 1;
        thread::sleep(MILLISECOND);
    }
    for probe in probes() {
        probe.wait_asleep();
    }
    assert!(HANDLED.load(Relaxed) - before >= sent, "each thread was interrupted, and most of them often");
    assert!(!waits.iter().any(|(_, sleeper)| sleeper.is_finished()));
    assert!(!semaphore_waits.iter().any(Sleeper::is_finished));
    for (notifier, sleeper) in waits {
        notifier.notify();
        let (taken, mut waiter) = sleeper.join();
        assert_eq!(taken, Ok(1));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    }
    for (semaphore, sleeper) in SEMAPHORES.iter().zip(semaphore_waits) {
        semaphore.post();
        assert!(sleeper.join());
        assert_eq!(semaphore.count(), 0);
    }
}

#[test]
fn signals_neither_shorten_nor_renew_a_timeout() {
    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, count);
    let timeout = Duration::from_millis(50);
    let (_notifier, mut waiter) = Notifier::new();
    let semaphore = Semaphore::new(0);
    let sleeper = Sleeper::spawn(move || {
        for _ in 0..5 {
            let start = Instant::now();
            assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
            let elapsed = start.elapsed();
            assert!(!semaphore.wait_timeout(timeout));
            let both = start.elapsed();
            assert!(elapsed >= timeout && both >= 2 * timeout, "{elapsed:?}, {both:?}");
        }
    });
    // A timeout that began anew with each of these would never end.
    let start = Instant::now();
    while !sleeper.is_finished() {
        assert!(start.elapsed() < GENEROUS);
        signals::send_if_alive(sleeper.probe().tid, libc::SIGUSR1);
        thread::sleep(MILLISECOND);
    }
    sleeper.join();
}

#[test]
fn a_stopped_and_continued_process_still_waits() {
    static FROM_HANDLER: OnceLock<Notifier> = OnceLock::new();

    extern "C" fn notify(_signal: i32) {
        if let Some(notifier) = FROM_HANDLER.get() {
            notifier.notify();
        }
    }

    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    FROM_HANDLER.set(notifier).expect("set once");
    for wait in FORMS {
        let child = Child::fork(|| {
            signals::on(libc::SIGUSR1, notify);
            assert_eq!(wait(&mut waiter), Ok(1));
            assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        });
        child.wait_state('S');
        for _ in 0..10 {
            child.signal(Signal::STOP);
            child.wait_state('T');
            child.signal(Signal::CONT);
            child.wait_state('S');
        }
        child.signal(Signal::USR1);
        child.join();
    }
}

/// What the handler below calls, in every state that a pair can be in.
struct Targets {
    asleep: Notifier,
    busy: Notifier,
    full: Notifier,
    gone: Notifier,
    stopper: Stopper,
    semaphore: Semaphore,
    nobody_waits: Semaphore,
}

type Call = (&'static str, fn(&Targets));

const CALLS: [Call; 16] = [
    ("post, a thread sleeps", |targets| targets.semaphore.post()),
    ("post, nobody waits", |targets| targets.nobody_waits.post()),
    ("notify, nobody waits", |targets| targets.busy.notify()),
    ("notify, full", |targets| targets.full.notify()),
    ("notify, the waiter is gone", |targets| targets.gone.notify()),
    ("notify, the waiter sleeps", |targets| targets.asleep.notify()),
    ("notify_many, the waiter sleeps", |targets| targets.asleep.notify_many(10)),
    ("notify_many and flush, the waiter sleeps", |targets| targets.asleep.notify_many(u32::MAX)),
    ("flush, the waiter sleeps", |targets| targets.asleep.flush()),
    ("flush, the waiter is gone", |targets| targets.gone.flush()),
    ("expect_next", |targets| targets.asleep.expect_next(Instant::now() + MILLISECOND)),
    ("is_closed", |targets| assert!(targets.gone.is_closed())),
    ("clone and drop", |targets| drop(targets.asleep.clone())),
    ("clone and drop of a stopper", |targets| drop(targets.stopper.clone())),
    ("stop, the waiter sleeps", |targets| targets.stopper.stop()),
    ("stop again", |targets| targets.stopper.stop()),
];

#[test]
fn calls_in_a_handler_work_and_keep_errno() {
    static TARGETS: OnceLock<Targets> = OnceLock::new();
    static CALL: AtomicUsize = AtomicUsize::new(0);
    static KEPT: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn call(_signal: i32) {
        let Some(targets) = TARGETS.get() else { return };
        signals::set_errno(1234);
        CALLS[CALL.load(Relaxed)].1(targets);
        if signals::errno() == 1234 {
            KEPT.fetch_add(1, Relaxed);
        }
    }

    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR2, call);
    let (asleep, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || {
        let mut total = 0;
        while let Ok(n) = waiter.wait() {
            total += n;
        }
        total
    });
    let (busy, mut busy_waiter) = Notifier::new();
    let (full, mut full_waiter) = Notifier::new();
    for _ in 0..2048 {
        full.notify_many(rt_notify::NOTIFY_MANY_MAX);
    }
    let (gone, _) = Notifier::new();
    let (semaphore, nobody_waits) = (Semaphore::new(0), Semaphore::new(0));
    let targets = Targets { asleep, busy, full, gone, stopper, semaphore, nobody_waits };
    assert!(TARGETS.set(targets).is_ok());
    let targets = TARGETS.get().expect("set");
    let poster = Sleeper::spawn_asleep(|| targets.semaphore.wait());
    for (n, (name, _)) in CALLS.iter().enumerate() {
        if *name != "stop again" {
            sleeper.wait_asleep();
        }
        CALL.store(n, Relaxed);
        signals::set_errno(1234);
        signals::raise(libc::SIGUSR2);
        assert_eq!(signals::errno(), 1234, "{name}");
        assert_eq!(KEPT.load(Relaxed), n + 1, "{name}");
    }
    assert_eq!(sleeper.join(), 1 + 10 + rt_notify::NOTIFY_MANY_MAX);
    poster.join();
    assert_eq!(targets.nobody_waits.count(), 1);
    assert_eq!(busy_waiter.try_wait(), Ok(1));
    assert_eq!(full_waiter.try_wait(), Ok(1 << 23));
}
