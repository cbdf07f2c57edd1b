//! JACK's frame time: what it tells about callbacks that did not come.
//!
//! It counts the periods that the server has run, with or without this client. When the server itself stalls, JACK 2
//! reports an xrun, and lets its frame time stand still: what went by meanwhile, nobody has counted.

/// Follows the frame times of consecutive periods.
#[derive(Debug, Default)]
pub(crate) struct FrameClock {
    /// When the next period begins, if none is left out.
    next: Option<u32>,
}

impl FrameClock {
    /// A period of `frames` frames begins at `time`. How many frames are missing between it and the one before?
    pub(crate) fn missing(&mut self, time: u32, frames: u32) -> u32 {
        let missing = self.next.map_or(0, |next| ahead(next, time));
        self.next = Some(time.wrapping_add(frames));
        missing
    }
}

/// By how much `time` is later than `expected`; 0 if it is earlier.
///
/// Frame times wrap at 2^32, after a day at 48 kHz: what seems to be more than half of that ahead, is behind.
pub(crate) fn ahead(expected: u32, time: u32) -> u32 {
    let difference = time.wrapping_sub(expected);
    if difference > u32::MAX / 2 { 0 } else { difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing_between(first: u32, frames: u32, second: u32) -> u32 {
        let mut clock = FrameClock::default();
        assert_eq!(clock.missing(first, frames), 0, "nothing is known to be missing before the first");
        clock.missing(second, 64)
    }

    #[test]
    fn a_period_that_follows_on_misses_nothing() {
        assert_eq!(missing_between(1_000, 64, 1_064), 0);
        assert_eq!(missing_between(1_000, 1_024, 2_024), 0, "whatever its length");
    }

    #[test]
    fn a_jump_is_counted_in_frames() {
        assert_eq!(missing_between(1_000, 64, 1_064 + 640), 640);
        assert_eq!(missing_between(1_000, 64, 1_065), 1);
    }

    #[test]
    fn the_wrap_at_32_bits_is_no_jump() {
        assert_eq!(missing_between(u32::MAX - 63, 64, 0), 0);
        assert_eq!(missing_between(u32::MAX - 9, 64, 54), 0);
    }

    #[test]
    fn a_jump_across_the_wrap_is_counted() {
        assert_eq!(missing_between(u32::MAX - 63, 64, 128), 128);
        assert_eq!(missing_between(u32::MAX - 127, 64, 0), 64);
    }

    #[test]
    fn a_time_that_goes_back_misses_nothing() {
        assert_eq!(missing_between(1_000, 64, 1_000), 0);
        assert_eq!(missing_between(1_000, 64, 0), 0);
        assert_eq!(missing_between(10, 64, u32::MAX - 10), 0, "also across the wrap");
    }

    #[test]
    fn each_jump_is_counted_once() {
        let mut clock = FrameClock::default();
        let missing: Vec<_> = [0, 64, 256, 320].map(|time| clock.missing(time, 64)).into();
        assert_eq!(missing, [0, 0, 128, 0]);
    }
}
