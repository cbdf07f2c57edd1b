//! Other work than ours: for a random share of every period.

use std::hint::spin_loop;
use std::io;
use std::thread;
use std::time::Duration;

use super::background::Background;
use super::system::now;

/// Works for times that are evenly spread from 0 to twice a share of the period. Realtime-safe.
#[derive(Debug)]
pub(crate) struct RandomLoad {
    percent: u32,
    random: u64,
}

impl RandomLoad {
    pub(crate) fn new(percent: u32) -> Self {
        RandomLoad { percent, random: now() | 1 }
    }

    /// One period's work. `period` is in nanoseconds.
    pub(crate) fn work(&mut self, period: u64) {
        work_for(self.draw(period));
    }

    fn draw(&mut self, period: u64) -> u64 {
        // Marsaglia's xorshift: more than random enough.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let most = period.saturating_mul(u64::from(2 * self.percent)) / 100;
        self.random % (most + 1)
    }
}

/// Works for so many nanoseconds. Realtime-safe.
pub(crate) fn work_for(nanos: u64) {
    let until = now().saturating_add(nanos);
    while now() < until {
        spin_loop();
    }
}

/// A thread of ordinary priority that does it once per period.
pub(crate) fn start_thread(mut load: RandomLoad, period: u64) -> io::Result<Background> {
    Background::start("load", move || {
        move || {
            let next = now().saturating_add(period);
            load.work(period);
            thread::sleep(Duration::from_nanos(next.saturating_sub(now())));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_spread_around_the_share() {
        let mut load = RandomLoad::new(30);
        let times: Vec<u64> = (0..10_000).map(|_| load.draw(1_000_000)).collect();
        assert!(times.iter().all(|time| *time <= 600_000));
        let mean = times.iter().sum::<u64>() / 10_000;
        assert!((280_000..320_000).contains(&mean), "{mean}");
    }
}
