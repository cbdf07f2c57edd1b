//! Notifying through a descriptor allocates nothing and keeps `errno`, in every state of the descriptor.
#![cfg(target_os = "linux")]

#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use assert_no_alloc::{AllocDisabler, assert_no_alloc};
use descriptors::{is_readable, posts};
use rt_notify::{Notifier, Stopper, TryWaitError};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

/// Everything that a realtime thread may do.
fn all_that_is_realtime_safe(notifier: &Notifier, stopper: &Stopper) {
    assert_no_alloc(|| {
        notifier.notify();
        notifier.notify_many(3);
        notifier.notify_many(u32::MAX);
        notifier.flush();
        let _ = notifier.is_closed();
        drop(notifier.clone());
        drop(stopper.clone());
    });
}

const COUNTED: u32 = 1 + 3 + Notifier::NOTIFY_MANY_MAX;

#[test]
fn notifying_allocates_nothing_whatever_the_waiter_does() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let stopper = waiter.stopper();

    // Armed; readable already.
    for _ in 0..2 {
        all_that_is_realtime_safe(&notifier, &stopper);
    }
    assert_eq!(waiter.try_wait(), Ok(2 * COUNTED));
    // Not armed.
    let mut poll_loop = waiter.poll_loop();
    all_that_is_realtime_safe(&notifier, &stopper);
    assert_eq!(posts(&poll_loop), 0);
    assert_eq!(poll_loop.try_wait(), Ok(COUNTED));
    // Armed by the loop.
    poll_loop.poll(None, |_| all_that_is_realtime_safe(&notifier, &stopper));
    assert_eq!(poll_loop.try_wait(), Ok(COUNTED));
    drop(poll_loop);
    // Full.
    for _ in 0..70_000 {
        notifier.flush();
    }
    all_that_is_realtime_safe(&notifier, &stopper);
    assert_eq!(waiter.try_wait(), Ok(COUNTED));
    // Stopped.
    assert_no_alloc(|| stopper.stop());
    all_that_is_realtime_safe(&notifier, &stopper);
    // Gone.
    drop(waiter);
    all_that_is_realtime_safe(&notifier, &stopper);
    assert_no_alloc(|| {
        drop(notifier);
        drop(stopper);
    });
}

#[test]
fn the_last_drop_allocates_and_frees_nothing_while_the_waiter_lives() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    assert_no_alloc(|| drop(notifier));
    assert!(is_readable(&waiter));
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
}

/// A worker's busy loop needs no memory either.
#[test]
fn waiting_and_polling_allocate_nothing() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    assert_no_alloc(|| {
        for _ in 0..10 {
            notifier.notify();
            assert!(waiter.wait_timeout(Duration::from_secs(1)).is_ok());
            assert!(waiter.try_wait().is_err());
            let mut poll_loop = waiter.poll_loop();
            notifier.notify();
            poll_loop.poll(None, |_| ());
            assert!(poll_loop.try_wait().is_ok());
            // By this an `AsyncFd` learns that it has to wait.
            let would_block = std::io::Error::from(poll_loop.try_wait().unwrap_err());
            assert_eq!(would_block.kind(), std::io::ErrorKind::WouldBlock);
        }
    });
}

// ---- in a signal handler -------------------------------------------------------------------------------------------

struct Handles {
    notifier: Notifier,
    stopper: Stopper,
}

static HANDLES: OnceLock<Handles> = OnceLock::new();
static STOPS: AtomicU32 = AtomicU32::new(0);
static CHANGED: AtomicU32 = AtomicU32::new(0);

const MARK: i32 = 1234;

extern "C" fn notify_from_handler(_signal: i32) {
    let handles = HANDLES.get().expect("set before the handler is installed");
    let check = || {
        if signals::errno() != MARK {
            CHANGED.fetch_add(1, Relaxed);
        }
    };
    signals::set_errno(MARK);
    handles.notifier.notify();
    check();
    handles.notifier.notify_many(u32::MAX);
    check();
    handles.notifier.flush();
    check();
    drop(handles.notifier.clone());
    check();
    if STOPS.load(Relaxed) == 1 {
        handles.stopper.stop();
        check();
    }
}

#[test]
fn in_a_handler_errno_is_kept_even_if_the_write_fails() {
    const EACH: u32 = 1 + Notifier::NOTIFY_MANY_MAX;
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let stopper = waiter.stopper();
    assert!(HANDLES.set(Handles { notifier, stopper }).is_ok());
    signals::on(libc::SIGUSR1, notify_from_handler);

    // The descriptor takes it.
    signals::raise(libc::SIGUSR1);
    assert_eq!(waiter.try_wait(), Ok(EACH));
    // It is full: every write fails with EAGAIN.
    for _ in 0..70_000 {
        HANDLES.get().unwrap().notifier.flush();
    }
    if cfg!(not(rt_notify_force_pipe)) {
        let rest = u64::MAX - 1 - posts(&waiter);
        rustix::io::write(&waiter, &rest.to_ne_bytes()).unwrap();
    }
    let full = posts(&waiter);
    signals::raise(libc::SIGUSR1);
    assert_eq!(posts(&waiter), full);
    assert_eq!(waiter.try_wait(), Ok(EACH));
    // It is closed, then gone.
    STOPS.store(1, Relaxed);
    signals::raise(libc::SIGUSR1);
    drop(waiter);
    signals::raise(libc::SIGUSR1);
    assert_eq!(CHANGED.load(Relaxed), 0);
}

/// On a thread that runs nothing else: the handler interrupts it anywhere, a wait included.
#[test]
fn a_handler_that_interrupts_the_waiter_itself_wakes_it() {
    static OWN: OnceLock<Notifier> = OnceLock::new();
    extern "C" fn handler(_signal: i32) {
        OWN.get().expect("set before the handler is installed").notify();
    }

    let _watchdog = stress::Watchdog::new();
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    assert!(OWN.set(notifier).is_ok());
    signals::on(libc::SIGUSR2, handler);
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    let rounds = stress::rounds(2_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = stress::Random::new(23);
            for _ in 0..rounds {
                signals::send(tid, libc::SIGUSR2);
                random.spin(2_000);
            }
            // Signals that came too fast were one; this one comes last.
            OWN.get().unwrap().notify_many(Notifier::NOTIFY_MANY_MAX);
        });
        let mut total = 0;
        while total < Notifier::NOTIFY_MANY_MAX {
            total += waiter.wait().unwrap();
        }
        assert!(total <= rounds + Notifier::NOTIFY_MANY_MAX);
    });
}
