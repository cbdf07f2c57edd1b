//! The arithmetic: stamps, schedules, gaps and distributions.

#[path = "../support/frame_time.rs"]
#[allow(dead_code, reason = "the recorder uses the rest")]
mod frame_time;

pub(crate) use frame_time::Period;
use hdrhistogram::Histogram;

/// Longer times count as this one. No run that is watched has a longer one.
const LONGEST: u64 = 3_600_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// One stamp from the two halves of a kernel time. A negative one, which the monotonic clock never gives, becomes 0:
/// it then shows as an impossible latency instead of ending the audio thread.
pub(crate) fn stamp(seconds: i64, nanos: i64) -> u64 {
    let half = |value: i64| u64::try_from(value).unwrap_or(0);
    half(seconds).saturating_mul(NANOS_PER_SECOND).saturating_add(half(nanos))
}

/// The two halves of a kernel time from one stamp.
pub(crate) fn timespec(stamp: u64) -> (i64, i64) {
    let half = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    (half(stamp / NANOS_PER_SECOND), half(stamp % NANOS_PER_SECOND))
}

/// An absolute schedule: it does not drift, and a late callback does not move those after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) start: u64,
    pub(crate) period: u32,
    pub(crate) rate: u32,
}

impl Schedule {
    /// When callback `number` is due.
    pub(crate) fn due(&self, number: u64) -> u64 {
        let offset = u128::from(number) * u128::from(self.period) * u128::from(NANOS_PER_SECOND)
            / u128::from(self.rate);
        self.start.saturating_add(u64::try_from(offset).unwrap_or(u64::MAX))
    }

    /// How many callbacks are due in `seconds`.
    pub(crate) fn callbacks_in(&self, seconds: u32) -> u64 {
        u64::from(seconds) * u64::from(self.rate) / u64::from(self.period)
    }
}

/// How many whole periods the server skipped between two callbacks in a row.
#[cfg_attr(not(feature = "jack"), allow(dead_code, reason = "only JACK has frame times"))]
pub(crate) fn missed_periods(before: Period, now: Period) -> u64 {
    now.missing_since(before).checked_div(now.frames).unwrap_or(0).into()
}

/// A distribution of times. Those that would be negative are counted, never recorded.
#[derive(Debug)]
pub(crate) struct Times {
    histogram: Histogram<u64>,
    impossible: u64,
}

impl Times {
    /// Allocates all it will ever need.
    pub(crate) fn new() -> Result<Self, String> {
        let histogram = Histogram::new_with_bounds(1, LONGEST, 3).map_err(|error| error.to_string())?;
        Ok(Times { histogram, impossible: 0 })
    }

