//! Rings whose reader, or writer, can wait: [rtrb](https://docs.rs/rtrb) together with a [`Notifier`].
//!
//! One side is the audio thread's, and has no method that blocks, allocates or frees. The other side is a worker's,
//! and can sleep until there is enough to do:
//!
//! | made by                      | the audio thread           | the worker                        |
//! |------------------------------|----------------------------|-----------------------------------|
//! | [`capture`]                  | writes, by [`RtProducer`]  | waits and reads, by [`Reader`]    |
//! | [`playback`]                 | reads, by [`RtConsumer`]   | waits and writes, by [`Writer`]   |
//! | [`capture_on`]               | writes, by [`RtProducer`]  | waits on one [`Waiter`](crate::Waiter) for several rings, reads by [`Consumer`] |
//! | `capture_pollable`, `playback_pollable` | as above        | polls its ring with other descriptors |
//!
//! The order, first the data, then the notification, is the ring's business and cannot be got wrong. What does not
//! fit, or is not there in time, is counted ([`Shortfall`]), and a [`Gap`] tells where.
//!
//! # Examples
//!
//! ```
//! use rt_notify::ring::{self, WaitForError};
//!
//! let (mut producer, mut reader) = ring::capture::<f32>(1024);
//!
//! let worker = std::thread::spawn(move || {
//!     let mut sum = 0.0;
//!     loop {
//!         match reader.wait_for(256) {
//!             Ok(items) => {
//!                 let chunk = reader.read_chunk(items).expect("so many can be read");
//!                 let (first, second) = chunk.as_slices();
//!                 sum += first.iter().sum::<f32>() + second.iter().sum::<f32>();
//!                 chunk.commit_all();
//!             }
//!             Err(WaitForError::Closed) => return sum,
//!             Err(error) => panic!("{error}"),
//!         }
//!     }
//! });
//!
//! for _ in 0..10 {
//!     // In the process callback:
//!     producer.push_slice(&[1.0; 64]).expect("it is small");
//! }
//! drop(producer);
//! assert_eq!(worker.join().unwrap(), 640.0);
//! ```

mod capture;
mod chunk;
mod error;
mod gap;
mod node;
mod playback;
mod tally;
mod wait;

#[cfg(unix)]
use std::io;

pub use self::capture::{Consumer, Reader, RtProducer};
pub use self::chunk::{ReadChunk, WriteChunk};
pub use self::error::{ChunkError, PopError, PushError, WaitForError, WaitForTimeoutError};
pub use self::gap::Gap;
pub use self::playback::{RtConsumer, Writer};
pub use self::tally::Shortfall;
use crate::Notifier;
#[cfg(unix)]
use crate::PollWaiter;

/// A ring of `capacity` items that the audio thread writes and a worker waits for.
///
/// Not realtime-safe: it allocates.
#[must_use]
pub fn capture<T: Send + 'static>(capacity: usize) -> (RtProducer<T>, Reader<T>) {
    let (notifier, waiter) = Notifier::new();
    let (producer, consumer) = capture::capture_on(capacity, notifier);
    (producer, Reader::new(consumer, waiter))
}

/// [`capture`] with a reader that can be polled together with other descriptors.
///
/// Not realtime-safe: it allocates.
///
/// A [`PollLoop`](crate::PollLoop) over the reader's waiter would borrow the reader. For that, take
/// [`Notifier::pollable`] and a ring on it by [`capture_on`].
///
/// # Errors
///
/// That of [`Notifier::pollable`].
#[cfg(unix)]
pub fn capture_pollable<T: Send + 'static>(
    capacity: usize,
) -> io::Result<(RtProducer<T>, Reader<T, PollWaiter>)> {
    let (notifier, waiter) = Notifier::pollable()?;
    let (producer, consumer) = capture::capture_on(capacity, notifier);
    Ok((producer, Reader::new(consumer, waiter)))
}

