//! A worker writes, the audio thread reads.

use std::fmt;
use std::time::{Duration, Instant};

use super::chunk::{ReadChunk, WriteChunk};
use super::error::too_few;
use super::node::{Handle, RtHandle, share};
use super::tally::{Reading, Tally};
use super::wait::{Slots, Waiting, after, notify, notify_and_flush, saturate, untimed, without_capacity};
use super::{ChunkError, PopError, PushError, Shortfall, WaitForError, WaitForTimeoutError};
use crate::sync::rtrb;
use crate::{Notifier, Waiter};

/// The realtime half, which stays in the shared block.
pub(super) struct Half<T> {
    items: rtrb::Consumer<T>,
    read: u64,
    missed: Shortfall,
}

/// The audio thread's end of a playback ring: reads, and notifies the [`Writer`].
///
/// Made by [`playback`](super::playback) and its sibling. It is [`Send`], but not [`Sync`].
///
/// **Realtime-safe**: every method, and [`Drop`]. None waits, allocates or frees, whichever side goes first; each makes
/// at most one system call, which does not block, and only if the writer is asleep and has what it waits for. Those
/// that move several items copy them in a loop of that length. Items that are read become the caller's: if they own
/// memory, dropping them frees it.
///
/// A read that finds too little is counted as an underrun.
pub struct RtConsumer<T> {
    half: RtHandle<Half<T>>,
    notifier: Notifier,
}

/// The writing end of a playback ring, without its waiter.
pub(super) struct Producer<T> {
    items: rtrb::Producer<T>,
    written: u64,
    underruns: Reading,
    handle: Handle<Half<T>>,
}

/// The worker's end of a playback ring: waits for room, and writes.
///
/// Made by [`playback`](super::playback), with a [`Waiter`], or [`playback_pollable`](super::playback_pollable), with
/// a `PollWaiter`.
///
/// **Not realtime-safe**: waiting blocks, and dropping it frees memory. After its drop the audio thread still reads
/// what was written.
pub struct Writer<T, W = Waiter> {
    producer: Producer<T>,
    waiting: Waiting<W>,
}

pub(super) fn playback_on<T: Send + 'static>(
    capacity: usize,
    notifier: Notifier,
) -> (Producer<T>, RtConsumer<T>) {
    let (items, consumer) = rtrb::RingBuffer::new(capacity);
    let (half, handle) = share(Half { items: consumer, read: 0, missed: Shortfall::default() });
    let producer = Producer { items, written: 0, underruns: Reading::default(), handle };
    (producer, RtConsumer { half, notifier })
}

impl<T> RtConsumer<T> {
    /// Reads one item.
    ///
    /// # Errors
    ///
    /// [`PopError::Empty`]: an underrun of 1 item.
    #[inline]
    pub fn pop(&mut self) -> Result<T, PopError> {
        match self.half.half_mut().items.pop() {
            Ok(item) => {
                self.half.half_mut().read += 1;
                notify(&self.notifier, 1);
                Ok(item)
            }
            Err(_) => {
                self.underrun(1);
                Err(PopError::Empty)
            }
        }
    }

    /// Fills all of `items`, or reads nothing.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`]: an underrun of all of them.
    #[inline]
    pub fn read_slice(&mut self, items: &mut [T]) -> Result<(), ChunkError>
    where
        T: Copy,
    {
        let half = self.half.half_mut();
        match half.items.pop_entire_slice(items) {
            Ok(()) => {
                half.read += items.len() as u64;
                notify(&self.notifier, items.len());
                Ok(())
            }
            Err(error) => {
                self.underrun(items.len());
                Err(too_few(error))
            }
        }
    }

