//! JACK's own ring as its capture client uses it: the callback signals a condition variable if it gets the mutex at
//! once. The disk thread holds that mutex whenever it does not sleep, and looks at the ring again before it does.

use std::sync::Arc;

use super::libjack::{self, ReadEnd, WriteEnd};
use super::{Manner, Read, Ring, Write};
use crate::common::pthread::Monitor;

pub(crate) struct JackRing;

pub(crate) struct Writer {
    ring: WriteEnd,
    monitor: Arc<Monitor>,
}

pub(crate) struct Reader<const N: usize> {
    ring: ReadEnd,
    monitor: Arc<Monitor>,
    message: [u32; N],
    /// Whether this thread has the mutex.
    began: bool,
}

impl Ring for JackRing {
    const NAME: &'static str = "jack_ringbuffer, trylock + pthread cond";
    const MANNER: Manner = Manner::Blocking;
    type Writer<const N: usize> = Writer;
    type Reader<const N: usize> = Reader<N>;

    fn make<const N: usize>(capacity: usize) -> Result<(Writer, Reader<N>), String> {
        let (writing, reading) = libjack::ring(size_of::<[u32; N]>() * capacity)?;
        let monitor = Arc::new(Monitor::new());
        let writer = Writer { ring: writing, monitor: Arc::clone(&monitor) };
        Ok((writer, Reader { ring: reading, monitor, message: [0; N], began: false }))
    }
}

impl Writer {
    #[inline]
    fn signal(&self) {
        if self.monitor.try_lock() {
            self.monitor.signal();
            self.monitor.unlock();
        }
    }
}

impl<const N: usize> Write<N> for Writer {
    /// Signals when it is full as well: the last signal may have been lost.
    #[inline]
    fn write(&mut self, message: &[u32; N]) -> bool {
        let fits = self.ring.space() >= size_of::<[u32; N]>();
        if fits {
            let written = self.ring.write(message);
            assert_eq!(written, size_of::<[u32; N]>(), "there is room");
        }
        self.signal();
        fits
    }

    fn tell_again(&mut self) -> bool {
        self.signal();
        true
    }
}

impl<const N: usize> Read<N> for Reader<N> {
    fn begin(&mut self) {
        self.monitor.lock();
        self.began = true;
    }

    /// For one: the signals come with every block, and each wakes.
    #[inline]
    fn wait(&mut self, _: usize) -> usize {
        loop {
            match self.ring.space() / size_of::<[u32; N]>() {
                0 => self.monitor.wait(),
                messages => return messages,
            }
        }
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        let read = self.ring.read(&mut self.message);
        assert_eq!(read, size_of::<[u32; N]>(), "it is there");
        check(&self.message);
    }
}

impl<const N: usize> Drop for Reader<N> {
    fn drop(&mut self) {
        if self.began {
            self.monitor.unlock();
        }
    }
}
