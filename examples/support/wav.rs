//! WAV files: one to write that is whole at any time, and one to read whatever its format.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter};

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

/// Of a file with 32-bit floats, as hound writes it.
const HEADER_BYTES: u64 = 68;
const SAMPLE_BYTES: u64 = 4;

/// A file of 32-bit floats.
pub(crate) struct Recording {
    path: String,
    channels: u64,
    silence: u64,
    wav: WavWriter<BufWriter<File>>,
}

impl Recording {
    pub(crate) fn create(path: &str, channels: u16, sample_rate: u32) -> hound::Result<Self> {
        let spec = WavSpec { channels, sample_rate, bits_per_sample: 32, sample_format: SampleFormat::Float };
        let mut wav = WavWriter::create(path, spec)?;
        // A disk that takes nothing is to be known now.
        wav.flush()?;
        Ok(Recording { path: path.to_owned(), channels: channels.into(), silence: 0, wav })
    }

    pub(crate) fn channels(&self) -> u64 {
        self.channels
    }

    /// Appends whole frames.
    pub(crate) fn write(&mut self, samples: &[f32]) -> hound::Result<()> {
        // Sizes in WAV files have 32 bits. Rather ends the recording than lets them wrap.
        let length = u64::from(self.wav.len()) + samples.len() as u64;
        if length * SAMPLE_BYTES + HEADER_BYTES > u32::MAX.into() {
            return Err(io::Error::other("a WAV file cannot be longer than 4 GiB").into());
        }
        for &sample in samples {
            self.wav.write_sample(sample)?;
        }
        Ok(())
    }

    /// How many frames of silence were written in place of others.
    pub(crate) fn silence(&self) -> u64 {
        self.silence
    }

    pub(crate) fn write_silence(&mut self, frames: u64) -> hound::Result<()> {
        const SILENCE: [f32; 1024] = [0.0; 1024];
        let mut samples = frames * self.channels;
        while samples > 0 {
            let n = SILENCE.len().min(usize::try_from(samples).unwrap_or(usize::MAX));
            self.write(&SILENCE[..n])?;
            samples -= n as u64;
        }
        self.silence += frames;
        Ok(())
    }

    /// Makes the header true: whatever happens later, the file is whole up to here.
    pub(crate) fn flush(&mut self) -> hound::Result<()> {
        self.wav.flush()
    }

    /// Closes the file, after an error perhaps, and returns how many frames it holds.
    pub(crate) fn close(mut self) -> (u64, hound::Result<()>) {
        let flushed = self.wav.flush();
        let Recording { path, channels, wav, .. } = self;
        if flushed.is_ok() {
            return (wav.duration().into(), wav.finalize());
        }
        // Tries once more to make the header true, which fails if the disk is still full.
        drop(wav);
        let frames = WavReader::open(&path).map_or(0, |wav| wav.duration().into());
        // Cuts off what the header does not tell of. If that fails too, whoever reads the file skips it.
        let bytes = HEADER_BYTES + frames * channels * SAMPLE_BYTES;
        let _ = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(bytes));
        (frames, flushed)
    }
}

/// The samples of a file, interleaved.
pub(crate) struct Take {
    pub(crate) channels: usize,
    pub(crate) sample_rate: u32,
    pub(crate) frames: u64,
    pub(crate) samples: Box<dyn Iterator<Item = hound::Result<f32>> + Send>,
}

impl Take {
    pub(crate) fn open(path: &str) -> hound::Result<Self> {
        let wav = WavReader::open(path)?;
        let WavSpec { channels, sample_rate, .. } = wav.spec();
        let frames = wav.duration().into();
        Ok(Take { channels: channels.into(), sample_rate, frames, samples: samples(wav) })
    }
}

fn samples(wav: WavReader<BufReader<File>>) -> Box<dyn Iterator<Item = hound::Result<f32>> + Send> {
    let WavSpec { sample_format, bits_per_sample, .. } = wav.spec();
    match sample_format {
        SampleFormat::Float => Box::new(wav.into_samples::<f32>()),
        SampleFormat::Int => {
            let scale = 1.0 / 2f32.powi(i32::from(bits_per_sample) - 1);
            #[allow(clippy::cast_precision_loss, reason = "24 bits are exact")]
            let to_float = move |sample: hound::Result<i32>| sample.map(|sample| sample as f32 * scale);
            Box::new(wav.into_samples::<i32>().map(to_float))
        }
    }
}
