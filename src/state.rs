//! The wake-up protocol: what each operation does to the word.
//!
//! | operation        | the word                                    | rings                                           |
//! |------------------|---------------------------------------------|-------------------------------------------------|
//! | `notify(n)`      | count += n                                  | armed, target reached, and due (see [`State::notify`]) |
//! | `flush`          | FLUSH set                                   | if armed                                        |
//! | `close`          | CLOSED set                                  | always                                          |
//! | `arm`            | ARMED set, SLEEP + 1                        |                                                 |
//! | `take`           | count = 0, ARMED clear, FLUSH too if `wait_for` |                                                 |
//! | `disarm`         | ARMED clear                                 |                                                 |
//! | `abandon`        | CLOSED set, ARMED clear                     |                                                 |
//!
//! All decisions are made on values that read-modify-writes of this one word returned. Those are totally ordered, so
//! there is no store that a load could overtake, and no fence. A notifier never clears ARMED: clearing it before the
//! ring would let a preempted low-priority notifier swallow the wake of a high-priority one, clearing it after could
//! disarm a later sleep.
//!
//! To the outside world the word promises one thing: what a thread wrote before it notified is visible to the waiter
//! that took the notification. All changes of the word are read-modify-writes, so each notification's release stays
//! the head of a release sequence until the waiter's acquiring `take` reads from it.

use std::time::Instant;

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sys::Futex;
use crate::word::{ARMED, CLOSED, FLUSH, LIMIT, SLEEP, Word};

/// What a wait waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    target: u32,
    /// Whether a flush ends the wait, and is consumed by it.
    flush: bool,
}

impl Goal {
    /// Any notification.
    pub(crate) const ANY: Goal = Goal { target: 1, flush: false };

    /// `n` of them, or a flush. Nothing beyond the limit is ever counted, so nobody can wait for more.
    pub(crate) fn at_least(n: u32) -> Goal {
        Goal { target: n.clamp(1, LIMIT), flush: true }
    }

    /// The bits of the word that stay when it is taken.
    fn keeps(self) -> u32 {
        CLOSED | SLEEP | if self.flush { 0 } else { FLUSH }
    }

    pub(crate) fn is_met_by(self, word: Word) -> bool {
        word.count() >= self.target || word.is_closed() || (self.flush && word.is_flushed())
    }
}

/// The word, with what notifiers read once they find it armed, alone on its cache line.
///
/// 128 bytes, because x86-64 fetches lines in pairs and some AArch64 lines are that long.
#[repr(C, align(128))]
pub(crate) struct State {
    word: Futex,
    /// The count at which to ring. Written by the waiter before it arms.
    target: AtomicU32,
    /// The number of the last sleep in which a ring has *completed*.
    rung: AtomicU32,
}

impl State {
    pub(crate) fn new() -> Self {
        State { word: Futex::new(0), target: AtomicU32::new(1), rung: AtomicU32::new(0) }
    }

    // ---- the notifiers' side: straight-line code -------------------------------------------------------------------

    /// Counts `n` (1 ..= [`MOST_AT_ONCE`](crate::word::MOST_AT_ONCE)) and calls `ring` if the waiter sleeps and its
    /// target is reached.
    ///
    /// The notifier whose addition crosses the target always rings, so that no wake is lost even when SLEEP wraps.
    /// Those after it ring too until some ring of this sleep has completed: the one who crossed may have been
    /// preempted before its system call by this very thread.
    #[inline]
    pub(crate) fn notify(&self, n: u32, ring: impl FnOnce()) {
        if self.looks_full() {
            return self.notify_full(n, ring);
        }
        let old = self.add(n);
        if old.is_armed() {
            self.ring_if_due(old, n, ring);
        }
    }

    /// The same at the limit. A path of its own, so that neither branches back to the other.
    #[cold]
    #[inline(never)]
    fn notify_full(&self, n: u32, ring: impl FnOnce()) {
        let (old, added) = self.add_unless_full(n);
        if old.is_armed() {
            self.ring_if_due(old, added, ring);
        }
    }

