//! Threads that take one lock again and again, and add to a number under it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use crate::common::clock;
use crate::locks::Lock;

/// Nanoseconds for each time that the lock was taken, all threads together.
pub(crate) fn run<L: Lock>(threads: u64, each: u64) -> Result<f64, String> {
    let lock = L::new();
    let number = AtomicU64::new(0);
    let ready = Barrier::new(usize::try_from(threads).expect("a number of threads"));
    thread::scope(|scope| {
        let work = || {
            ready.wait();
            let start = clock::now();
            for _ in 0..each {
                // Ordering: Relaxed, a plain load and store; the lock orders them, or else additions are lost.
                lock.locked(|| number.store(number.load(Relaxed) + 1, Relaxed));
            }
            (start, clock::now())
        };
        let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let (mut start, mut end) = (u64::MAX, 0);
        for thread in working {
            let times = thread.join().map_err(|_| "a thread panicked")?;
            (start, end) = (start.min(times.0), end.max(times.1));
        }
        match number.load(Relaxed) {
            sum if sum == threads * each => Ok((end - start) as f64 / sum as f64),
            sum => Err(format!("{sum} additions, {} made: it does not exclude", threads * each)),
        }
    })
}
