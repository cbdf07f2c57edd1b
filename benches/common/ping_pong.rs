//! Two threads that wake each other in turn.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use super::clock;
use super::cpu::{self, Priority};
use super::role::{Mechanism, Notify, Wait};

/// Where and how the two threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) cpus: [Option<usize>; 2],
    pub(crate) priority: Priority,
}

impl Placement {
    pub(crate) const ANYWHERE: Placement = Placement { cpus: [None, None], priority: Priority::Inherit };

    pub(crate) fn take(self, side: usize) -> Result<(), String> {
        self.cpus[side].map_or(Ok(()), cpu::pin)?;
        self.priority.apply()
    }

    /// Whether threads may run so: an error before either of them waits for the other.
    pub(crate) fn check(self) -> Result<(), String> {
        thread::spawn(move || self.take(0).and(self.take(1))).join().map_err(|_| "a thread panicked")?
    }
}

/// Plays, and returns the nanoseconds of a round trip: two wake-ups.
///
/// Each side looks whether what the other wrote before its notification is there after the wait: a wake-up that
/// comes early, twice, or without its data is an error. (One that never comes is a hang, for the caller's watchdog.)
pub(crate) fn play<M: Mechanism>(trips: u64, placement: Placement) -> Result<f64, String> {
    placement.check()?;
    let (to_pong, pong) = M::pair()?;
    let (to_ping, ping) = M::pair()?;
    let ball = AtomicU64::new(0);
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        let far = scope.spawn(|| {
            placement.take(1)?;
            let mut pong = pong();
            ready.wait();
            let mut wrong = 0;
            for trip in 0..trips {
                let taken = pong.wait();
                // Ordering: Relaxed; whether the mechanism orders it is what is being looked at.
                let seen = ball.load(Relaxed);
                wrong += u64::from(taken != 1 || seen != 2 * trip + 1);
                ball.store(2 * trip + 2, Relaxed);
                to_ping.notify();
            }
            Ok::<_, String>(wrong)
        });
        let near = scope.spawn(|| {
            placement.take(0)?;
            let mut ping = ping();
            ready.wait();
            let mut wrong = 0;
            let start = clock::now();
            for trip in 0..trips {
                // Ordering: as above.
                ball.store(2 * trip + 1, Relaxed);
                to_pong.notify();
                let taken = ping.wait();
                let seen = ball.load(Relaxed);
                wrong += u64::from(taken != 1 || seen != 2 * trip + 2);
            }
            Ok::<_, String>((clock::now() - start, wrong))
        });
        let (elapsed, near_wrong) = near.join().map_err(|_| "ping panicked")??;
        match far.join().map_err(|_| "pong panicked")?? + near_wrong {
            0 => Ok(elapsed as f64 / trips as f64),
            wrong => Err(format!("{wrong} of {} wake-ups were not for a notification", 2 * trips)),
        }
    })
}
