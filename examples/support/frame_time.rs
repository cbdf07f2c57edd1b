//! JACK's frame time: what it tells about callbacks that did not come.
//!
//! It counts the periods that the server has run, with or without this client. When the server itself stalls, JACK 2
//! reports an xrun, and lets its frame time stand still: what went by meanwhile, nobody has counted.

/// When a period begins, in frames, and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) time: u32,
    pub(crate) frames: u32,
}

impl Period {
    /// How many frames are missing between the period `before` and this one?
    ///
    /// Its time is that of the one before plus a period's length. Where the length changes, `PipeWire` adds the old one
    /// and JACK 2 the new one. The later of the two is taken: no frames are invented, at the price that a jump in
    /// just this moment counts for less by the difference of the lengths.
    pub(crate) fn missing_since(self, before: Period) -> u32 {
        ahead(before.time.wrapping_add(before.frames.max(self.frames)), self.time)
    }
}

/// Follows consecutive periods.
#[derive(Debug, Default)]
pub(crate) struct FrameClock {
    last: Option<Period>,
}

impl FrameClock {
    /// A period begins. How many frames are missing between it and the one before?
    pub(crate) fn missing(&mut self, period: Period) -> u32 {
        self.last.replace(period).map_or(0, |last| period.missing_since(last))
    }
}

/// By how much `time` is later than `expected`; 0 if it is earlier.
///
/// Frame times wrap at 2^32, after a day at 48 kHz: what seems to be more than half of that ahead, is behind.
fn ahead(expected: u32, time: u32) -> u32 {
    let difference = time.wrapping_sub(expected);
    if difference > u32::MAX / 2 { 0 } else { difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing_between(first: (u32, u32), second: (u32, u32)) -> u32 {
        let period = |(time, frames)| Period { time, frames };
        let mut clock = FrameClock::default();
        assert_eq!(clock.missing(period(first)), 0, "nothing is known to be missing before the first");
        clock.missing(period(second))
    }

    #[test]
    fn a_period_that_follows_on_misses_nothing() {
        assert_eq!(missing_between((1_000, 64), (1_064, 64)), 0);
        assert_eq!(missing_between((1_000, 1_024), (2_024, 1_024)), 0, "whatever its length");
    }

    #[test]
    fn a_period_of_another_length_misses_nothing_whichever_length_the_server_adds() {
        for (old, new) in [(64, 1_024), (1_024, 64)] {
            assert_eq!(missing_between((1_000, old), (1_000 + old, new)), 0, "PipeWire: {old} to {new}");
            assert_eq!(missing_between((1_000, old), (1_000 + new, new)), 0, "JACK 2: {old} to {new}");
        }
    }

    #[test]
    fn a_jump_beyond_the_longer_of_two_lengths_is_counted() {
        assert_eq!(missing_between((1_000, 64), (1_000 + 1_024 + 10, 1_024)), 10);
        assert_eq!(missing_between((1_000, 1_024), (1_000 + 1_024 + 10, 64)), 10);
    }

    #[test]
    fn a_jump_is_counted_in_frames() {
        assert_eq!(missing_between((1_000, 64), (1_064 + 640, 64)), 640);
        assert_eq!(missing_between((1_000, 64), (1_065, 64)), 1);
    }

    #[test]
    fn the_wrap_at_32_bits_is_no_jump() {
        assert_eq!(missing_between((u32::MAX - 63, 64), (0, 64)), 0);
        assert_eq!(missing_between((u32::MAX - 9, 64), (54, 64)), 0);
    }

    #[test]
    fn a_jump_across_the_wrap_is_counted() {
        assert_eq!(missing_between((u32::MAX - 63, 64), (128, 64)), 128);
        assert_eq!(missing_between((u32::MAX - 127, 64), (0, 64)), 64);
    }

    #[test]
    fn a_time_that_goes_back_misses_nothing() {
        assert_eq!(missing_between((1_000, 64), (1_000, 64)), 0);
        assert_eq!(missing_between((1_000, 64), (0, 64)), 0);
        assert_eq!(missing_between((10, 64), (u32::MAX - 10, 64)), 0, "also across the wrap");
    }

    #[test]
    fn each_jump_is_counted_once() {
        let mut clock = FrameClock::default();
        let missing = [0, 64, 256, 320].map(|time| clock.missing(Period { time, frames: 64 }));
        assert_eq!(missing, [0, 0, 128, 0]);
    }
}