    /// Reads what is there into `items`, from its start on, and returns the rest, which was not filled: an underrun, if
    /// it is not empty.
    #[inline]
    pub fn read_slice_partial<'a>(&mut self, items: &'a mut [T]) -> &'a mut [T]
    where
        T: Copy,
    {
        let half = self.half.half_mut();
        let (filled, rest) = half.items.pop_partial_slice(items);
        half.read += filled.len() as u64;
        if rest.is_empty() {
            notify(&self.notifier, filled.len());
        } else {
            self.miss(rest.len());
            notify_and_flush(&self.notifier, filled.len());
        }
        rest
    }

    /// Gives access to the next `n` items in place, to be [committed](ReadChunk::commit) once they are used.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`]: an underrun of `n` items. To read what is there, ask
    /// [`slots`](RtConsumer::slots) first.
    #[inline]
    pub fn read_chunk(&mut self, n: usize) -> Result<ReadChunk<'_, T>, ChunkError>
    where
        // The commit drops what was read: nothing may be freed by it.
        T: Copy,
    {
        // Asked before, since a chunk that is returned from one branch would borrow in the other too. As rtrb does: what
        // was known last time may do, and then the other side's index stays in its cache.
        let items = &self.half.half().items;
        if items.cached_slots() < n && items.slots() < n {
            let slots = items.cached_slots();
            self.underrun(n);
            return Err(ChunkError::TooFewSlots(slots));
        }
        let half = self.half.half_mut();
        Ok(ReadChunk::new(half.items.read_chunk(n).map_err(too_few)?, &mut half.read, Some(&self.notifier)))
    }

    /// How many items can be read now. It may increase at any time.
    #[inline]
    #[must_use]
    pub fn slots(&self) -> usize {
        self.half.half().items.slots()
    }

    /// How many items the ring holds.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.half.half().items.buffer().capacity()
    }

    /// What was asked for and not there so far: items, and the reads that missed them.
    #[inline]
    #[must_use]
    pub fn underruns(&self) -> Shortfall {
        self.half.half().missed
    }

    /// How many items were read since the ring's start.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.half.half().read
    }

    /// Ends the writer's present or next wait, even if it waits for more room.
    #[inline]
    pub fn flush(&self) {
        self.half.tally().flush();
        self.notifier.flush();
    }

    /// Whether nobody will write any more: the writer was dropped, or stopped. `false` may be out of date at once;
    /// after `true`, what is left can still be read.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.notifier.is_closed()
    }

    #[cold]
    fn underrun(&mut self, n: usize) {
        self.miss(n);
        self.notifier.flush();
    }

    /// Counts `n` items as missed. The caller flushes the notifier: a writer that waits for more room than there will
    /// be would wait for ever.
    #[cold]
    fn miss(&mut self, n: usize) {
        self.half.half_mut().missed.add(n);
        self.half.tally().fall_short(n);
    }
}

impl<T> fmt::Debug for RtConsumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtConsumer")
            .field("slots", &self.slots())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T, W> Writer<T, W> {
    /// Writes one item.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`], with the value.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), PushError<T>> {
        let producer = &mut self.producer;
        producer.items.push(value).map_err(|rtrb::PushError::Full(value)| PushError::Full(value))?;
        producer.written += 1;
        Ok(())
    }

    /// Writes all of `items`, or none.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`].
    pub fn push_slice(&mut self, items: &[T]) -> Result<(), ChunkError>
    where
        T: Copy,
    {
        self.producer.items.push_entire_slice(items).map_err(too_few)?;
        self.producer.written += items.len() as u64;
        Ok(())
    }

    /// Writes as many of `items` as fit, from the first on, and returns those that do not.
    pub fn push_slice_partial<'a>(&mut self, items: &'a [T]) -> &'a [T]
    where
        T: Copy,
    {
        let (written, rest) = self.producer.items.push_partial_slice(items);
        self.producer.written += written.len() as u64;
        rest
    }

    /// Gives access to `n` slots, holding default values, to be [committed](WriteChunk::commit).
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`].
    pub fn write_chunk(&mut self, n: usize) -> Result<WriteChunk<'_, T>, ChunkError>
    where
        T: Copy + Default,
    {
        let producer = &mut self.producer;
        Ok(WriteChunk::silent(producer.items.write_chunk(n).map_err(too_few)?, &mut producer.written))
    }

    /// How many items fit now. It may increase at any time.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.producer.slots()
    }

    /// How many items the ring holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    /// How many items were written since the ring's start.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.producer.written
    }

    /// What the audio thread asked for and did not find so far: items, and its reads that missed them.
    pub fn underruns(&mut self) -> Shortfall {
        self.producer.underruns.update(self.producer.handle.tally())
    }
}

impl<T> Slots for Producer<T> {
    fn slots(&self) -> usize {
        self.items.slots()
    }

    fn capacity(&self) -> usize {
        self.items.buffer().capacity()
    }

    fn tally(&self) -> &Tally {
        self.handle.tally()
    }

    fn position(&self) -> u64 {
        self.written
    }

    fn outlives_the_other_side(&self) -> bool {
        false
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("slots", &self.slots()).finish_non_exhaustive()
    }
}

super::waiting_end! {
    Writer, producer: Producer,
    /// Sleeps until `n` items fit, and returns how many do: `n` or more.
    ///
    /// It returns early, with fewer and perhaps 0, after a flush or an underrun. 0 means 1. While fewer fit, reads
    /// make no system call.
}
