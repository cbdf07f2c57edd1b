//! A notification and its wait, on one thread: nobody sleeps, nobody is woken.

use std::thread;

use crate::common::clock;
use crate::common::role::{Mechanism, Notify, Wait};

/// Nanoseconds of a notification and its wait.
pub(crate) fn run<M: Mechanism<Notifier: 'static>>(n: u64) -> Result<f64, String> {
    let (notifier, waiter) = M::pair()?;
    let measured = thread::spawn(move || {
        let mut waiter = waiter();
        let mut taken = 0;
        let start = clock::now();
        for _ in 0..n {
            notifier.notify();
            taken += waiter.wait();
        }
        (clock::now() - start, taken)
    });
    match measured.join().map_err(|_| "a thread panicked")? {
        (elapsed, taken) if taken == n => Ok(elapsed as f64 / n as f64),
        (_, taken) => Err(format!("{taken} notifications taken, {n} sent")),
    }
}
