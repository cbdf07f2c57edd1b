//! The process callback's work: whole frames into the ring, and how many JACK left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rt_notify::ring::RtProducer;

use super::frame_time::{FrameClock, Period};
use super::frames;

/// Frames that came to callbacks, and frames for which JACK, being late, made none.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    offered: AtomicU64,
    left_out: AtomicU64,
}

// Ordering: Relaxed; read for good once the callbacks are over.
impl Tally {
    pub(crate) fn offered(&self) -> u64 {
        self.offered.load(Ordering::Relaxed)
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

pub(crate) struct Recorder {
    channels: usize,
    ring: RtProducer<f32>,
    clock: FrameClock,
    /// Frames to go.
    left: u64,
    tally: Arc<Tally>,
}

impl Recorder {
    pub(crate) fn new(channels: usize, mut ring: RtProducer<f32>, frames: u64, tally: Arc<Tally>) -> Self {
        // Touches every page, so that none is missing when the callback comes to it. Nothing is written.
        drop(ring.write_chunk(ring.capacity()));
        Recorder { channels, ring, clock: FrameClock::default(), left: frames, tally }
    }

    /// Records a period that begins at the frame time `time`. `false` once all is recorded.
    pub(crate) fn period<'a>(&mut self, time: u32, frames: u32, input: impl Fn(usize) -> &'a [f32]) -> bool {
        let left_out = u64::from(self.clock.missing(Period { time, frames })).min(self.left);
        let offered = u64::from(frames).min(self.left - left_out);
        self.left -= left_out + offered;
        self.tally.left_out.fetch_add(left_out, Ordering::Relaxed);
        self.tally.offered.fetch_add(offered, Ordering::Relaxed);
        self.ring.skip(left_out * self.channels as u64);

        let all = usize::try_from(offered).unwrap_or(usize::MAX);
        let fitting = all.min(self.ring.slots() / self.channels);
        frames::write(&mut self.ring, self.channels, (0, fitting), &input);
        // The ring counts these as lost, unless there is room meanwhile.
        frames::write(&mut self.ring, self.channels, (fitting, all), &input);
        self.left > 0
    }

    /// For freewheeling, when a callback may take its time: gives the disk a second to make room for a period.
    pub(crate) fn wait_for_room(&self, frames: u32) {
        let samples = (frames as usize).saturating_mul(self.channels).min(self.ring.capacity());
        for _ in 0..1_000 {
            if self.ring.slots() >= samples || self.ring.is_closed() {
                return;
            }
            // The worker may be waiting for more than will come.
            self.ring.flush();
            thread::sleep(Duration::from_millis(1));
        }
    }
}
