//! How early to wake, and how long to look on: a high quantile of what would have been enough, learnt and slowly
//! forgotten.

/// What was needed this time raises the quantile by half of the difference, and a time that needed less lowers it by so
/// much: in the end it is exceeded about once in 500 times.
const FORGET: f64 = 1.0 / 512.0;
/// A miss says only that the margin was too narrow.
const WIDEN: f64 = 1.25;
/// Samples before the quantile is trusted.
const FIRST: u32 = 8;

#[derive(Clone, Debug)]
pub(super) struct Margin {
    least: f64,
    most: f64,
    quantile: f64,
    samples: u32,
}

impl Margin {
    pub(super) fn new(least: f64, most: f64) -> Self {
        Margin { least, most: most.max(least), quantile: 0.0, samples: 0 }
    }

    pub(super) fn least(&self) -> f64 {
        self.least
    }

    pub(super) fn get(&self) -> f64 {
        if self.samples < FIRST {
            // What is not known yet may be large.
            return self.most;
        }
        // A little more than the quantile, which is of the past.
        (self.quantile * 1.1 + 3_000.0).clamp(self.least, self.most)
    }

    /// So much would have been enough this time. Less than nothing is nothing.
    pub(super) fn needed(&mut self, time: f64) {
        let time = time.max(0.0);
        let above = time - self.quantile;
        self.quantile = match () {
            () if self.samples < FIRST => self.quantile.max(time),
            () if above > 0.0 => self.quantile + above / 2.0,
            () => self.quantile * (1.0 - FORGET),
        }
        // One preemption of milliseconds is not to be remembered for minutes.
        .min(self.most);
        self.samples = self.samples.saturating_add(1);
    }

    /// So much was not enough.
    pub(super) fn missed(&mut self, time: f64) {
        self.quantile = self.quantile.max(time * WIDEN).min(self.most);
    }

    /// What was learnt no longer holds.
    pub(super) fn reset(&mut self) {
        self.quantile = 0.0;
        self.samples = 0;
    }
}
