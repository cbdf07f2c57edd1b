//! A counting semaphore for statics, signal handlers and several waiters.
//!
//! ```text
//!  31          22 21                          0
//! ┌──────────────┬─────────────────────────────┐
//! │ waiters (10) │ permits (22)                │
//! └──────────────┴─────────────────────────────┘
//! ```
//!
//! | operation | the word                              | wakes                          |
//! |-----------|---------------------------------------|--------------------------------|
//! | post      | permits + 1                           | one, if waiters are registered |
//! | take      | permits − 1, and waiters − 1 if it was registered |                    |
//! | register  | waiters + 1, if there is no permit    |                                |
//! | give up   | waiters − 1, if there is no permit    |                                |
//!
//! Each post decides on the value that its own addition returned, and wakes as long as anybody is registered, not
//! only when the permits rise from 0: two posts in a row must wake two sleepers, and a post must not rely on the wake
//! of another thread that may be preempted before it. A sleeper leaves only by taking a permit, or, after its
//! deadline, from a word that shows none, so no permit is left behind with its wake.

use std::fmt;
use std::time::{Duration, Instant};

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{now, sleep};
use crate::sys::{Futex, first_call};

const WAITERS_SHIFT: u32 = 22;
const ONE_WAITER: u32 = 1 << WAITERS_SHIFT;
const PERMITS: u32 = ONE_WAITER - 1;
const MOST_WAITERS: u32 = u32::MAX >> WAITERS_SHIFT;

/// How long a sleeper that found no place to register sleeps before it looks again.
const UNREGISTERED_STEP: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    const fn permits(self) -> u32 {
        self.0 & PERMITS
    }

    const fn waiters(self) -> u32 {
        self.0 >> WAITERS_SHIFT
    }
}

/// A counting semaphore with the names of POSIX: [`post`](Semaphore::post) adds a permit,
/// [`wait`](Semaphore::wait) takes one.
///
/// For what a [`Notifier`](crate::Notifier) is not made for: a `static` that a signal handler posts, or several
/// threads that wait. It is one 32-bit word, needs no allocation and no destructor, and works within one process.
///
/// **Realtime-safe** and **async-signal-safe**: [`post`](Semaphore::post). It makes one system call, which does not
/// block, if a thread waits, and none otherwise; it keeps `errno`. Everything written before `post` is visible to the
/// thread that takes the permit.
///
/// Up to 1,023 threads sleep without using the processor. Further ones look again every millisecond.
///
/// # Examples
///
/// ```
/// use rt_notify::Semaphore;
///
/// static DONE: Semaphore = Semaphore::new(0);
///
/// let worker = std::thread::spawn(|| DONE.post());
/// DONE.wait();
/// worker.join().unwrap();
/// assert_eq!(DONE.count(), 0);
/// ```
pub struct Semaphore {
    word: Futex,
}

impl Semaphore {
    /// The most permits that a semaphore holds: 2^21.
    ///
    /// Posts beyond it are absorbed. So many more threads would have to be inside `post` at the same moment before
    /// the word could overflow.
    pub const MAX: u32 = 1 << (WAITERS_SHIFT - 1);

    /// A semaphore with `count` permits, or with [`MAX`](Semaphore::MAX) if that is less.
    #[cfg(not(all(test, rt_notify_loom)))]
    #[must_use]
    pub const fn new(count: u32) -> Semaphore {
        Semaphore { word: Futex::new(if count < Self::MAX { count } else { Self::MAX }) }
    }

    #[cfg(all(test, rt_notify_loom))]
    pub(crate) fn new(count: u32) -> Semaphore {
        Semaphore { word: Futex::new(count.min(Self::MAX)) }
    }

    /// Adds a permit, and wakes one waiting thread.
    ///
    /// Realtime-safe, async-signal-safe. At [`MAX`](Semaphore::MAX) permits it adds nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// let semaphore = Semaphore::new(Semaphore::MAX);
    /// semaphore.post();
    /// assert_eq!(semaphore.count(), Semaphore::MAX);
    /// ```
    #[inline]
    pub fn post(&self) {
        // Ordering: Relaxed; a hint. If the limit seems reached, `post_full` asks again; if it does not, MAX threads
        // would have to add at once to overflow the permits.
        if Word(self.word.load(Relaxed)).permits() >= Self::MAX {
            return self.post_full();
        }
        self.wake_one_if_any(self.add_one());
    }

