//! A thousand notifications at once, to a waiter that sleeps and to one that is busy, with the system calls counted.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::thread;
use std::time::Duration;

use crate::common::clock;
use crate::common::role::{Mechanism, Notify, Pending, Wait};
use crate::syscalls::Counter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiter {
    Asleep,
    /// Comes only when all notifications have been sent.
    Busy,
}

pub(crate) struct Outcome {
    /// Nanoseconds that a notification took the notifier.
    pub(crate) notify: f64,
    /// Nanoseconds until the waiter had taken all, for each notification.
    pub(crate) all: f64,
    /// How many times the waiter returned from its wait.
    pub(crate) wakes: u64,
    /// System calls of the notifier and of the waiter, if they can be counted.
    pub(crate) calls: Option<[u64; 2]>,
}

/// Runs twice: for the times, and then for the system calls, since counting takes time.
pub(crate) fn run<M: Mechanism>(n: u64, state: Waiter) -> Result<Outcome, String> {
    let timed = once::<M>(n, state, false)?;
    let counted = once::<M>(n, state, true)?;
    Ok(Outcome { calls: counted.calls, ..timed })
}

fn once<M: Mechanism>(n: u64, state: Waiter, count: bool) -> Result<Outcome, String> {
    let (notifier, waiter) = M::pair()?;
    let counts = M::PENDING != Pending::Merge;
    let sent = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut waiter = waiter();
            let counter = Counter::start(count);
            ready.wait();
            // Ordering: Acquire, pairs with the notifier's Release.
            while state == Waiter::Busy && !over.load(Acquire) {
                spin_loop();
            }
            let (mut taken, mut wakes, mut all) = (0, 0, false);
            let calls_before = counter.calls();
            while !all {
                taken += waiter.wait();
                wakes += 1;
                // Ordering: Relaxed; the mechanism orders it, or else this never ends.
                all = if counts { taken >= n } else { sent.load(Relaxed) >= n };
            }
            let end = clock::now();
            (end, taken, wakes, calls_between(calls_before, counter.calls()))
        });
        let notifying = scope.spawn(|| {
            let counter = Counter::start(count);
            ready.wait();
            if state == Waiter::Asleep {
                // Long enough to fall asleep; if it was not, there are fewer system calls than there could be.
                thread::sleep(Duration::from_millis(1));
            }
            let calls_before = counter.calls();
            let start = clock::now();
            for _ in 0..n {
                // Ordering: as above. A plain addition: there is one notifier.
                sent.store(sent.load(Relaxed) + 1, Relaxed);
                notifier.notify();
            }
            let elapsed = clock::now() - start;
            let calls = calls_between(calls_before, counter.calls());
            // Ordering: Release, pairs with the waiter's Acquire.
            over.store(true, Release);
            (start, elapsed, calls)
        });
        let (start, elapsed, notifier_calls) = notifying.join().map_err(|_| "the notifier panicked")?;
        let (end, taken, wakes, waiter_calls) = waiting.join().map_err(|_| "the waiter panicked")?;
        if counts && taken != n {
            return Err(format!("{taken} notifications taken, {n} sent"));
        }
        Ok(Outcome {
            notify: elapsed as f64 / n as f64,
            all: end.saturating_sub(start) as f64 / n as f64,
            wakes,
            calls: notifier_calls.zip(waiter_calls).map(<[u64; 2]>::from),
        })
    })
}

/// The second look at the counter is a system call itself.
fn calls_between(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after? - before? - 1)
}
