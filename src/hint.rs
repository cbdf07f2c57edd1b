//! When the next notification is expected, as announced by the notifier's side.

use std::time::Instant;

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;

/// The unit of an announcement, in nanoseconds: a count of them since the epoch, modulo 2^32 (18 minutes), fits an
/// atomic that every target has.
const UNIT: u32 = 256;
const UNITS_PER_SECOND: u32 = 1_000_000_000 / UNIT;

/// An announcement, and the epoch of the waiter's clock.
pub(crate) struct Hint {
    epoch: Instant,
    /// 0 before the first.
    at: AtomicU32,
}

impl Hint {
    pub(crate) fn new() -> Self {
        Hint { epoch: Instant::now(), at: AtomicU32::new(0) }
    }

    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Realtime-safe: one store.
    #[inline]
    pub(crate) fn announce(&self, at: Instant) {
        let since = at.saturating_duration_since(self.epoch);
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
        let seconds = since.as_secs() as u32;
        let units = seconds.wrapping_mul(UNITS_PER_SECOND).wrapping_add(since.subsec_nanos() / UNIT);
        // Ordering: Relaxed; a hint, and nothing is read on the strength of it.
        self.at.store(units | 1, Relaxed);
    }

    /// The last announcement, in nanoseconds since the epoch, taken as the nearest to `now`.
    pub(crate) fn nearest(&self, now: f64) -> Option<f64> {
        // Ordering: Relaxed, as above.
        let at = self.at.load(Relaxed);
        if at == 0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2^32")]
        let now_units = (now / f64::from(UNIT)) as u64 as u32;
        #[expect(clippy::cast_possible_wrap, reason = "what is behind is negative")]
        let ahead = at.wrapping_sub(now_units) as i32;
        Some(now + f64::from(ahead) * f64::from(UNIT))
    }
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_announcement_is_read_back_to_the_unit_whatever_the_uptime() {
        let hint = Hint::new();
        assert_eq!(hint.nearest(0.0), None);
        for seconds in [0.0, 0.001, 1.0, 549.0, 1100.0, 5000.0, 1e7] {
            let now = seconds * 1e9;
            let at = hint.epoch + Duration::from_secs_f64(seconds + 0.0013);
            hint.announce(at);
            let read = hint.nearest(now).unwrap();
            assert!((read - now - 1.3e6).abs() <= 2.0 * f64::from(UNIT), "{seconds}: {}", read - now);
        }
    }
}