    /// Counts `n`, and flushes: for an `n` that was clamped. One ring serves both.
    #[cold]
    #[inline(never)]
    pub(crate) fn notify_and_flush(&self, n: u32, ring: impl FnOnce()) {
        // Counted before flushed: a waiter that the flush ends must find the count. Where the addition crosses the
        // target, `flush` rings as long as the waiter that was armed then still is.
        self.add_unless_full(n);
        self.flush(ring);
    }

    /// Whether the count was at its limit a moment ago: a hint.
    #[inline]
    fn looks_full(&self) -> bool {
        // Ordering: Relaxed. If it is, `add_unless_full` asks again; if it is not, so many threads would have to add
        // at once to overflow the count (see `MOST_AT_ONCE`).
        self.word.load(Relaxed) >= Word::FULL.0
    }

    /// Adds `n` to the count and returns the word as it was.
    #[inline]
    fn add(&self, n: u32) -> Word {
        // Ordering: Release, pairs with the Acquire in `take`: what was written before the notification is visible to
        // the waiter that takes it. Acquire, pairs with the Release in `arm`: if this reads ARMED, then `target` and
        // `rung` are at least as new as that arming.
        Word(self.word.fetch_add(Word::counting(n).0, AcqRel))
    }

    /// Adds `n` to the count unless it is at its limit. Returns the word as it was, and how much was added.
    #[inline(never)]
    fn add_unless_full(&self, n: u32) -> (Word, u32) {
        // Ordering: as in `add`. The addition of nothing returns the latest value, which a load need not do: had the
        // waiter drained the word and gone to sleep, the notification would be lost.
        let old = Word(self.word.fetch_add(0, AcqRel));
        if old.count() >= LIMIT { (old, 0) } else { (self.add(n), n) }
    }

    #[cold]
    #[inline(never)]
    fn ring_if_due(&self, old: Word, added: u32, ring: impl FnOnce()) {
        // Ordering: Relaxed; ordered by the word (see `notify`). It may already belong to a later sleep. Then the
        // waiter has disarmed after this notifier's addition, so it has seen it, and needs no ring.
        let target = self.target.load(Relaxed);
        let count = old.count();
        if count + added < target {
            return;
        }
        let crossed = count < target;
        // Ordering: Acquire, pairs with the Release below: a ring that is seen as completed happened before.
        if crossed || self.rung.load(Acquire) != old.sleep() {
            ring();
            // Ordering: Release, pairs with the Acquire above. A store that comes late, in a later sleep, can make
            // that sleep's non-crossers ring once more, or, 16 sleeps later, not ring; its crosser rings in any case.
            self.rung.store(old.sleep(), Release);
        }
    }

    /// Makes the next `wait_for*` end, and calls `ring` if the waiter is armed.
    #[inline]
    pub(crate) fn flush(&self, ring: impl FnOnce()) {
        // Ordering: Release, pairs with the Acquire in `take`. The result is not used: x86-64 has no single
        // instruction for an OR that returns the old value.
        self.word.fetch_or(FLUSH, Release);
        // Ordering: Relaxed; it cannot read a value older than the one just written. If it shows ARMED too late to
        // matter, the ring is spurious. A waiter that arms after the OR has seen FLUSH.
        if Word(self.word.load(Relaxed)).is_armed() {
            // `rung` stays: the target has not been reached, so this ring says nothing about it.
            ring();
        }
    }

    /// Closes, and calls `ring` in any case: a waiter that is not armed may sleep on the word as well.
    #[inline]
    pub(crate) fn close(&self, ring: impl FnOnce()) {
        // Ordering: Release, pairs with the Acquire in `take`. The result is not used, as in `flush`.
        self.word.fetch_or(CLOSED, Release);
        ring();
    }

    /// Wakes the waiter that sleeps in [`State::sleep`]. Safe to call in any state.
    #[inline]
    pub(crate) fn wake(&self) {
        self.word.wake(1);
    }

    // ---- the waiter's side: one thread at a time -------------------------------------------------------------------

    /// The word as it is now: a hint, to be confirmed by `take`, `arm` or `disarm`.
    #[inline]
    pub(crate) fn look(&self) -> Word {
        // Ordering: Relaxed; whatever is decided on it is confirmed by a read-modify-write.
        Word(self.word.load(Relaxed))
    }

