//! From the times of another clock to those of the standard library.

use std::time::{Duration, Instant};

/// Both clocks at one moment. They must run at the same rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBase {
    instant: Instant,
    nanos: u64,
}

const READINGS: u32 = 10;

impl TimeBase {
    /// Reads both clocks: the other one, in nanoseconds, between two readings of the own one that are as close together
    /// as they get.
    pub(crate) fn read(other: impl Fn() -> u64) -> TimeBase {
        let reading = || {
            let before = Instant::now();
            let nanos = other();
            let gap = before.elapsed();
            (gap, TimeBase { instant: before + gap / 2, nanos })
        };
        let first = reading();
        let closest = |best: (Duration, TimeBase), next: (Duration, TimeBase)| {
            if next.0 < best.0 { next } else { best }
        };
        (1..READINGS).map(|_| reading()).fold(first, closest).1
    }

    /// A time of the other clock; `None` if no [`Instant`] can hold it. Realtime-safe.
    pub(crate) fn instant(&self, nanos: u64) -> Option<Instant> {
        let ahead = Duration::from_nanos(nanos.saturating_sub(self.nanos));
        let behind = Duration::from_nanos(self.nanos.saturating_sub(nanos));
        self.instant.checked_add(ahead)?.checked_sub(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_other_clock_is_between_the_readings_around_it() {
        let started = Instant::now();
        let other = || u64::try_from(started.elapsed().as_nanos()).unwrap() + 5_000_000_000;
        let base = TimeBase::read(other);
        let before = Instant::now();
        let instant = base.instant(other()).unwrap();
        let after = Instant::now();
        // The readings for the base were no moment apart, but not at the same one.
        let slack = Duration::from_millis(50);
        assert!(before - slack <= instant && instant <= after + slack);
        let later = base.instant(other() + 1_000_000).unwrap();
        assert!(later >= instant + Duration::from_millis(1));
    }

    #[test]
    fn a_time_before_the_base_is_before_its_instant() {
        let base = TimeBase { instant: Instant::now() + Duration::from_secs(1), nanos: 1_000 };
        assert_eq!(base.instant(400), base.instant.checked_sub(Duration::from_nanos(600)));
    }
}
