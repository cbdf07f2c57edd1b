//! What a waiter may spend on spinning: a token bucket, filled with a share of the time that passes.

/// It holds the share of so much time, and is full at first: learning costs more than knowing.
pub(super) const WINDOW: f64 = 200e6;

/// Tokens left over are spent in about so many periods.
const PACE: f64 = 32.0;

#[derive(Clone, Debug)]
pub(super) struct Budget {
    share: f64,
    tokens: f64,
    /// When it was filled last; `None` before the first time.
    filled: Option<f64>,
}

impl Budget {
    pub(super) fn new(share: f64) -> Self {
        Budget { share, tokens: WINDOW * share, filled: None }
    }

    /// How long spinning may last now.
    pub(super) fn left(&mut self, now: f64) -> f64 {
        let passed = self.filled.map_or(0.0, |then| (now - then).max(0.0));
        self.filled = Some(now);
        self.tokens = (self.tokens + passed * self.share).min(WINDOW * self.share);
        self.tokens.max(0.0)
    }

    /// How long spinning may last now and in every such period, so that the tokens neither run out nor pile up.
    pub(super) fn bearable(&self, period: f64) -> f64 {
        self.share * period + self.tokens.max(0.0) / PACE
    }

    pub(super) fn spend(&mut self, time: f64) {
        self.tokens -= time.max(0.0);
    }
}
