//! Several threads that notify one waiter as fast as they can.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crate::common::clock;
use crate::common::role::{Mechanism, Notify, Pending, Wait};

/// Nanoseconds for each notification, all threads together, until the waiter has taken the last one.
pub(crate) fn run<M: Mechanism>(threads: u64, total: u64) -> Result<f64, String> {
    let (notifier, waiter) = M::pair()?;
    let each = total / threads;
    let total = each * threads;
    let counts = M::PENDING != Pending::Merge;
    let over = AtomicBool::new(false);
    let ready = Barrier::new(usize::try_from(threads).expect("a number of threads") + 1);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut waiter = waiter();
            ready.wait();
            let mut taken = 0;
            // Ordering: Relaxed; a notification follows, and orders it.
            while if counts { taken < total } else { !over.load(Relaxed) } {
                taken += waiter.wait();
            }
            (clock::now(), taken)
        });
        let notify = || {
            ready.wait();
            let start = clock::now();
            for _ in 0..each {
                notifier.notify();
            }
            start
        };
        let notifying: Vec<_> = (0..threads).map(|_| scope.spawn(notify)).collect();
        let starts: Vec<_> = notifying.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // Ordering: Relaxed; as above.
        over.store(true, Relaxed);
        if !counts {
            notifier.notify();
        }
        let (end, taken) = waiting.join().map_err(|_| "the waiter panicked")?;
        if counts && taken != total {
            return Err(format!("{taken} notifications taken, {total} sent"));
        }
        let start = starts.into_iter().flatten().min().unwrap_or(end);
        Ok(end.saturating_sub(start) as f64 / total as f64)
    })
}
