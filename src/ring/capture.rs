//! The audio thread writes, a worker reads.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use super::chunk::{ReadChunk, WriteChunk};
use super::error::too_few;
use super::gap::{Gap, GapWriter, records};
use super::node::{Handle, RtHandle, share};
use super::tally::{Reading, Tally};
use super::wait::{Slots, Waiting, after, notify, notify_and_flush, saturate, untimed, without_capacity};
use super::{ChunkError, PopError, PushError, Shortfall, WaitForError, WaitForTimeoutError};
use crate::sync::rtrb;
use crate::{Notifier, Waiter};

/// The realtime half, which stays in the shared block.
pub(super) struct Half<T> {
    items: rtrb::Producer<T>,
    gaps: GapWriter,
    /// Items written since the ring's start.
    written: u64,
    lost: Shortfall,
}

/// The audio thread's end of a capture ring: writes, and notifies the [`Reader`].
///
/// Made by [`capture`](super::capture) and its siblings. It is [`Send`], but not [`Sync`].
///
/// **Realtime-safe**: every method, and [`Drop`]. None waits, allocates or frees, whichever side goes first; each makes
/// at most one system call, which does not block, and only if the reader is asleep and has what it waits for. Those
/// that move several items copy them in a loop of that length.
///
/// What does not fit is lost, counted as an overrun, and leaves a [`Gap`] in the stream.
pub struct RtProducer<T> {
    half: RtHandle<Half<T>>,
    notifier: Notifier,
}

/// The reading end of a capture ring, which cannot wait by itself: the waiter of its notifier can.
///
/// Made by [`capture_on`](super::capture_on). It is [`Send`], but not [`Sync`].
///
/// **Not realtime-safe**: dropping it frees memory.
pub struct Consumer<T> {
    items: rtrb::Consumer<T>,
    gaps: rtrb::Consumer<Gap>,
    /// Items read since the ring's start.
    read: u64,
    overruns: Reading,
    handle: Handle<Half<T>>,
}

/// The worker's end of a capture ring: waits for items, and reads them.
///
/// Made by [`capture`](super::capture), with a [`Waiter`], or [`capture_pollable`](super::capture_pollable), with a
/// `PollWaiter`. It reads as a [`Consumer`] does, to which it dereferences.
///
/// **Not realtime-safe**: waiting blocks, and dropping it frees memory.
pub struct Reader<T, W = Waiter> {
    consumer: Consumer<T>,
    waiting: Waiting<W>,
}

pub(super) fn capture_on<T: Send + 'static>(
    capacity: usize,
    notifier: Notifier,
) -> (RtProducer<T>, Consumer<T>) {
    let (producer, items) = rtrb::RingBuffer::new(capacity);
    let (gap_writer, gaps) = records();
    let half = Half { items: producer, gaps: gap_writer, written: 0, lost: Shortfall::default() };
    let (half, handle) = share(half);
    let consumer = Consumer { items, gaps, read: 0, overruns: Reading::default(), handle };
    (RtProducer { half, notifier }, consumer)
}

