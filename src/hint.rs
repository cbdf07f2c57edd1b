//! When the next notification is expected, as announced by the notifier's side.

use std::time::Instant;

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;

/// The unit of an announcement, in nanoseconds: a count of them since the epoch, modulo 2^32 (18 minutes), fits an
/// atomic that every target has.
const UNIT: u32 = 256;
const UNITS_PER_SECOND: u32 = 1_000_000_000 / UNIT;

/// An announcement that is farther ahead is an old one: the count has come round since.
const HORIZON: f64 = 10e9;

/// What a waiter remembers of the announcements it has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    units: u32,
    /// When it was read first.
    since: f64,
}

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

    /// The moment that was announced last, in nanoseconds since the epoch. `None` if that was long ago: a notifier that
    /// announces no more must not be believed again whenever the count comes round.
    pub(crate) fn latest(&self, now: f64, heard: &mut Heard) -> Option<f64> {
        // Ordering: Relaxed, as above.
        let at = self.at.load(Relaxed);
        if at == 0 {
            return None;
        }
        if heard.units != at {
            *heard = Heard { units: at, since: now };
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2^32")]
        let now_units = (now / f64::from(UNIT)) as u64 as u32;
        #[expect(clippy::cast_possible_wrap, reason = "what is behind is negative")]
        let ahead = f64::from(at.wrapping_sub(now_units) as i32) * f64::from(UNIT);
        (ahead <= HORIZON && now - heard.since <= HORIZON).then_some(now + ahead)
    }
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: f64 = 1e9;

    #[test]
    fn an_announcement_is_read_back_to_the_unit_whatever_the_uptime() {
        let hint = Hint::new();
        assert_eq!(hint.latest(0.0, &mut Heard::default()), None);
        for seconds in [0.0, 0.001, 1.0, 549.0, 1100.0, 5000.0, 1e7] {
            let now = seconds * SECOND;
            let at = hint.epoch + Duration::from_secs_f64(seconds + 0.0013);
            hint.announce(at);
            let read = hint.latest(now, &mut Heard::default()).unwrap();
            assert!((read - now - 1.3e6).abs() <= 2.0 * f64::from(UNIT), "{seconds}: {}", read - now);
        }
    }

    #[test]
    fn an_old_announcement_does_not_come_back_when_the_count_comes_round() {
        let hint = Hint::new();
        hint.announce(hint.epoch + Duration::from_secs(5));
        let mut heard = Heard::default();
        assert!(hint.latest(4.0 * SECOND, &mut heard).is_some());
        for second in 15..3000 {
            assert_eq!(hint.latest(f64::from(second) * SECOND, &mut heard), None, "after {second} s");
        }
    }

    #[test]
    fn what_is_announced_for_a_far_time_is_not_heard() {
        let hint = Hint::new();
        for ahead in [Duration::from_secs(11), Duration::from_secs(500)] {
            hint.announce(hint.epoch + ahead);
            assert_eq!(hint.latest(0.0, &mut Heard::default()), None);
        }
    }
}
