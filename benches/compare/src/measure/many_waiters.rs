//! Several threads that wait for the permits of one semaphore.

use std::sync::Barrier;
use std::thread;

use crate::common::clock;
use crate::permits::Permits;

/// Nanoseconds for each permit, until the last one has been taken.
pub(crate) fn run<P: Permits>(threads: u64, total: u64) -> Result<f64, String> {
    let permits = P::new()?;
    let each = total / threads;
    let ready = Barrier::new(usize::try_from(threads).expect("a number of threads") + 1);
    thread::scope(|scope| {
        let wait = || {
            ready.wait();
            for _ in 0..each {
                permits.wait();
            }
        };
        let waiting: Vec<_> = (0..threads).map(|_| scope.spawn(wait)).collect();
        ready.wait();
        let start = clock::now();
        for _ in 0..each * threads {
            permits.post();
        }
        for thread in waiting {
            thread.join().map_err(|_| "a waiter panicked")?;
        }
        Ok((clock::now() - start) as f64 / (each * threads) as f64)
    })
}