impl<T> RtProducer<T> {
    /// Writes one item.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`], with the value: an overrun of 1 item.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), PushError<T>> {
        if !self.goes_on_with(1) {
            self.overrun(1);
            return Err(PushError::Full(value));
        }
        match self.half.half_mut().items.push(value) {
            Ok(()) => {
                self.wrote(1);
                Ok(())
            }
            Err(rtrb::PushError::Full(value)) => {
                self.overrun(1);
                Err(PushError::Full(value))
            }
        }
    }

    /// Writes all of `items`, or none.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`]: an overrun of all of them.
    #[inline]
    pub fn push_slice(&mut self, items: &[T]) -> Result<(), ChunkError>
    where
        T: Copy,
    {
        if !self.goes_on_with(items.len()) {
            self.overrun(items.len());
            return Err(ChunkError::TooFewSlots(self.half.half().items.cached_slots()));
        }
        match self.half.half_mut().items.push_entire_slice(items) {
            Ok(()) => {
                self.wrote(items.len());
                Ok(())
            }
            Err(error) => {
                self.overrun(items.len());
                Err(too_few(error))
            }
        }
    }

    /// Writes as many of `items` as fit, from the first on, and returns those that do not: an overrun, if there are any.
    #[inline]
    pub fn push_slice_partial<'a>(&mut self, items: &'a [T]) -> &'a [T]
    where
        T: Copy,
    {
        if !self.goes_on_with(items.len().min(1)) {
            self.overrun(items.len());
            return items;
        }
        let half = self.half.half_mut();
        let (written, rest) = half.items.push_partial_slice(items);
        half.written += written.len() as u64;
        if rest.is_empty() {
            notify(&self.notifier, written.len());
        } else {
            self.lose(rest.len());
            notify_and_flush(&self.notifier, written.len());
        }
        rest
    }

    /// Gives access to `n` slots, holding default values, to be [committed](WriteChunk::commit).
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`]: an overrun of `n` items. To write what fits, ask [`slots`](RtProducer::slots) first.
    #[inline]
    pub fn write_chunk(&mut self, n: usize) -> Result<WriteChunk<'_, T>, ChunkError>
    where
        T: Copy + Default,
    {
        let goes_on = self.goes_on_with(n);
        // Asked before, since a chunk that is returned from one branch would borrow in the other too. As rtrb does: what
        // was known last time may do, and then the other side's index stays in its cache.
        let items = &self.half.half().items;
        if !goes_on || (items.cached_slots() < n && items.slots() < n) {
            let slots = items.cached_slots();
            self.overrun(n);
            return Err(ChunkError::TooFewSlots(slots));
        }
        let half = self.half.half_mut();
        Ok(WriteChunk::new(half.items.write_chunk(n).map_err(too_few)?, &mut half.written, &self.notifier))
    }

    /// Leaves a [`Gap`] of `items` items that never came, because the source left them out: periods that JACK skipped,
    /// for example. They are no overrun.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut reader) = rt_notify::ring::capture(8);
    /// producer.push_slice(&[1, 2]).unwrap();
    /// producer.skip(2);
    /// producer.push_slice(&[5, 6]).unwrap();
    ///
    /// let gap = reader.pop_gap().unwrap();
    /// assert_eq!((gap.position, gap.items), (2, 2));
    /// assert_eq!(reader.overruns().items, 0);
    /// ```
    #[inline]
    pub fn skip(&mut self, items: u64) {
        if items > 0 {
            let half = self.half.half_mut();
            half.gaps.lose(half.written, items);
        }
    }

    /// How many items fit now. It may increase at any time.
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

    /// What was lost so far: items, and the pushes that lost them.
    #[inline]
    #[must_use]
    pub fn overruns(&self) -> Shortfall {
        self.half.half().lost
    }

    /// How many items were written since the ring's start: the [`position`](Consumer::position) of the next one.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.half.half().written
    }

    /// Ends the reader's present or next wait, even if it waits for more: for the end of a stream, or a transport stop.
    #[inline]
    pub fn flush(&self) {
        self.half.tally().flush();
        self.notifier.flush();
    }

    /// Whether nobody will read any more: the reader was dropped, or stopped. `false` may be out of date at once.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.notifier.is_closed()
    }

    /// `n` items were committed: only now may the reader hear of it.
    #[inline]
    fn wrote(&mut self, n: usize) {
        self.half.half_mut().written += n as u64;
        notify(&self.notifier, n);
    }

    /// Whether the stream can go on with `n` items, as far as gaps are concerned: if one is open, it ends here, or it
    /// goes on because `n` do not fit.
    ///
    /// That is decided once. If the reader made room between this look and a second one, then the items would be written
    /// behind a gap that is still open, and what is lost later would be added to it.
    #[inline]
    fn goes_on_with(&mut self, n: usize) -> bool {
        let half = self.half.half_mut();
        if n == 0 || !half.gaps.is_open() {
            return true;
        }
        let fits = half.items.slots() >= n;
        if fits {
            half.gaps.close();
        }
        fits
    }

    #[cold]
    fn overrun(&mut self, n: usize) {
        self.lose(n);
        self.notifier.flush();
    }

    /// Counts `n` items as lost. The caller flushes the notifier: a reader that waits for more than there is room for
    /// would wait for ever.
    #[cold]
    fn lose(&mut self, n: usize) {
        let half = self.half.half_mut();
        half.gaps.lose(half.written, n as u64);
        half.lost.add(n);
        self.half.tally().fall_short(n);
    }
}

/// Realtime-safe: the reader frees. If this was the last notifier of the ring's pair, the reader is told that no more
/// comes, once it has read what is left.
impl<T> Drop for RtProducer<T> {
    #[inline]
    fn drop(&mut self) {
        self.half.half_mut().gaps.finish();
    }
}