/// A ring of `capacity` items whose producer notifies the waiter of `notifier`: one waiter for several rings.
///
/// Not realtime-safe: it allocates. The [`Consumer`] never waits itself. After every wait of that waiter, look at all
/// rings: a count tells of items, not of whose. The waiter is told [`Closed`](crate::Closed) once all its notifiers
/// are gone, those of the rings among them.
///
/// # Examples
///
/// ```
/// use rt_notify::{Notifier, ring};
///
/// let (notifier, mut waiter) = Notifier::new();
/// let (mut left, mut from_left) = ring::capture_on(16, &notifier);
/// let (mut right, mut from_right) = ring::capture_on(16, &notifier);
/// left.push_slice(&[1, 2]).unwrap();
/// right.push(3).unwrap();
/// assert_eq!(waiter.wait(), Ok(3));
/// assert_eq!((from_left.slots(), from_right.slots()), (2, 1));
/// # assert_eq!((from_left.pop(), from_right.pop()), (Ok(1), Ok(3)));
/// ```
#[must_use]
pub fn capture_on<T: Send + 'static>(capacity: usize, notifier: &Notifier) -> (RtProducer<T>, Consumer<T>) {
    capture::capture_on(capacity, notifier.clone())
}

/// A ring of `capacity` items that a worker writes, waiting for room, and the audio thread reads.
///
/// Not realtime-safe: it allocates.
///
/// # Examples
///
/// ```
/// let (mut writer, mut consumer) = rt_notify::ring::playback(8);
/// writer.push_slice(&[1, 2, 3]).unwrap();
/// let mut block = [0; 2];
/// consumer.read_slice(&mut block).unwrap(); // in the process callback
/// assert_eq!(block, [1, 2]);
/// assert_eq!(writer.wait_for(7), Ok(7));
/// ```
#[must_use]
pub fn playback<T: Send + 'static>(capacity: usize) -> (Writer<T>, RtConsumer<T>) {
    let (notifier, waiter) = Notifier::new();
    let (producer, consumer) = playback::playback_on(capacity, notifier);
    (Writer::new(producer, waiter), consumer)
}

/// [`playback`] with a writer that can be polled together with other descriptors.
///
/// Not realtime-safe: it allocates.
///
/// # Errors
///
/// That of [`Notifier::pollable`].
#[cfg(unix)]
pub fn playback_pollable<T: Send + 'static>(
    capacity: usize,
) -> io::Result<(Writer<T, PollWaiter>, RtConsumer<T>)> {
    let (notifier, waiter) = Notifier::pollable()?;
    let (producer, consumer) = playback::playback_on(capacity, notifier);
    Ok((Writer::new(producer, waiter), consumer))
}

