//! What nothing can be better than: the instruction, the system call and the context switch that others are made of.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::thread;

use rustix::process::getppid;
use rustix::thread::sched_yield;

use crate::common::clock;
use crate::common::ping_pong::Placement;

/// Nanoseconds of an addition that others can see.
pub(crate) fn fetch_add(n: u64) -> f64 {
    let word = AtomicU32::new(0);
    each(n, || {
        // Ordering: that of a notification.
        black_box(&word).fetch_add(1, AcqRel);
    })
}

/// Nanoseconds of a system call that does next to nothing.
pub(crate) fn system_call(n: u64) -> f64 {
    each(n, || {
        black_box(getppid());
    })
}

/// Nanoseconds of a look at the clock: what it adds to a time that is taken by two.
pub(crate) fn clock(n: u64) -> f64 {
    each(n, || {
        black_box(clock::now());
    })
}

fn each(n: u64, mut f: impl FnMut()) -> f64 {
    let start = clock::now();
    for _ in 0..n {
        f();
    }
    (clock::now() - start) as f64 / n as f64
}

/// Nanoseconds of a round trip between two threads that do nothing but leave the CPU to each other.
pub(crate) fn yielding(trips: u64, placement: Placement) -> Result<f64, String> {
    placement.check()?;
    let turn = AtomicU64::new(0);
    let play = |side: u64| {
        let turn = &turn;
        move || {
            placement.take(usize::from(side == 1))?;
            let start = clock::now();
            for trip in 0..trips {
                // Ordering: Acquire and Release: they take turns.
                while turn.load(Acquire) != 2 * trip + side {
                    sched_yield();
                }
                turn.store(2 * trip + side + 1, Release);
            }
            Ok::<_, String>(clock::now() - start)
        }
    };
    thread::scope(|scope| {
        let far = scope.spawn(play(1));
        let near = scope.spawn(play(0));
        far.join().map_err(|_| "a thread panicked")??;
        let elapsed = near.join().map_err(|_| "a thread panicked")??;
        Ok(elapsed as f64 / trips as f64)
    })
}
