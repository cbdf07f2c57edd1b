//! The disk worker: from the ring into the file, with silence where frames are missing.

use rt_notify::ring::Reader;

use super::wav::Recording;

/// Frames written before their room in the ring is free again.
const PIECE: u64 = 4096;

/// What became of a recording. All in frames.
#[derive(Debug)]
pub(crate) struct Saved {
    /// What the file holds, with the silence.
    pub(crate) frames: u64,
    pub(crate) silence: u64,
    /// What the ring could not take, and in how many goes.
    pub(crate) lost: u64,
    pub(crate) overruns: u64,
    /// Why the file ends before the recording.
    pub(crate) error: Option<String>,
}

/// Writes what comes until the ring is closed and empty, and closes the file whatever happens.
pub(crate) fn save(mut ring: Reader<f32>, mut file: Recording) -> Saved {
    let written = save_all(&mut ring, &mut file);
    let (channels, silence) = (file.channels(), file.silence());
    let (frames, closed) = file.close();
    let overruns = ring.overruns();
    let error = written.and(closed).err().map(|error| error.to_string());
    Saved { frames, silence, lost: overruns.items / channels, overruns: overruns.events, error }
}

fn save_all(ring: &mut Reader<f32>, file: &mut Recording) -> hound::Result<()> {
    let half = ring.capacity() / 2;
    // Fewer at the end, and when the next period does not fit.
    while let Ok(samples) = ring.wait_for(half) {
        save_some(ring, samples as u64, file)?;
        file.flush()?;
    }
    // What is missing at the very end.
    save_some(ring, 0, file)
}

fn save_some(ring: &mut Reader<f32>, samples: u64, file: &mut Recording) -> hound::Result<()> {
    let end = ring.position() + samples;
    loop {
        let position = ring.position();
        while let Some(gap) = ring.peek_gap().filter(|gap| gap.position <= position) {
            file.write_silence(gap.items / file.channels())?;
            ring.pop_gap();
        }
        let gap = ring.peek_gap().map_or(end, |gap| gap.position);
        let next = end.min(gap).min(position + PIECE * file.channels());
        let Ok(chunk) = ring.read_chunk(usize::try_from(next - position).unwrap_or(0)) else { return Ok(()) };
        if chunk.is_empty() {
            return Ok(());
        }
        let (first, second) = chunk.as_slices();
        file.write(first)?;
        file.write(second)?;
        chunk.commit_all();
    }
}
