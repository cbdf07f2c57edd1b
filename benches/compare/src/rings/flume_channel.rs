//! `flume`, of a limited capacity.

use flume::{Receiver, Sender, bounded};

use super::{Manner, Read, Ring, Write};

pub(crate) struct FlumeChannel;
pub(crate) struct Reader<const N: usize> {
    receiver: Receiver<[u32; N]>,
    /// What the wait has received.
    message: [u32; N],
}

impl Ring for FlumeChannel {
    const NAME: &'static str = "flume, bounded";
    const MANNER: Manner = Manner::Blocking;
    type Writer<const N: usize> = Sender<[u32; N]>;
    type Reader<const N: usize> = Reader<N>;

    fn make<const N: usize>(capacity: usize) -> Result<(Sender<[u32; N]>, Reader<N>), String> {
        let (sender, receiver) = bounded(capacity);
        Ok((sender, Reader { receiver, message: [0; N] }))
    }
}

impl<const N: usize> Write<N> for Sender<[u32; N]> {
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