    pub(crate) fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos);
    }

    pub(crate) fn record_between(&mut self, from: u64, to: u64) {
        match to.checked_sub(from) {
            Some(nanos) => self.record(nanos),
            None => self.impossible += 1,
        }
    }

    pub(crate) fn impossible(&self) -> u64 {
        self.impossible
    }

    /// Takes in another distribution.
    pub(crate) fn merge(&mut self, other: &Times) -> Result<(), String> {
        self.impossible += other.impossible;
        self.histogram.add(&other.histogram).map_err(|error| error.to_string())
    }

    pub(crate) fn mean(&self) -> f64 {
        self.histogram.mean()
    }

    /// Shares of the sample below 1, and their quantiles in microseconds. No point stands for fewer than ten samples,
    /// but the median is always one.
    #[allow(clippy::cast_precision_loss, reason = "a plot is not that precise")]
    pub(crate) fn curve(&self) -> Vec<(f64, f64)> {
        let samples = self.histogram.len();
        let decades = (0..).map(|decade| 10u64.pow(decade));
        let one_in = decades.flat_map(|decade| [2, 3, 5, 10, 15].map(|step| step * decade));
        let mut one_in: Vec<u64> = one_in.take_while(|one_in| one_in.saturating_mul(10) <= samples).collect();
        if one_in.is_empty() && samples > 0 {
            one_in.push(2);
        }
        one_in.sort_unstable();
        one_in.dedup();
        let point = |one_in: u64| {
            let share = 1.0 - 1.0 / one_in as f64;
            (share, self.histogram.value_at_quantile(share) as f64 / 1_000.0)
        };
        one_in.into_iter().map(point).collect()
    }

    /// p50, p99, p99.9 and the maximum in nanoseconds; `None` without a single sample.
    pub(crate) fn quantiles(&self) -> Option<[u64; 4]> {
        let at = |quantile| self.histogram.value_at_quantile(quantile);
        (!self.histogram.is_empty()).then(|| [at(0.5), at(0.99), at(0.999), self.histogram.max()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_crosses_the_end_of_a_second_without_a_step() {
        assert_eq!(stamp(5, 0) - stamp(4, 999_999_999), 1);
    }

    #[test]
    fn a_stamp_crosses_two_to_the_32_nanoseconds_without_a_step() {
        // 2^32 ns = 4.294967296 s
        assert_eq!(stamp(4, 294_967_295), u64::from(u32::MAX));
        assert_eq!(stamp(4, 294_967_296) - stamp(4, 294_967_295), 1);
        let mut times = Times::new().unwrap();
        times.record_between(stamp(4, 294_967_000), stamp(4, 294_968_000));
        assert_eq!(times.quantiles(), Some([1_000; 4]));
    }

    #[test]
    fn a_stamp_of_a_century_of_uptime_is_exact() {
        assert_eq!(stamp(3_155_760_000, 1), 3_155_760_000_000_000_001);
        assert_eq!(timespec(3_155_760_000_000_000_001), (3_155_760_000, 1));
    }

    #[test]
    fn a_negative_time_is_counted_apart_and_not_recorded() {
        let mut times = Times::new().unwrap();
        times.record_between(1_000, 999);
        assert_eq!((times.impossible(), times.quantiles()), (1, None));
        times.record_between(1_000, 1_500);
        assert_eq!((times.impossible(), times.quantiles()), (1, Some([500; 4])));
    }

    #[test]
    fn a_time_beyond_the_longest_counts_as_the_longest() {
        let mut times = Times::new().unwrap();
        times.record(u64::MAX);
        let [.., max] = times.quantiles().unwrap();
        assert!(max >= LONGEST);
    }

    #[test]
    fn a_schedule_whose_period_is_no_whole_number_of_nanoseconds_does_not_drift() {
        let schedule = Schedule { start: 7, period: 64, rate: 48_000 };
        assert_eq!((schedule.due(0), schedule.due(1)), (7, 7 + 1_333_333));
        assert_eq!(schedule.due(750 * 3_600), 7 + 3_600 * NANOS_PER_SECOND);
        assert_eq!(schedule.callbacks_in(10), 7_500);
    }

    #[test]
    fn missed_periods_are_the_gaps_in_the_frame_time_also_across_its_wrap() {
        let missed = |before, now| {
            missed_periods(Period { time: before, frames: 64 }, Period { time: now, frames: 64 })
        };
        assert_eq!(missed(0, 64), 0);
        assert_eq!(missed(0, 64 * 4), 3);
        assert_eq!(missed(u32::MAX - 31, 32 + 64), 1);
        // A server that restarts its frame counter goes backwards: nothing was skipped by that.
        assert_eq!(missed(1_000, 500), 0);
    }

    #[test]
    fn a_change_of_the_period_misses_none() {
        let (short, long) = (Period { time: 1_000, frames: 64 }, Period { time: 1_256, frames: 256 });
        assert_eq!(missed_periods(short, long), 0);
        assert_eq!(missed_periods(long, Period { time: 1_256 + 64, frames: 64 }), 0);
    }

    #[test]
    fn a_curve_ends_where_ten_samples_are_left() {
        let mut times = Times::new().unwrap();
        assert_eq!(times.curve(), []);
        times.record(2_000);
        assert_eq!(times.curve(), [(0.5, 2.0)]);
        for _ in 0..999 {
            times.record(2_000);
        }
        let shares: Vec<f64> = times.curve().iter().map(|point| point.0).collect();
        assert!(shares.is_sorted() && shares.contains(&0.99) && !shares.iter().any(|&share| share > 0.99));
        assert!(times.curve().iter().all(|point| point.1 == 2.0));
    }

    #[test]
    fn merged_distributions_have_the_samples_of_both() {
        let (mut one, mut other) = (Times::new().unwrap(), Times::new().unwrap());
        one.record(100);
        other.record(300);
        other.record_between(2, 1);
        one.merge(&other).unwrap();
        assert_eq!((one.mean(), one.impossible()), (200.0, 1));
    }

    #[test]
    fn quantiles_of_a_stall_spread_over_its_length() {
        // 1 kHz for 2 s, stopped for the second half of it, measured from the intended times
        let mut times = Times::new().unwrap();
        for millis in 0..1_000 {
            times.record(10_000);
            times.record(millis * 1_000_000);
        }
        let [p50, p99, _, max] = times.quantiles().unwrap();
        assert!(p50 < 2_000_000 && (970_000_000..990_000_000).contains(&p99) && max >= 999_000_000);
    }
}
