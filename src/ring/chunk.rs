//! Several slots in place.

use std::fmt;

use super::wait::notify;
use crate::Notifier;
use crate::sync::rtrb;

/// Slots to be written in place. What is not committed is not written.
///
/// **Realtime-safe** where the end that it comes from is.
#[must_use = "what is not committed is not written"]
pub struct WriteChunk<'a, T> {
    chunk: rtrb::chunks::WriteChunk<'a, T>,
    written: &'a mut u64,
    notifier: Option<&'a Notifier>,
}

impl<'a, T> WriteChunk<'a, T>
where
    T: Copy + Default,
{
    /// A chunk whose commit notifies.
    #[inline]
    pub(super) fn new(
        chunk: rtrb::chunks::WriteChunk<'a, T>,
        written: &'a mut u64,
        notifier: &'a Notifier,
    ) -> Self {
        WriteChunk { chunk, written, notifier: Some(notifier) }
    }

    /// A chunk of an end that nobody waits for.
    pub(super) fn silent(chunk: rtrb::chunks::WriteChunk<'a, T>, written: &'a mut u64) -> Self {
        WriteChunk { chunk, written, notifier: None }
    }

    /// The slots: two slices, since the ring may wrap between them. The second may be empty.
    #[inline]
    pub fn as_mut_slices(&mut self) -> (&mut [T], &mut [T]) {
        self.chunk.as_mut_slices()
    }

    /// Writes the first `n` slots, and tells the other side.
    ///
    /// # Panics
    ///
    /// If the chunk has fewer.
    #[inline]
    pub fn commit(self, n: usize) {
        self.chunk.commit(n);
        *self.written += n as u64;
        if let Some(notifier) = self.notifier {
            notify(notifier, n);
        }
    }

    /// Writes all slots, and tells the other side.
    #[inline]
    pub fn commit_all(self) {
        let n = self.len();
        self.commit(n);
    }

    /// How many slots there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunk.len()
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty()
    }
}

impl<T> fmt::Debug for WriteChunk<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteChunk").finish_non_exhaustive()
    }
}

/// Items to be read in place. What is not committed stays in the ring.
///
/// **Realtime-safe** where the end that it comes from is. Committing drops the items, which frees what they own.
#[must_use = "what is not committed stays in the ring"]
pub struct ReadChunk<'a, T> {
    chunk: rtrb::chunks::ReadChunk<'a, T>,
    read: &'a mut u64,
    notifier: Option<&'a Notifier>,
}

impl<'a, T> ReadChunk<'a, T> {
    #[inline]
    pub(super) fn new(
        chunk: rtrb::chunks::ReadChunk<'a, T>,
        read: &'a mut u64,
        notifier: Option<&'a Notifier>,
    ) -> Self {
        ReadChunk { chunk, read, notifier }
    }

    /// The items: two slices, since the ring may wrap between them. The second may be empty.
    #[inline]
    #[must_use]
    pub fn as_slices(&self) -> (&[T], &[T]) {
        self.chunk.as_slices()
    }

    /// Makes the first `n` slots free again, and tells the other side.
    ///
    /// # Panics
    ///
    /// If the chunk has fewer.
    #[inline]
    pub fn commit(self, n: usize) {
        self.chunk.commit(n);
        *self.read += n as u64;
        if let Some(notifier) = self.notifier {
            notify(notifier, n);
        }
    }

    /// Makes all slots free again, and tells the other side.
    #[inline]
    pub fn commit_all(self) {
        let n = self.len();
        self.commit(n);
    }

    /// How many items there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunk.len()
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty()
    }
}

impl<T> fmt::Debug for ReadChunk<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadChunk").field("len", &self.len()).finish_non_exhaustive()
    }
}