    /// Takes all that is pending, disarms, and returns the word as it was.
    #[inline]
    pub(crate) fn take(&self, goal: Goal) -> Word {
        // Ordering: Acquire, pairs with the Release in `notify`, `flush` and `close`.
        Word(self.word.fetch_and(goal.keeps(), Acquire))
    }

    /// Asks to be rung when `goal` is met, if the word still is `seen`. Returns the armed word to sleep on.
    ///
    /// Always a new sleep with a new number: a target or a `rung` that changed under a standing ARMED would reach a
    /// notifier without order.
    pub(crate) fn arm(&self, seen: Word, goal: Goal) -> Option<Word> {
        // Ordering: Relaxed; both are published by the compare-exchange.
        self.target.store(goal.target, Relaxed);
        // Not the new number, so that every notifier at the target rings until one ring has completed.
        // Ordering: as above.
        self.rung.store(seen.sleep(), Relaxed);
        let armed = seen.arming();
        // Ordering: Release, pairs with the Acquire in `notify`. Relaxed on failure: the caller looks again.
        self.word.compare_exchange(seen.0, armed.0, Release, Relaxed).ok()?;
        Some(armed)
    }

    /// Takes all that is pending and asks to be rung at the next notification, in one step. Returns the word as it
    /// was. For a waiter whose descriptor may be in a poller: it is armed whenever it is not looking.
    #[cfg(unix)]
    pub(crate) fn take_and_arm(&self, goal: Goal) -> Word {
        self.arm_keeping(goal.keeps())
    }

    /// Takes nothing, and asks to be rung at the next notification. Returns the word as it was.
    #[cfg(unix)]
    pub(crate) fn rearm(&self) -> Word {
        self.arm_keeping(!ARMED)
    }

    /// Keeps those bits of the word and arms, for target 1, with a new sleep number: a descriptor that was drained of
    /// a ring must be rung anew. A closed word is not armed: nothing will come that the waiter has not been told.
    #[cfg(unix)]
    fn arm_keeping(&self, keep: u32) -> Word {
        // Ordering: Relaxed, as in `arm`.
        self.target.store(1, Relaxed);
        let mut seen = self.look();
        loop {
            // Ordering: Relaxed, as in `arm`.
            self.rung.store(seen.sleep(), Relaxed);
            let kept = Word(seen.0 & keep);
            let next = if seen.is_closed() { kept } else { kept.arming() };
            // Ordering: Release as in `arm`, Acquire as in `take`; Relaxed on failure: another look.
            match self.word.compare_exchange_weak(seen.0, next.0, AcqRel, Relaxed) {
                Ok(_) => return seen,
                Err(now) => seen = Word(now),
            }
        }
    }

    /// Takes back `arm` and returns the word as it was.
    pub(crate) fn disarm(&self) -> Word {
        // Ordering: Relaxed; if the caller then finds something pending, it takes it.
        Word(self.word.fetch_and(!ARMED, Relaxed))
    }

    /// Sleeps unless the word is no longer `seen`.
    pub(crate) fn sleep(&self, seen: Word, until: Option<Instant>) {
        match until {
            None => self.word.wait(seen.0),
            Some(at) => self.word.wait_until(seen.0, at),
        }
    }

    /// The waiter is gone: closes and disarms, so that nobody rings any more, and `is_closed` tells.
    pub(crate) fn abandon(&self) {
        // Ordering: Release, pairs with the Acquire in `is_closed`.
        self.word.fetch_or(CLOSED, Release);
        // Ordering: Relaxed; notifiers read nothing that depends on it.
        self.word.fetch_and(!ARMED, Relaxed);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // Ordering: Acquire, pairs with the Release in `close` and `abandon`.
        Word(self.word.load(Acquire)).is_closed()
    }
}

/// What the models arrange and observe.
#[cfg(all(test, rt_notify_loom))]
impl State {
    pub(crate) fn preset(&self, word: Word) {
        self.word.store(word.0, Relaxed);
    }

    /// As if the waiter had slept 15 times since.
    pub(crate) fn rewind_sleep(&self) {
        let rewind = |word: u32| Some(word & !SLEEP | word.wrapping_sub(Word(0).arming().0 & SLEEP) & SLEEP);
        let _ = self.word.fetch_update(Relaxed, Relaxed, rewind);
    }

    pub(crate) fn futex(&self) -> &Futex {
        &self.word
    }
}
