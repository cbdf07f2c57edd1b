//! How long the notifying thread is held up, by what the waiter is doing.

use std::fs::File;
use std::hint::spin_loop;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Release};
use std::thread;

use rustix::thread::gettid;

use super::clock;
use super::cpu;
use super::role::{Mechanism, Notify, Pending, Wait};

/// What the waiter is doing when it is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// It is busy on another CPU, and nothing is pending.
    Awake,
    /// It sleeps in the kernel.
    Asleep,
}

/// Where the notifier and the waiter run, if they are to be kept there.
pub(crate) type Cpus = [Option<usize>; 2];

/// Notifications before a waiter that has not come yet, in nanoseconds each: an average over `batch` at once.
pub(crate) fn pending<M: Mechanism>(batch: u32) -> Result<f64, String> {
    let (notifier, waiter) = M::pair()?;
    let batch = u64::from(batch.min(M::CAPACITY - 1));
    thread::scope(|scope| {
        let measured = scope.spawn(|| {
            let mut waiter = waiter();
            // The first may do more than the others.
            notifier.notify();
            let start = clock::now();
            for _ in 0..batch {
                notifier.notify();
            }
            let elapsed = clock::now() - start;
            let mut left = batch + 1;
            while left > 0 {
                let taken = waiter.wait();
                left = if M::PENDING == Pending::Merge { 0 } else { left.saturating_sub(taken) };
            }
            elapsed as f64 / batch as f64
        });
        measured.join().map_err(|_| "the notifier panicked".into())
    })
}

/// What `single` is, for a mechanism.
pub(crate) type Single = fn(u64, Waiter, Cpus) -> Result<Vec<u64>, String>;

/// Single notifications, in nanoseconds each, with what reading the clock adds.
pub(crate) fn single<M: Mechanism>(n: u64, state: Waiter, cpus: Cpus) -> Result<Vec<u64>, String> {
    let (notifier, waiter) = M::pair()?;
    let turn = AtomicU64::new(0);
    let free = AtomicU64::new(0);
    let id = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Where the CPU cannot be had, the scheduler chooses.
            let _ = cpus[1].map(cpu::pin);
            // Ordering: Release, pairs with the Acquire in `sleeper`.
            id.store(gettid().as_raw_nonzero().get().unsigned_abs(), Release);
            let mut waiter = waiter();
            let mut taken = 0;
            for i in 1..=n {
                // Ordering: Release and Acquire, here and below: the two threads take turns.
                turn.store(i, Release);
                while state == Waiter::Awake && free.load(Acquire) < i {
                    spin_loop();
                }
                while taken < i {
                    taken += waiter.wait();
                }
            }
        });
        let notifying = scope.spawn(|| {
            let _ = cpus[0].map(cpu::pin);
            let mut took = Vec::new();
            for i in 1..=n {
                while turn.load(Acquire) < i {
                    spin_loop();
                }
                if state == Waiter::Asleep {
                    until_asleep(&id);
                }
                let start = clock::now();
                notifier.notify();
                took.push(clock::now() - start);
                free.store(i, Release);
            }
            took
        });
        notifying.join().map_err(|_| "the notifier panicked".into())
    })
}

/// Returns once the kernel says that the thread sleeps.
fn until_asleep(id: &AtomicU32) {
    let id = loop {
        match id.load(Acquire) {
            0 => spin_loop(),
            id => break id,
        }
    };
    let Ok(stat) = File::open(format!("/proc/self/task/{id}/stat")) else { return };
    loop {
        let mut text = [0; 64];
        let n = stat.read_at(&mut text, 0).unwrap_or(0);
        // "id (name) state ..."; the name is this program's, without parentheses.
        if text[..n].windows(4).any(|part| part == b") S ") {
            return;
        }
    }
}
