//! ALSA capture devices and notifications in one mio loop: the parts of the example `mio_alsa`.
//!
//! - [`decide`]: what the poll flags of a device ask for. Pure.
//! - [`AudioPoll`]: the loop, over anything that is a [`Capture`].
//! - [`PcmCapture`]: a real device.

mod audio_poll;
mod decide;
mod device;
mod pcm;

pub use audio_poll::AudioPoll;
pub use decide::{Step, after_error, decide};
pub use device::{Capture, Ended, Stats};
pub use pcm::{PcmCapture, Shape};
