//! The realtime side: posts.

use std::fmt;
#[cfg(unix)]
use std::io;
use std::time::Instant;

#[cfg(unix)]
use crate::PollWaiter;
use crate::Waiter;
#[cfg(unix)]
use crate::parking::parking;
use crate::shared::{Bell, Handle, Shared};
#[cfg(unix)]
use crate::sys::Event;
use crate::word::MOST_AT_ONCE;

/// The most that one [`Notifier::notify_many`] counts.
pub const NOTIFY_MANY_MAX: u32 = MOST_AT_ONCE;

/// Tells a [`Waiter`] that something has happened, from a thread that must never block.
///
/// Made by [`Notifier::new`]. Clone it for further threads; when the last clone is dropped, the waiter's next wait
/// hands out what is pending, and every later one returns [`Closed`](crate::Closed).
///
/// **Realtime-safe**: every method, [`Clone`] and [`Drop`]. In user space they are straight-line code that takes no
/// lock, does not allocate or free, uses no thread-local and cannot panic. They make at most one system call, which
/// does not block (`FUTEX_WAKE`), and only if the waiter is asleep or about to be; the drop of the last notifier makes
/// it always. They are **async-signal-safe** too, and keep `errno`. (`Clone` aborts the process after
/// [`isize::MAX`] clones, as [`Arc`](std::sync::Arc) does.)
///
/// The code is wait-free where an atomic addition is one instruction (x86-64, AArch64 with LSE). Elsewhere the
/// processor's load-linked/store-conditional loop makes it lock-free. The system call takes a lock inside the kernel
/// for a short time: bounded, but not wait-free.
///
/// Everything written before `notify` is visible to the thread whose wait takes the notification.
///
/// # Examples
///
/// ```
/// use rt_notify::{Closed, Notifier};
///
/// let (notifier, mut waiter) = Notifier::new();
/// notifier.notify();
/// notifier.notify();
/// assert_eq!(waiter.wait(), Ok(2));
/// drop(notifier);
/// assert_eq!(waiter.wait(), Err(Closed));
/// ```
pub struct Notifier {
    shared: Handle,
}

impl Notifier {
    /// The same as [`NOTIFY_MANY_MAX`].
    pub const NOTIFY_MANY_MAX: u32 = NOTIFY_MANY_MAX;

    /// Makes a pair: this end notifies, the [`Waiter`] waits on a futex. No descriptor is opened.
    ///
    /// Not realtime-safe: it allocates, and frees what earlier pairs have left behind.
    #[must_use]
    pub fn new() -> (Notifier, Waiter) {
        let (notifier, waiter) = Shared::pair(Bell::Futex);
        (Notifier { shared: notifier }, Waiter::new(waiter))
    }

