//! The standard library's channel of a limited capacity.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Manner, Read, Ring, Write};

pub(crate) struct SyncChannel;
pub(crate) struct Reader<const N: usize> {
    receiver: Receiver<[u32; N]>,
    /// What the wait has received.
    message: [u32; N],
}

impl Ring for SyncChannel {
    const NAME: &'static str = "std sync_channel";
    const MANNER: Manner = Manner::Blocking;
    type Writer<const N: usize> = SyncSender<[u32; N]>;
    type Reader<const N: usize> = Reader<N>;

    fn make<const N: usize>(capacity: usize) -> Result<(SyncSender<[u32; N]>, Reader<N>), String> {
        let (sender, receiver) = sync_channel(capacity);
        Ok((sender, Reader { receiver, message: [0; N] }))
    }
}

impl<const N: usize> Write<N> for SyncSender<[u32; N]> {
    #[inline]
    fn write(&mut self, message: &[u32; N]) -> bool {
        self.try_send(*message).is_ok()
    }
}

impl<const N: usize> Read<N> for Reader<N> {
    /// It can wait for one only.
    #[inline]
    fn wait(&mut self, _: usize) -> usize {
        match self.receiver.recv() {
            Ok(message) => self.message = message,
            Err(_) => return 0,
        }
        1
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        check(&self.message);
    }
}
