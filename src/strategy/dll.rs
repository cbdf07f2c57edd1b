//! A delay-locked loop: the phase and period of events that come with jitter.
//!
//! Second order, after F. Adriaensen, "Using a DLL to filter time" (Linux Audio Conference 2005): with the error e of a
//! prediction, the next one is advanced by the period and b·e, and the period by c·e, where ω = 2π·B·T, b = √2·ω and
//! c = ω². The bandwidth B is relative to the events' own rate here, so ω is the same whatever the period.
//!
//! Where only a bound of an event's time is known, and the expected time violates it, the difference is its error: the
//! least that it can have been.
//!
//! Times are nanoseconds since an epoch that the caller keeps; an `f64` holds them exactly for 104 days.

/// B·T while little is known: half the phase error is gone after about 4 events.
const WIDE: f64 = 0.1;
/// B·T in the steady state: jitter is averaged over about 30 events, and a drift of 100 ppm costs less than 0.1 % of a
/// period.
const NARROW: f64 = 0.015;
/// Events until the bandwidth is narrow.
const SETTLING: u32 = 16;

#[derive(Clone, Debug)]
pub(super) struct Dll {
    next: f64,
    period: f64,
    events: u32,
}

impl Dll {
    /// The first event is expected one period after `last`.
    pub(super) fn new(last: f64, period: f64) -> Self {
        Dll { next: last + period, period, events: 0 }
    }

    /// When the next event is expected.
    pub(super) fn next(&self) -> f64 {
        self.next
    }

    pub(super) fn period(&self) -> f64 {
        self.period
    }

    /// The event of the period nearest to `at` came at that moment. Returns how late it was, in [-T/2, T/2].
    pub(super) fn event(&mut self, at: f64) -> f64 {
        let error = self.align(at);
        self.steer(error);
        self.events = self.events.saturating_add(1);
        error
    }

    /// An event came no later than `at`: steers the loop as far as it was expected later.
    pub(super) fn no_later_than(&mut self, at: f64) {
        let error = self.align(at).min(0.0);
        self.steer(error);
    }

    /// An event was seen at `at`, and came no earlier than `least`: the same in the other direction. If it was that of a
    /// later period, nothing is known about its moment.
    pub(super) fn no_earlier_than(&mut self, least: f64, at: f64) {
        let error = least - self.next;
        let expected = self.next;
        self.align(at);
        let is_of_later = self.next > expected;
        self.steer(if is_of_later { 0.0 } else { error.max(0.0) });
    }

    /// Whatever came before `at` came: the next event to expect is the first after it.
    pub(super) fn skip_to(&mut self, at: f64) {
        let periods = ((at - self.next) / self.period).ceil().max(0.0);
        self.next += periods * self.period;
    }

    fn steer(&mut self, error: f64) {
        let omega = self.omega();
        self.next += std::f64::consts::SQRT_2 * omega * error + self.period;
        self.period += omega * omega * error;
    }

    fn omega(&self) -> f64 {
        let settled = f64::from(self.events.min(SETTLING)) / f64::from(SETTLING);
        std::f64::consts::TAU * (WIDE + (NARROW - WIDE) * settled)
    }

    /// Makes `next` the expectation nearest to `at`, and returns the error.
    fn align(&mut self, at: f64) -> f64 {
        let error = at - self.next;
        let periods = (error / self.period).round();
        self.next += periods * self.period;
        error - periods * self.period
    }
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_loop_converges_on_phase_and_period() {
        let mut dll = Dll::new(0.0, 1_000_000.0);
        let (first, period) = (900_000.0, 1_003_000.0);
        let mut error = f64::INFINITY;
        for n in 0..400 {
            error = dll.event(first + f64::from(n) * period);
        }
        assert!(error.abs() < 100.0, "{error}");
        assert!((dll.period() - period).abs() < 10.0, "{}", dll.period());
    }

    #[test]
    fn bounds_that_are_violated_correct_phase_and_period_and_others_nothing() {
        let mut dll = Dll::new(0.0, 1000.0);
        dll.no_later_than(900.0);
        assert!(dll.next() < 2000.0 && dll.period() < 1000.0);
        let mut dll = Dll::new(0.0, 1000.0);
        dll.no_earlier_than(1100.0, 1150.0);
        assert!(dll.next() > 2000.0 && dll.period() > 1000.0);
        let mut dll = Dll::new(0.0, 1000.0);
        dll.no_later_than(1100.0);
        dll.no_earlier_than(1900.0, 2150.0);
        assert_eq!((dll.next(), dll.period()), (3000.0, 1000.0));
    }

    #[test]
    fn missing_events_do_not_shift_the_phase() {
        let mut dll = Dll::new(0.0, 1000.0);
        for n in 1..100 {
            assert!(dll.event(f64::from(n) * 1000.0).abs() < 1e-6);
        }
        assert!(dll.event(150_000.0).abs() < 1e-6);
        assert!((dll.next() - 151_000.0).abs() < 1e-6);
    }
}
