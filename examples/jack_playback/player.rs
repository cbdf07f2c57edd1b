//! The process callback's work: whole frames out of the ring, and silence where there are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rt_notify::ring::RtConsumer;

use super::frames::{self, Output};

/// Periods between the last frame and the end: until then, others may be reading it.
const LINGER: u8 = 2;

pub(crate) struct Player {
    channels: usize,
    ring: RtConsumer<f32>,
    /// Frames to go.
    left: u64,
    /// Periods to go after that.
    linger: u8,
    played: Arc<AtomicU64>,
}

impl Player {
    /// `frames`: how many the ring will have got at the end.
    pub(crate) fn new(channels: usize, ring: RtConsumer<f32>, frames: u64, played: Arc<AtomicU64>) -> Self {
        Player { channels, ring, left: frames, linger: LINGER, played }
    }

    /// Plays a period. `false` once all is played.
    pub(crate) fn period(&mut self, frames: u32, output: &mut impl Output) -> bool {
        silence(self.channels, output);
        if self.left == 0 {
            self.linger = self.linger.saturating_sub(1);
            return self.linger > 0;
        }
        let wanted = usize::try_from(self.left.min(frames.into())).unwrap_or(usize::MAX);
        let there = wanted.min(self.ring.slots() / self.channels);
        // The ring counts as missing what is not there, unless it has come meanwhile. It is played later.
        for (from, to) in [(0, there), (there, wanted)] {
            if frames::read(&mut self.ring, self.channels, (from, to), output) {
                let played = (to - from) as u64;
                self.left -= played;
                // Ordering: Relaxed; read for good once the callbacks are over.
                self.played.fetch_add(played, Ordering::Relaxed);
            }
        }
        true
    }
}

pub(crate) fn silence(channels: usize, output: &mut impl Output) {
    for n in 0..channels {
        output.channel(n).fill(0.0);
    }
}
