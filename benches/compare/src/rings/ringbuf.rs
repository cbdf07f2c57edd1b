//! `ringbuf-blocking`: a mutex and a condition variable beside a ring, taken at every write.

use ringbuf_blocking::traits::{Consumer, Observer, Producer, Split};
use ringbuf_blocking::{Arc, BlockingCons, BlockingHeapRb, BlockingProd};

use super::{Manner, Read, Ring, Write};

type Writer = BlockingProd<Arc<BlockingHeapRb<u32>>>;
type Inner = BlockingCons<Arc<BlockingHeapRb<u32>>>;

pub(crate) struct RingbufBlocking;
pub(crate) struct Reader<const N: usize> {
    inner: Inner,
    message: [u32; N],
}

impl Ring for RingbufBlocking {
    const NAME: &'static str = "ringbuf-blocking";
    const MANNER: Manner = Manner::Blocking;
    type Writer<const N: usize> = Writer;
    type Reader<const N: usize> = Reader<N>;

    fn make<const N: usize>(capacity: usize) -> Result<(Writer, Reader<N>), String> {
        let (writer, inner) = BlockingHeapRb::new(capacity * N).split();
        Ok((writer, Reader { inner, message: [0; N] }))
    }
}

impl<const N: usize> Write<N> for Writer {
    #[inline]
    fn write(&mut self, message: &[u32; N]) -> bool {
        self.vacant_len() >= N && self.push_slice(message) == N
    }
}

impl<const N: usize> Read<N> for Reader<N> {
    #[inline]
    fn wait(&mut self, wanted: usize) -> usize {
        // It fails when the writer has gone: then what is left is to be read.
        let _ = self.inner.wait_occupied(wanted * N);
        self.inner.occupied_len() / N
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        let read = self.inner.pop_slice(&mut self.message);
        assert_eq!(read, N, "it is there");
        check(&self.message);
    }
}