impl<T> fmt::Debug for RtProducer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtProducer")
            .field("slots", &self.slots())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T> Consumer<T> {
    /// Reads one item.
    ///
    /// # Errors
    ///
    /// [`PopError::Empty`].
    #[inline]
    pub fn pop(&mut self) -> Result<T, PopError> {
        let item = self.items.pop().map_err(|_| PopError::Empty)?;
        self.read += 1;
        Ok(item)
    }

    /// Looks at the next item, and leaves it in the ring.
    ///
    /// # Errors
    ///
    /// [`PopError::Empty`].
    #[inline]
    pub fn peek(&self) -> Result<&T, PopError> {
        self.items.peek().map_err(|_| PopError::Empty)
    }

    /// Fills all of `items`, or reads nothing.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`].
    pub fn read_slice(&mut self, items: &mut [T]) -> Result<(), ChunkError>
    where
        T: Copy,
    {
        self.items.pop_entire_slice(items).map_err(too_few)?;
        self.read += items.len() as u64;
        Ok(())
    }

    /// Reads what is there into `items`, from its start on, and returns the part that was filled.
    pub fn read_slice_partial<'a>(&mut self, items: &'a mut [T]) -> &'a mut [T]
    where
        T: Copy,
    {
        let (filled, _) = self.items.pop_partial_slice(items);
        self.read += filled.len() as u64;
        filled
    }

    /// Gives access to the next `n` items in place, to be [committed](ReadChunk::commit) once they are used.
    ///
    /// # Errors
    ///
    /// [`ChunkError::TooFewSlots`].
    pub fn read_chunk(&mut self, n: usize) -> Result<ReadChunk<'_, T>, ChunkError> {
        Ok(ReadChunk::new(self.items.read_chunk(n).map_err(too_few)?, &mut self.read, None))
    }

    /// How many items can be read now. It may increase at any time.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.items.slots()
    }

    /// How many items the ring holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.buffer().capacity()
    }

    /// What was lost so far: items, and the pushes that lost them.
    pub fn overruns(&mut self) -> Shortfall {
        self.overruns.update(self.handle.tally())
    }

    /// How many items were read since the ring's start; a [`Gap`] is before the item of this number.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.read
    }

    /// The next place where items are missing, if it is known already; it is, once the items after it can be read.
    ///
    /// Items up to its position are to be read first. [`pop_gap`](Consumer::pop_gap) goes on to the next.
    ///
    /// There is room for 64 gaps of which the reader has taken no notice. The next one collects all further ones, and is
    /// told of when there is room again, or at the end of the stream: perhaps when its position has been read already.
    /// So no gap is lost: together they have as many items as were lost and [skipped](RtProducer::skip).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut reader) = rt_notify::ring::capture(4);
    /// producer.push_slice(&[1, 2, 3]).unwrap();
    /// producer.push_slice(&[4, 5]).unwrap_err(); // does not fit: lost
    /// assert_eq!(reader.pop(), Ok(1));
    /// producer.push_slice(&[6, 7]).unwrap();
    ///
    /// let gap = reader.peek_gap().unwrap();
    /// assert_eq!((gap.position, gap.items), (3, 2));
    /// assert_eq!(reader.overruns().items, 2);
    /// ```
    #[must_use]
    pub fn peek_gap(&self) -> Option<Gap> {
        self.gaps.peek().ok().copied()
    }

    /// Takes the next place where items are missing: see [`peek_gap`](Consumer::peek_gap).
    pub fn pop_gap(&mut self) -> Option<Gap> {
        self.gaps.pop().ok()
    }
}

impl<T> Slots for Consumer<T> {
    fn slots(&self) -> usize {
        self.slots()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn tally(&self) -> &Tally {
        self.handle.tally()
    }

    fn position(&self) -> u64 {
        self.read
    }

    fn outlives_the_other_side(&self) -> bool {
        true
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("slots", &self.slots())
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

impl<T, W> Deref for Reader<T, W> {
    type Target = Consumer<T>;

    fn deref(&self) -> &Consumer<T> {
        &self.consumer
    }
}

impl<T, W> DerefMut for Reader<T, W> {
    fn deref_mut(&mut self) -> &mut Consumer<T> {
        &mut self.consumer
    }
}

super::waiting_end! {
    Reader, consumer: Consumer,
    /// Sleeps until `n` items can be read, and returns how many can: `n` or more.
    ///
    /// It returns early, with fewer and perhaps 0, after a flush or an overrun; and with fewer, but at least 1, once
    /// the producer is gone or the ring was stopped. Of what a producer writes after a stop, the reader is told no more
    /// once it has learned of the stop. 0 means 1. While fewer are there, pushes make no system call.
}