/// What [`Reader`] and [`Writer`] have in common: they wait for the slots of an end.
macro_rules! waiting_end {
    ($type:ident, $field:ident: $end:ident, $(#[$wait_for:meta])+) => {
        impl<T, W: crate::Wait> $type<T, W> {
            pub(super) fn new($field: $end<T>, waiter: W) -> Self {
                $type { $field, waiting: Waiting::new(waiter) }
            }

            $(#[$wait_for])+
            ///
            /// Not realtime-safe: it blocks.
            ///
            /// # Errors
            ///
            /// [`WaitForError::ExceedsCapacity`] if the ring is smaller than `n`; [`WaitForError::Closed`] at the end.
            pub fn wait_for(&mut self, n: usize) -> Result<usize, WaitForError> {
                self.waiting.wait_for(n, None, &self.$field).map_err(untimed)
            }

            /// [`wait_for`](Self::wait_for), for so long at most.
            ///
            /// Not realtime-safe: it blocks.
            ///
            /// # Errors
            ///
            /// Those of [`wait_for`](Self::wait_for), and [`WaitForTimeoutError::Timeout`].
            pub fn wait_for_timeout(
                &mut self,
                n: usize,
                timeout: Duration,
            ) -> Result<usize, WaitForTimeoutError> {
                self.waiting.wait_for(n, after(timeout), &self.$field)
            }

            /// [`wait_for`](Self::wait_for), until `deadline` at most.
            ///
            /// Not realtime-safe: it blocks.
            ///
            /// # Errors
            ///
            /// Those of [`wait_for`](Self::wait_for), and [`WaitForTimeoutError::Timeout`].
            pub fn wait_for_deadline(
                &mut self,
                n: usize,
                deadline: Instant,
            ) -> Result<usize, WaitForTimeoutError> {
                self.waiting.wait_for(n, Some(deadline), &self.$field)
            }

            /// How many slots there are now, without sleeping; makes the descriptor of a pollable end unreadable.
            ///
            /// Not in the realtime-safe list. In a poll loop, use all the slots: the descriptor becomes readable when
            /// there are more, not while there are some.
            ///
            /// # Errors
            ///
            /// [`TryWaitError::Empty`](crate::TryWaitError::Empty) if there are none;
            /// [`TryWaitError::Closed`](crate::TryWaitError::Closed) at the end.
            pub fn try_wait(&mut self) -> Result<usize, crate::TryWaitError> {
                self.waiting.try_wait(&self.$field)
            }

            /// A handle that ends the waits from elsewhere.
            #[must_use]
            pub fn stopper(&self) -> crate::Stopper {
                self.waiting.waiter.stopper()
            }

            /// The waiter, to be polled or tuned. Waiting on it by oneself does no harm: the ring looks at its slots.
            pub fn waiter_mut(&mut self) -> &mut W {
                &mut self.waiting.waiter
            }
        }

        impl<T, W: crate::Wait> crate::wait::sealed::Sealed for $type<T, W> {}

        /// Counts are of slots, and at most `u32::MAX`. Waiting for more than the capacity waits for that. A flush
        /// ends `wait_for` and `wait_for_deadline` only, and is left to them by the other waits.
        impl<T, W: crate::Wait> crate::Wait for $type<T, W> {
            fn wait(&mut self) -> Result<u32, crate::Closed> {
                self.waiting.wait(None, &self.$field).map_err(|_| crate::Closed)
            }

            fn try_wait(&mut self) -> Result<u32, crate::TryWaitError> {
                self.try_wait().map(saturate)
            }

            fn wait_timeout(&mut self, timeout: Duration) -> Result<u32, crate::WaitTimeoutError> {
                self.waiting.wait(after(timeout), &self.$field).map_err(without_capacity)
            }

            fn wait_deadline(&mut self, deadline: Instant) -> Result<u32, crate::WaitTimeoutError> {
                self.waiting.wait(Some(deadline), &self.$field).map_err(without_capacity)
            }

            fn wait_for(&mut self, n: u32) -> Result<u32, crate::Closed> {
                let n = (n as usize).min(self.$field.capacity());
                self.wait_for(n).map(saturate).map_err(|_| crate::Closed)
            }

            fn wait_for_deadline(
                &mut self,
                n: u32,
                deadline: Instant,
            ) -> Result<u32, crate::WaitTimeoutError> {
                let n = (n as usize).min(self.$field.capacity());
                self.wait_for_deadline(n, deadline).map(saturate).map_err(without_capacity)
            }

            fn stopper(&self) -> crate::Stopper {
                self.stopper()
            }
        }

        #[cfg(unix)]
        impl<T> std::os::fd::AsFd for $type<T, crate::PollWaiter> {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.waiting.waiter.as_fd()
            }
        }

        #[cfg(unix)]
        impl<T> std::os::fd::AsRawFd for $type<T, crate::PollWaiter> {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.waiting.waiter.as_raw_fd()
            }
        }

        impl<T, W> fmt::Debug for $type<T, W> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field(stringify!($field), &self.$field).finish_non_exhaustive()
            }
        }
    };
}
use waiting_end;
