//! Rings and channels between an audio thread and a worker: whose reader can wait, and what that costs.
//!
//! One file each implements [`Ring`], and `registry.rs` lists them.

pub(crate) mod bare_rtrb;
pub(crate) mod claims;
pub(crate) mod crossbeam_channel;
pub(crate) mod flume_channel;
pub(crate) mod full_speed;
pub(crate) mod jack;
mod libjack;
pub(crate) mod message;
pub(crate) mod ours;
pub(crate) mod paced;
pub(crate) mod registry;
pub(crate) mod ringbuf;
pub(crate) mod sync_channel;
pub(crate) mod tables;

/// The writing side: it must never block.
pub(crate) trait Write<const N: usize>: Send {
    /// Writes a message and tells the reader, or returns `false` where there is no room. Then it is tried again.
    fn write(&mut self, message: &[u32; N]) -> bool;

    /// Tells the reader once more, if it may have been told in vain. Whether that can be.
    fn tell_again(&mut self) -> bool {
        false
    }
}

/// The reading side.
pub(crate) trait Read<const N: usize>: Send {
    /// The thread that will read calls it first.
    fn begin(&mut self) {}

    /// Waits until `wanted` messages are there, or for fewer if more cannot be waited for. Says how many there are; 0
    /// is the end.
    fn wait(&mut self, wanted: usize) -> usize;

    /// Reads the next message, which is there.
    fn read(&mut self, check: impl FnOnce(&[u32; N]));
}

/// A way to hand messages of `N` items to a worker.
pub(crate) trait Ring: 'static {
    const NAME: &'static str;
    const MANNER: Manner;
    /// Whether it is this project's.
    const OURS: bool = false;

    type Writer<const N: usize>: Write<N>;
    type Reader<const N: usize>: Read<N>;

    /// With room for so many messages. The error is a reason for a human: this machine does not have it.
    fn make<const N: usize>(capacity: usize) -> Result<(Self::Writer<N>, Self::Reader<N>), String>;
}

/// How the reader waits. It is compared with its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It sleeps until it is woken.
    Blocking,
    /// It looks every now and then, and sleeps meanwhile.
    Looking,
    /// It looks all the time.
    Spinning,
}

impl Manner {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Manner::Blocking => "blocking",
            Manner::Looking => "looking",
            Manner::Spinning => "spinning",
        }
    }
}
