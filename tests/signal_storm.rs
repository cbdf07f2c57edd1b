//! Handlers that notify 10,000 times a second, while the program allocates, forks and starts programs.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "timers are C")]

#[path = "support/child.rs"]
mod child;
#[path = "support/fork.rs"]
mod fork;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;

use std::hint::black_box;
use std::io;
use std::mem::zeroed;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use child::in_child;
use fork::Child;
use rt_notify::{Notifier, Semaphore};
use stress::rounds;

/// What the handler notifies, and how often it did.
struct Targets {
    notifier: Notifier,
    pollable: Notifier,
    semaphore: Semaphore,
}

static TARGETS: OnceLock<Targets> = OnceLock::new();
static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn notify(_signal: i32) {
    let Some(targets) = TARGETS.get() else { return };
    targets.notifier.notify();
    targets.pollable.notify();
    targets.semaphore.post();
    // Ordering: Relaxed; read once no more handlers run.
    HANDLED.fetch_add(1, Relaxed);
}

/// `SIGALRM` for the calling thread, so that no handler runs any more once it has ended the timer.
struct Timer(libc::timer_t);

impl Timer {
    fn new() -> Self {
        // SAFETY: a plain C structure, for which zeros are a valid value.
        let mut event: libc::sigevent = unsafe { zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGALRM;
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut timer = null_mut();
        // SAFETY: the kernel reads `event` and writes `timer`.
        let done = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
        Timer(timer)
    }

    /// So often; never again for 0.
    fn every(&self, micros: i32) {
        let interval = libc::timespec { tv_sec: 0, tv_nsec: (micros * 1000).into() };
        let times = libc::itimerspec { it_interval: interval, it_value: interval };
        // SAFETY: it is a timer; the kernel reads `times`, and is given nothing to write to.
        let done = unsafe { libc::timer_settime(self.0, 0, &raw const times, null_mut()) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}

/// Looks whether `errno` stays through many interruptions.
fn errno_stays() {
    let before = HANDLED.load(Relaxed);
    signals::set_errno(1234);
    while HANDLED.load(Relaxed) < before + 10 {
        std::hint::spin_loop();
    }
    assert_eq!(signals::errno(), 1234);
}

#[test]
fn handlers_at_10_khz_lose_nothing_and_keep_errno_while_the_program_allocates_forks_and_executes() {
    in_child(
        "handlers_at_10_khz_lose_nothing_and_keep_errno_while_the_program_allocates_forks_and_executes",
        || {
            let (notifier, mut waiter) = Notifier::new();
            let (pollable, mut poll_waiter) = Notifier::pollable().unwrap();
            assert!(TARGETS.set(Targets { notifier, pollable, semaphore: Semaphore::new(0) }).is_ok());
            let targets = TARGETS.get().unwrap();
            let (stop, stop_pollable) = (waiter.stopper(), poll_waiter.stopper());
            let counters = [
                thread::spawn(move || {
                    let mut total = 0;
                    while let Ok(n) = waiter.wait() {
                        total += n;
                    }
                    total
                }),
                thread::spawn(move || {
                    let mut total = 0;
                    while let Ok(n) = poll_waiter.wait() {
                        total += n;
                    }
                    total
                }),
            ];
            signals::on(libc::SIGALRM, notify);
            let timer = Timer::new();
            timer.every(100);
            for round in 0..rounds(40) {
                errno_stays();
                let blocks: Vec<Vec<u8>> = (0..200).map(|n| vec![1; n * 37]).collect();
                black_box(blocks);
                // The timer is not the child's.
                Child::fork(|| drop(black_box(vec![0_u8; 10_000]))).join();
                if round % 4 == 0 {
                    assert!(Command::new("true").status().unwrap().success());
                }
            }
            timer.every(0);
            stop.stop();
            stop_pollable.stop();
            let totals = counters.map(|counter| counter.join().unwrap());
            let handled = HANDLED.load(Relaxed);
            assert!(handled >= 400, "{handled}");
            assert_eq!(totals, [handled; 2]);
            assert_eq!(targets.semaphore.count(), handled);
        },
    );
}
