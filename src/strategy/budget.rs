//! What a waiter may spend on being awake in time, by spinning and by waking up for it: a token bucket, filled with a
//! share of the time that passes.

/// It holds the share of so much time, and is full at first: learning costs more than knowing.
pub(super) const WINDOW: f64 = 200e6;

/// Tokens left over are spent in about so many periods.
const PACE: f64 = 32.0;

/// How fast the cost of a wake-up is learnt.
const LEARN: f64 = 1.0 / 16.0;

#[derive(Clone, Debug)]
pub(super) struct Budget {
    share: f64,
    tokens: f64,
    /// When it was filled last; `None` before the first time.
    filled: Option<f64>,
    /// Of a timed sleep and the wake-up from it.
    wake_up: f64,
}

impl Budget {
    pub(super) fn new(share: f64) -> Self {
        Budget { share, tokens: WINDOW * share, filled: None, wake_up: 0.0 }
    }

    /// How long spinning may last now.
    pub(super) fn left(&mut self, now: f64) -> f64 {
        let passed = self.filled.map_or(0.0, |then| (now - then).max(0.0));
        self.filled = Some(now);
        self.tokens = (self.tokens + passed * self.share).min(WINDOW * self.share);
        self.tokens.max(0.0)
    }

    /// How long spinning may last now and in every such period, beside one wake-up, so that the tokens neither run out
    /// nor pile up.
    pub(super) fn bearable(&self, period: f64) -> f64 {
        (self.share * period - self.wake_up).max(0.0) + self.tokens.max(0.0) / PACE
    }

    /// A timed sleep took so much CPU time.
    pub(super) fn woke_up(&mut self, time: f64) {
        self.wake_up += LEARN * (time - self.wake_up);
        self.spend(time);
    }

    pub(super) fn spend(&mut self, time: f64) {
        self.tokens -= time.max(0.0);
    }
}
