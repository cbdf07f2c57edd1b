//! What a waiter may spend on being awake in time, by spinning and by waking up for it: a token bucket, filled with a
//! share of the time that passes.

/// It holds the share of so much time, and is full at first: learning costs more than knowing.
pub(super) const WINDOW: f64 = 200e6;

/// Tokens left over are spent in about so many periods.
const PACE: f64 = 32.0;

/// How fast the cost of a wake-up is learnt.
const LEARN: f64 = 1.0 / 16.0;

/// What a wait can have cost besides its sleep and its looks: interrupts, being preempted and coming back, cold caches.
/// More than that is not its own, or the thread is another one now.
const MOST_BESIDES: f64 = 50_000.0;

#[derive(Clone, Debug)]
pub(super) struct Budget {
    share: f64,
    tokens: f64,
    /// When it was filled last; `None` before the first time.
    filled: Option<f64>,
    /// Of a timed sleep, the wake-up from it, and what else the wait took.
    wake_up: f64,
    /// The last wait that spun after a timed sleep, until what it took is known.
    open: Option<Open>,
}

/// A wait whose whole cost the next one will know: asking for it at once would keep the caller from its notification.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The thread's CPU time after the sleep.
    cpu: f64,
    /// What the looks were paid with.
    looks: f64,
    /// When it ended.
    end: f64,
}

impl Open {
    /// What it took besides, given the thread's CPU time when the next one is about to sleep, which `began` then: all but
    /// the looks, and the time between the two, which is the caller's. If the caller slept then, it comes out as nothing.
    fn besides(self, cpu: f64, began: f64) -> f64 {
        (cpu - self.cpu - self.looks - (began - self.end)).clamp(0.0, MOST_BESIDES)
    }
}

impl Budget {
    pub(super) fn new(share: f64) -> Self {
        Budget { share, tokens: WINDOW * share, filled: None, wake_up: 0.0, open: None }
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

    /// A wait that `began` then slept until a moment; the thread's CPU time was `before`, and is `after`.
    pub(super) fn slept(&mut self, began: f64, before: f64, after: f64) {
        let besides = self.open.take().map_or(0.0, |open| open.besides(before, began));
        let time = after - before + besides;
        self.wake_up += LEARN * (time - self.wake_up);
        self.spend(time);
        // Unless it looks now, it has cost no more than that.
        self.open = Some(Open { cpu: after, looks: 0.0, end: began });
    }

    /// It then looked for so long, until `end`.
    pub(super) fn looked(&mut self, time: f64, end: f64) {
        self.spend(time);
        if let Some(open) = &mut self.open {
            (open.looks, open.end) = (time, end);
        }
    }

    /// A wait that does not begin with such a sleep, or does not end with its looks: what it takes stays unknown.
    pub(super) fn leave_open(&mut self) {
        self.open = None;
    }

    fn spend(&mut self, time: f64) {
        self.tokens -= time.max(0.0);
    }
}
