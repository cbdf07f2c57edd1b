//! Frames in a ring: interleaved, and whole ones only. The ring's capacity is a multiple of the channels, so that it
//! wraps between frames.

#![allow(dead_code, reason = "each program uses one direction")]

use rt_notify::ring::{RtConsumer, RtProducer};

/// Writes the frames `from..to` of a period, or none of them: the ring counts them as lost.
pub(crate) fn write<'a>(
    ring: &mut RtProducer<f32>,
    channels: usize,
    (from, to): (usize, usize),
    input: impl Fn(usize) -> &'a [f32],
) {
    if from == to {
        return;
    }
    let Ok(mut chunk) = ring.write_chunk((to - from) * channels) else { return };
    let (first, second) = chunk.as_mut_slices();
    for channel in 0..channels {
        let frames = first.chunks_exact_mut(channels).chain(second.chunks_exact_mut(channels));
        frames.zip(&input(channel)[from..to]).for_each(|(frame, &sample)| frame[channel] = sample);
    }
    chunk.commit_all();
}

/// What a period's samples are written to.
pub(crate) trait Output {
    fn channel(&mut self, n: usize) -> &mut [f32];
}

/// Reads the frames `from..to` of a period, or none of them: the ring counts them as missing. Says whether it did.
pub(crate) fn read(
    ring: &mut RtConsumer<f32>,
    channels: usize,
    (from, to): (usize, usize),
    output: &mut impl Output,
) -> bool {
    if from == to {
        return false;
    }
    let Ok(chunk) = ring.read_chunk((to - from) * channels) else { return false };
    let (first, second) = chunk.as_slices();
    for channel in 0..channels {
        let frames = first.chunks_exact(channels).chain(second.chunks_exact(channels));
        output.channel(channel)[from..to]
            .iter_mut()
            .zip(frames)
            .for_each(|(sample, frame)| *sample = frame[channel]);
    }
    chunk.commit_all();
    true
}