    /// The same at the limit. A path of its own, so that neither branches back to the other.
    #[cold]
    #[inline(never)]
    fn post_full(&self) {
        // Ordering: Release, as in `add_one`: a post that is absorbed publishes too, to whoever takes a permit next.
        // The addition of nothing returns the latest value, which a load need not do: had all permits been taken
        // meanwhile, this one would be lost.
        let old = Word(self.word.fetch_add(0, Release));
        // Where nothing is added somebody may still sleep, on the wake of a thread that was preempted before it.
        self.wake_one_if_any(if old.permits() >= Self::MAX { old } else { self.add_one() });
    }

    #[inline]
    fn add_one(&self) -> Word {
        // Ordering: Release, pairs with the Acquire in `take`: what was written before the post is visible to the
        // thread that takes the permit.
        Word(self.word.fetch_add(1, Release))
    }

    /// Once a permit has been added, the waiter that takes it may free the semaphore: only the address is used.
    #[inline]
    fn wake_one_if_any(&self, old: Word) {
        if old.waiters() > 0 {
            self.wake(1);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, n: u32) {
        self.word.wake(n);
    }

    /// Adds `n` permits at once, up to [`MAX`](Semaphore::MAX), and wakes as many waiting threads.
    ///
    /// Lock-free, but not in the realtime-safe list: it repeats an exchange that another thread has overtaken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// let semaphore = Semaphore::new(0);
    /// semaphore.post_many(3);
    /// assert_eq!(semaphore.count(), 3);
    /// semaphore.post_many(u32::MAX);
    /// assert_eq!(semaphore.count(), Semaphore::MAX);
    /// ```
    pub fn post_many(&self, n: u32) {
        // Ordering: Release as in `add_one`; Relaxed for looks that the exchange confirms.
        let old = self.word.fetch_update(Release, Relaxed, |word| {
            let room = Self::MAX.saturating_sub(Word(word).permits());
            Some(word + n.min(room))
        });
        let waiters = Word(old.unwrap_or_else(|word| word)).waiters();
        if waiters > 0 && n > 0 {
            self.wake(n.min(waiters));
        }
    }

    /// Takes one permit; sleeps while there is none.
    ///
    /// Not realtime-safe: it blocks. Signals do not end it. Waiting threads have no order.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// let semaphore = Semaphore::new(2);
    /// semaphore.wait();
    /// assert_eq!(semaphore.count(), 1);
    /// ```
    pub fn wait(&self) {
        let taken = self.block(None);
        debug_assert!(taken, "a wait without a deadline ends by a permit alone");
    }

    /// Takes one permit if there is one, and tells whether there was. Never sleeps.
    ///
    /// Lock-free, but not in the realtime-safe list: it repeats an exchange that another thread has overtaken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// let semaphore = Semaphore::new(1);
    /// assert!(semaphore.try_wait());
    /// assert!(!semaphore.try_wait());
    /// ```
    #[must_use = "without a permit the caller must not go on as if it had one"]
    pub fn try_wait(&self) -> bool {
        self.take(0)
    }

    /// [`wait`](Semaphore::wait), for so long at most; tells whether a permit was taken.
    ///
    /// Not realtime-safe: it blocks. `false` only once that time has passed on the monotonic clock. What no clock can
    /// hold is for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// # use std::time::Duration;
    /// let semaphore = Semaphore::new(1);
    /// assert!(semaphore.wait_timeout(Duration::MAX));
    /// assert!(!semaphore.wait_timeout(Duration::from_millis(1)));
    /// ```
    #[must_use = "without a permit the caller must not go on as if it had one"]
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        if timeout.is_zero() {
            return self.try_wait();
        }
        self.block(now().checked_add(timeout))
    }

