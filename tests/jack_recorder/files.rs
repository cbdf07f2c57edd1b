//! Files that tests record to and play from.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

pub(crate) const CHANNELS: u16 = 2;

/// A directory of its own, removed in the end.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: Relaxed; the number only has to differ.
        let name = format!("rt-notify-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Directory(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("temporary directories have plain names").to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The sample of a frame of the ramp: never 0, different in every frame and channel, and exact.
pub(crate) fn ramp(frame: usize, channel: usize) -> f32 {
    let step = u16::try_from(frame % 40_000).expect("it is smaller") + 1;
    let sign = if channel == 0 { 1.0 } else { -1.0 };
    sign * f32::from(step) / 65_536.0
}

pub(crate) fn write_ramp(path: &str, sample_rate: u32, frames: usize) {
    let spec =
        WavSpec { channels: CHANNELS, sample_rate, bits_per_sample: 32, sample_format: SampleFormat::Float };
    let mut wav = WavWriter::create(path, spec).expect("a temporary file");
    for frame in 0..frames {
        for channel in 0..CHANNELS.into() {
            wav.write_sample(ramp(frame, channel)).expect("there is room");
        }
    }
    wav.finalize().expect("there is room");
}

/// The frames of a stereo file, which must be whole: exactly as long as its header says.
pub(crate) fn frames(path: &str) -> Vec<[f32; 2]> {
    let wav = WavReader::open(path).expect("a valid file");
    assert_eq!((wav.spec().channels, wav.spec().bits_per_sample), (CHANNELS, 32));
    let header_and_data = 68 + u64::from(wav.duration()) * 8;
    assert_eq!(fs::metadata(path).expect("it exists").len(), header_and_data);
    let samples: Vec<f32> = wav.into_samples().map(|sample| sample.expect("the file is whole")).collect();
    samples.chunks_exact(2).map(|frame| [frame[0], frame[1]]).collect()
}
