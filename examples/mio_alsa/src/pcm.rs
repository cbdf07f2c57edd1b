//! A real ALSA device.

use std::ffi::CString;
use std::time::Duration;

use alsa::pcm::{Access, Format, Frames, HwParams, PCM, State};
use alsa::poll::{Descriptors, Flags, pollfd};
use alsa::{Direction, Error, ValueOr};

use crate::Capture;

const BYTES_PER_SAMPLE: usize = size_of::<f32>();

/// What a device is asked for. It may choose other sizes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Channels per frame.
    pub channels: u32,
    /// Frames per second.
    pub rate: u32,
    /// Frames per wake-up.
    pub period: u32,
    /// Frames it can hold until we read them.
    pub buffer: u32,
}

/// A capture device with 32-bit float samples.
#[derive(Debug)]
pub struct PcmCapture {
    pcm: PCM,
    /// As it is, not as it was asked for.
    shape: Shape,
    can_pause: bool,
    /// One period, reused for every read.
    block: Vec<u8>,
    peak: f32,
}

impl PcmCapture {
    /// Opens a device, without starting it. Its reads will not block.
    ///
    /// # Errors
    ///
    /// There is no such device, or it cannot do this.
    pub fn open(name: &str, asked: Shape) -> alsa::Result<Self> {
        let name = CString::new(name).map_err(|_| Error::new("snd_pcm_open", libc::EINVAL))?;
        let pcm = PCM::open(&name, Direction::Capture, true)?;

        let hw = HwParams::any(&pcm)?;
        hw.set_access(Access::RWInterleaved)?;
        hw.set_format(Format::FloatLE)?;
        hw.set_channels(asked.channels)?;
        let rate = hw.set_rate_near(asked.rate, ValueOr::Nearest)?;
        let period = hw.set_period_size_near(asked.period.into(), ValueOr::Nearest)?;
        let buffer = hw.set_buffer_size_near(asked.buffer.into())?;
        pcm.hw_params(&hw)?;
        let can_pause = hw.can_pause();
        drop(hw);

        // Wakes us as soon as a period is there.
        let sw = pcm.sw_params_current()?;
        sw.set_avail_min(period)?;
        pcm.sw_params(&sw)?;
        drop(sw);

        let shape =
            Shape { channels: asked.channels, rate, period: to_u32(period)?, buffer: to_u32(buffer)? };
        let samples = shape.period as usize * shape.channels as usize;
        let block = vec![0; samples * BYTES_PER_SAMPLE];
        Ok(PcmCapture { pcm, shape, can_pause, block, peak: 0.0 })
    }

    /// What the device really does.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The largest absolute sample so far.
    #[must_use]
    pub fn peak(&self) -> f32 {
        self.peak
    }
}

fn to_u32(frames: Frames) -> alsa::Result<u32> {
    u32::try_from(frames).map_err(|_| Error::new("snd_pcm_hw_params", libc::ERANGE))
}

impl Capture for PcmCapture {
    fn read(&mut self) -> alsa::Result<usize> {
        let frames = self.pcm.io_bytes().readi(&mut self.block)?;
        // Your processing goes here.
        let samples = frames * self.shape.channels as usize;
        for sample in self.block.chunks_exact(BYTES_PER_SAMPLE).take(samples) {
            if let Ok(bytes) = sample.try_into() {
                self.peak = self.peak.max(f32::from_le_bytes(bytes).abs());
            }
        }
        Ok(frames)
    }

    fn restart(&mut self) -> alsa::Result<()> {
        match self.pcm.state() {
            State::Disconnected => return Err(Error::new("snd_pcm_state", libc::ENODEV)),
            // Not `snd_pcm_recover`: it sleeps until the device has come back, and we listen to others too.
            State::Suspended => match self.pcm.resume() {
                Err(error) if error.errno() != libc::EAGAIN => {} // It cannot resume, only start anew.
                done => return done,
            },
            _ => {}
        }
        // Whatever it was doing; that there is nothing to stop is fine.
        let _ = self.pcm.drop();
        self.pcm.prepare()?;
        // Playback starts by itself when there is enough to play. Capture does not.
        self.pcm.start()
    }

    fn longest_silence(&self) -> Duration {
        // A device may have chosen periods of seconds.
        let buffer = Duration::from_secs(self.shape.buffer.into()) / self.shape.rate.max(1);
        (4 * buffer).max(Duration::from_secs(1))
    }

    fn pause(&mut self) -> alsa::Result<()> {
        if self.can_pause { self.pcm.pause(true) } else { self.pcm.drop() }
    }
}

impl Descriptors for PcmCapture {
    fn count(&self) -> usize {
        self.pcm.count()
    }

    fn fill(&self, group: &mut [pollfd]) -> alsa::Result<usize> {
        self.pcm.fill(group)
    }

    fn revents(&self, group: &[pollfd]) -> alsa::Result<Flags> {
        self.pcm.revents(group)
    }
}