    /// Makes a pair whose [`PollWaiter`] is a descriptor as well, to be polled together with others: an `eventfd` on
    /// Linux, a pipe elsewhere. Unix only.
    ///
    /// Not realtime-safe: it allocates, opens a descriptor, and frees what earlier pairs have left behind. The
    /// notifier is the same as that of [`Notifier::new`]; where it makes a system call, that is a non-blocking
    /// `write`.
    ///
    /// # Errors
    ///
    /// That of `eventfd(2)` or `pipe2(2)`: no descriptor is left, for instance (`EMFILE`).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let (notifier, mut waiter) = rt_notify::Notifier::pollable()?;
    /// notifier.notify();
    /// assert_eq!(waiter.wait(), Ok(1));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    pub fn pollable() -> io::Result<(Notifier, PollWaiter)> {
        // Before the new descriptor is opened: the last one that the process may have could be among what is freed.
        parking().sweep();
        let (notifier, waiter) = Shared::pair(Bell::Event(Event::new()?));
        Ok((Notifier { shared: notifier }, PollWaiter::new(waiter)))
    }

    /// Posts one notification, and wakes the waiter if it sleeps.
    ///
    /// Realtime-safe, async-signal-safe. Nothing is ever lost: notifications are counted, and a waiter that is busy
    /// finds the count later. The count saturates at 2^23 (8,388,608, three hours of callbacks at 64 frames and
    /// 48 kHz): from there on notifications wake the waiter but are not counted.
    ///
    /// If several threads notify at once while the waiter sleeps, each makes at most one system call; one thread
    /// alone makes one per sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// # let (notifier, mut waiter) = rt_notify::Notifier::new();
    /// let worker = std::thread::spawn(move || waiter.wait());
    /// notifier.notify();
    /// assert_eq!(worker.join().unwrap(), Ok(1));
    /// ```
    #[inline]
    pub fn notify(&self) {
        self.shared.notify(1);
    }

    /// Posts `n` notifications at once.
    ///
    /// Realtime-safe, async-signal-safe. 0 does nothing. More than [`NOTIFY_MANY_MAX`] (4,096) counts that many, and
    /// [flushes](Notifier::flush): a waiter that waits for the rest must not wait for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// # let (notifier, mut waiter) = rt_notify::Notifier::new();
    /// notifier.notify_many(64);
    /// notifier.notify_many(0);
    /// assert_eq!(waiter.wait(), Ok(64));
    /// ```
    #[inline]
    pub fn notify_many(&self, n: u32) {
        if n > NOTIFY_MANY_MAX {
            self.notify_and_flush(n);
        } else if n > 0 {
            self.shared.notify(n);
        }
    }

    /// [`notify_many`](Notifier::notify_many) and [`flush`](Notifier::flush), by one system call at most.
    pub(crate) fn notify_and_flush(&self, n: u32) {
        self.shared.notify_and_flush(n.min(NOTIFY_MANY_MAX));
    }

    /// Ends the waiter's present or next [`wait_for`](Waiter::wait_for), even if its target is not reached.
    ///
    /// Realtime-safe, async-signal-safe. For the end of a stream, where the rest is less than the waiter waits for.
    /// A flush is not a notification: it counts nothing, several are one, and only `wait_for` and
    /// [`wait_for_deadline`](Waiter::wait_for_deadline) end by it.
    ///
    /// # Examples
    ///
    /// ```
    /// # let (notifier, mut waiter) = rt_notify::Notifier::new();
    /// notifier.notify_many(10);
    /// notifier.flush();
    /// assert_eq!(waiter.wait_for(1000), Ok(10));
    /// ```
    #[inline]
    pub fn flush(&self) {
        self.shared.flush();
    }

    /// Announces when the next notification will come, for a waiter with [`WaitStrategy::Periodic`]: it then need not
    /// learn it.
    ///
    /// Realtime-safe, async-signal-safe: a subtraction of two moments and one store. The latest announcement counts;
    /// other strategies ignore it. An audio server knows when its next cycle starts (`jack_get_cycle_times`), better than
    /// any estimate. A constant lag behind what is announced is learnt. What is more than 10 seconds ahead is ignored.
    ///
    /// [`WaitStrategy::Periodic`]: crate::WaitStrategy::Periodic
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::{Duration, Instant};
    /// # let (notifier, mut waiter) = rt_notify::Notifier::new();
    /// notifier.notify();
    /// notifier.expect_next(Instant::now() + Duration::from_micros(1333));
    /// # assert_eq!(waiter.wait(), Ok(1));
    /// ```
    #[inline]
    pub fn expect_next(&self, at: Instant) {
        self.shared.hint().announce(at);
    }

    /// Whether nobody will take a notification any more: the waiter was dropped, or the pair was
    /// [stopped](crate::Stopper::stop).
    ///
    /// Realtime-safe, async-signal-safe. Notifying after that does no harm. `false` may be out of date at once.
    ///
    /// # Examples
    ///
    /// ```
    /// # let (notifier, waiter) = rt_notify::Notifier::new();
    /// assert!(!notifier.is_closed());
    /// drop(waiter);
    /// assert!(notifier.is_closed());
    /// notifier.notify();
    /// ```
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.state().is_closed()
    }
}

/// Realtime-safe.
impl Clone for Notifier {
    #[inline]
    fn clone(&self) -> Self {
        self.shared.add_notifier();
        Notifier { shared: self.shared.clone() }
    }
}

/// Realtime-safe: nothing is freed, whichever side goes first.
impl Drop for Notifier {
    #[inline]
    fn drop(&mut self) {
        self.shared.drop_notifier();
    }
}

#[cfg(all(test, rt_notify_loom))]
impl Notifier {
    pub(crate) fn state(&self) -> &crate::state::State {
        self.shared.state()
    }

    pub(crate) fn event(&self) -> &Event {
        self.shared.event()
    }
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.state().look().fmt_as("Notifier", f)
    }
}
