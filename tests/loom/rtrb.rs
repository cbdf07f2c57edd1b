//! As much of rtrb as the crate uses, on loom's atomics and cells: loom cannot see rtrb's own.
//!
//! The same two indexes, with the same orderings, and the same caches of them. Items are in loom's cells: a slot that
//! is read before it is written, or written while it is read, is reported. Chunks move items instead of lending slots,
//! which is the same to whoever commits them.
#![allow(unsafe_code, reason = "loom hands out the contents of its cells as pointers")]
#![allow(clippy::unnecessary_wraps, reason = "rtrb's signatures")]

use std::cell::Cell;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Release};

pub(crate) struct RingBuffer<T> {
    /// Items read and written since the start; rtrb wraps them at twice the capacity.
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: Box<[UnsafeCell<Option<T>>]>,
}

// SAFETY: the indexes keep the two ends apart; loom checks that they do.
unsafe impl<T: Send> Send for RingBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for RingBuffer<T> {}

impl<T> RingBuffer<T> {
    #[allow(clippy::new_ret_no_self, reason = "rtrb's signature")]
    pub(crate) fn new(capacity: usize) -> (Producer<T>, Consumer<T>) {
        let slots = (0..capacity).map(|_| UnsafeCell::new(None)).collect();
        let buffer = Arc::new(RingBuffer { head: AtomicUsize::new(0), tail: AtomicUsize::new(0), slots });
        let consumer = Consumer { buffer: buffer.clone(), head: Cell::new(0), tail: Cell::new(0) };
        (Producer { buffer, head: Cell::new(0), tail: Cell::new(0) }, consumer)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    fn put(&self, position: usize, item: T) {
        self.slots[position % self.capacity()].with_mut(|slot| {
            // SAFETY: loom has just checked that nobody reads or writes it meanwhile.
            unsafe { *slot = Some(item) }
        });
    }

    fn take(&self, position: usize) -> T {
        let item = self.slots[position % self.capacity()].with_mut(|slot| {
            // SAFETY: as in `put`.
            unsafe { (*slot).take() }
        });
        item.expect("the slot was written")
    }
}

pub(crate) struct Producer<T> {
    buffer: Arc<RingBuffer<T>>,
    head: Cell<usize>,
    tail: Cell<usize>,
}

impl<T> Producer<T> {
    pub(crate) fn buffer(&self) -> &RingBuffer<T> {
        &self.buffer
    }

    pub(crate) fn slots(&self) -> usize {
        self.head.set(self.buffer.head.load(Acquire));
        self.cached_slots()
    }

    pub(crate) fn cached_slots(&self) -> usize {
        self.buffer.capacity() - (self.tail.get() - self.head.get())
    }

    fn has(&self, n: usize) -> bool {
        self.cached_slots() >= n || self.slots() >= n
    }

    fn commit(&mut self, items: impl IntoIterator<Item = T>) {
        let mut tail = self.tail.get();
        for item in items {
            self.buffer.put(tail, item);
            tail += 1;
        }
        self.tail.set(tail);
        self.buffer.tail.store(tail, Release);
    }

    pub(crate) fn push(&mut self, item: T) -> Result<(), PushError<T>> {
        if !self.has(1) {
            return Err(PushError::Full(item));
        }
        self.commit([item]);
        Ok(())
    }

    pub(crate) fn push_entire_slice(&mut self, items: &[T]) -> Result<(), chunks::ChunkError>
    where
        T: Copy,
    {
        if !self.has(items.len()) {
            return Err(chunks::ChunkError::TooFewSlots(self.cached_slots()));
        }
        self.commit(items.iter().copied());
        Ok(())
    }

    pub(crate) fn push_partial_slice<'a>(&mut self, items: &'a [T]) -> (&'a [T], &'a [T])
    where
        T: Copy,
    {
        let _ = self.has(items.len());
        let (written, rest) = items.split_at(items.len().min(self.cached_slots()));
        self.commit(written.iter().copied());
        (written, rest)
    }

    pub(crate) fn write_chunk(&mut self, n: usize) -> Result<chunks::WriteChunk<'_, T>, chunks::ChunkError>
    where
        T: Copy + Default,
    {
        if !self.has(n) {
            return Err(chunks::ChunkError::TooFewSlots(self.cached_slots()));
        }
        Ok(chunks::WriteChunk { items: vec![T::default(); n], producer: self })
    }
}

pub(crate) struct Consumer<T> {
    buffer: Arc<RingBuffer<T>>,
    head: Cell<usize>,
    tail: Cell<usize>,
}