    /// [`wait`](Semaphore::wait), until `deadline` at most; tells whether a permit was taken.
    ///
    /// Not realtime-safe: it blocks. `false` only once `Instant::now()` has reached `deadline`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rt_notify::Semaphore;
    /// # use std::time::{Duration, Instant};
    /// assert!(!Semaphore::new(0).wait_deadline(Instant::now() + Duration::from_millis(1)));
    /// ```
    #[must_use = "without a permit the caller must not go on as if it had one"]
    pub fn wait_deadline(&self, deadline: Instant) -> bool {
        self.block(Some(deadline))
    }

    /// How many permits there are; out of date at once if other threads post or wait.
    ///
    /// Realtime-safe, async-signal-safe.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        // Ordering: Relaxed; nothing is read on the strength of it. Posts that pass the limit together show here.
        Word(self.word.load(Relaxed)).permits().min(Self::MAX)
    }

    /// Takes a permit, and leaves by `leaving` (0 or [`ONE_WAITER`]) in the same step. `false` if there is none.
    fn take(&self, leaving: u32) -> bool {
        // Ordering: Acquire, pairs with the Release in `post`; Relaxed for looks that the exchange confirms.
        let taken = self
            .word
            .fetch_update(Acquire, Relaxed, |word| (Word(word).permits() > 0).then(|| word - 1 - leaving));
        taken.is_ok()
    }

    /// Counts the caller among those that posts wake, or not if there is a permit.
    fn register(&self) -> Registration {
        // Ordering: Relaxed; the word alone carries the protocol, and its changes are totally ordered.
        let changed = self.word.fetch_update(Relaxed, Relaxed, |word| {
            let word = Word(word);
            (word.permits() == 0 && word.waiters() < MOST_WAITERS).then(|| word.0 + ONE_WAITER)
        });
        match changed {
            Ok(_) => Registration::Done,
            Err(word) if Word(word).permits() > 0 => Registration::Permit,
            Err(_) => Registration::NoPlace,
        }
    }

    /// Takes the caller off that count. `false` if there is a permit, whose wake may have been the caller's: it must
    /// take it.
    fn give_up(&self) -> bool {
        // Ordering: Relaxed, as in `register`.
        let changed = self
            .word
            .fetch_update(Relaxed, Relaxed, |word| (Word(word).permits() == 0).then(|| word - ONE_WAITER));
        changed.is_ok()
    }

    /// Takes a permit by `deadline`, and tells whether it did. `None` is for ever.
    fn block(&self, deadline: Option<Instant>) -> bool {
        let is_late = || deadline.is_some_and(|at| now() >= at);
        // Not by `new`, which is const. A post makes its call once somebody is registered, and no sooner.
        first_call::prepare();
        loop {
            if self.take(0) {
                return true;
            }
            match self.register() {
                Registration::Done => break,
                Registration::Permit => {}
                Registration::NoPlace if is_late() => return false,
                Registration::NoPlace => sleep(UNREGISTERED_STEP),
            }
        }
        loop {
            if self.take(ONE_WAITER) {
                return true;
            }
            if is_late() && self.give_up() {
                return false;
            }
            // Ordering: Relaxed; the kernel compares again.
            let seen = self.word.load(Relaxed);
            if Word(seen).permits() > 0 {
                continue;
            }
            match deadline {
                None => self.word.wait(seen),
                Some(at) => self.word.wait_until(seen, at),
            }
        }
    }
}

enum Registration {
    Done,
    /// Not registered: there is a permit to take.
    Permit,
    /// Not registered: so many are already.
    NoPlace,
}

/// What the models arrange and observe.
#[cfg(all(test, rt_notify_loom))]
impl Semaphore {
    pub(crate) const MOST_WAITERS: u32 = MOST_WAITERS;

    pub(crate) fn with_waiters(waiters: u32) -> Self {
        Semaphore { word: Futex::new(waiters << WAITERS_SHIFT) }
    }

    pub(crate) fn waiters(&self) -> u32 {
        Word(self.word.load(Relaxed)).waiters()
    }

    pub(crate) fn futex(&self) -> &Futex {
        &self.word
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("count", &self.count()).finish_non_exhaustive()
    }
}