impl<T> Consumer<T> {
    pub(crate) fn buffer(&self) -> &RingBuffer<T> {
        &self.buffer
    }

    pub(crate) fn slots(&self) -> usize {
        self.tail.set(self.buffer.tail.load(Acquire));
        self.cached_slots()
    }

    pub(crate) fn cached_slots(&self) -> usize {
        self.tail.get() - self.head.get()
    }

    fn has(&self, n: usize) -> bool {
        self.cached_slots() >= n || self.slots() >= n
    }

    fn commit(&self, n: usize) {
        self.head.set(self.head.get() + n);
        self.buffer.head.store(self.head.get(), Release);
    }

    fn take(&self, n: usize) -> Vec<T> {
        (self.head.get()..self.head.get() + n).map(|position| self.buffer.take(position)).collect()
    }

    pub(crate) fn pop(&mut self) -> Result<T, PopError> {
        if !self.has(1) {
            return Err(PopError::Empty);
        }
        let item = self.buffer.take(self.head.get());
        self.commit(1);
        Ok(item)
    }

    /// The slot is only read: the writer does not touch it before it is popped.
    pub(crate) fn peek(&self) -> Result<&T, PopError> {
        if !self.has(1) {
            return Err(PopError::Empty);
        }
        let slot = &self.buffer.slots[self.head.get() % self.buffer.capacity()];
        slot.with(|slot| {
            // SAFETY: loom has just checked that nobody writes it meanwhile.
            let item = unsafe { &*slot };
            Ok(item.as_ref().expect("the slot was written"))
        })
    }

    pub(crate) fn pop_entire_slice(&mut self, items: &mut [T]) -> Result<(), chunks::ChunkError>
    where
        T: Copy,
    {
        if !self.has(items.len()) {
            return Err(chunks::ChunkError::TooFewSlots(self.cached_slots()));
        }
        items.copy_from_slice(&self.take(items.len()));
        self.commit(items.len());
        Ok(())
    }

    pub(crate) fn pop_partial_slice<'a>(&mut self, items: &'a mut [T]) -> (&'a mut [T], &'a mut [T])
    where
        T: Copy,
    {
        let _ = self.has(items.len());
        let n = items.len().min(self.cached_slots());
        let (filled, rest) = items.split_at_mut(n);
        filled.copy_from_slice(&self.take(n));
        self.commit(n);
        (filled, rest)
    }

    pub(crate) fn read_chunk(&mut self, n: usize) -> Result<chunks::ReadChunk<'_, T>, chunks::ChunkError> {
        if !self.has(n) {
            return Err(chunks::ChunkError::TooFewSlots(self.cached_slots()));
        }
        Ok(chunks::ReadChunk { items: self.take(n), consumer: self })
    }
}

#[derive(Debug)]
pub(crate) enum PushError<T> {
    Full(T),
}

#[derive(Debug)]
pub(crate) enum PopError {
    Empty,
}

pub(crate) mod chunks {
    use super::{Consumer, Producer};

    pub(crate) enum ChunkError {
        TooFewSlots(usize),
    }

    pub(crate) struct WriteChunk<'a, T> {
        pub(super) items: Vec<T>,
        pub(super) producer: &'a mut Producer<T>,
    }

    impl<T> WriteChunk<'_, T> {
        pub(crate) fn as_mut_slices(&mut self) -> (&mut [T], &mut [T]) {
            (&mut self.items, &mut [])
        }

        pub(crate) fn commit(self, n: usize) {
            self.producer.commit(self.items.into_iter().take(n));
        }

        pub(crate) fn len(&self) -> usize {
            self.items.len()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.items.is_empty()
        }
    }

    pub(crate) struct ReadChunk<'a, T> {
        pub(super) items: Vec<T>,
        pub(super) consumer: &'a mut Consumer<T>,
    }

    impl<T> ReadChunk<'_, T> {
        pub(crate) fn as_slices(&self) -> (&[T], &[T]) {
            (&self.items, &[])
        }

        pub(crate) fn commit(mut self, n: usize) {
            drop(self.items.drain(..n));
            self.put_back(n);
            self.consumer.commit(n);
        }

        /// What is not committed stays in the ring.
        fn put_back(&mut self, from: usize) {
            let start = self.consumer.head.get() + from;
            for (position, item) in (start..).zip(self.items.drain(..)) {
                self.consumer.buffer.put(position, item);
            }
        }

        pub(crate) fn len(&self) -> usize {
            self.items.len()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.items.is_empty()
        }
    }

    impl<T> Drop for ReadChunk<'_, T> {
        fn drop(&mut self) {
            self.put_back(0);
        }
    }
}
