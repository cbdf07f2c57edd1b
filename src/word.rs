//! The layout of the one word on which notifiers and waiter agree.
//!
//! ```text
//!  31                          7 6       3  2      1       0
//! ┌─────────────────────────────┬─────────┬──────┬───────┬──────┐
//! │ pending count (25 bits)     │ SLEEP 4 │ FLUSH│ CLOSED│ ARMED│
//! └─────────────────────────────┴─────────┴──────┴───────┴──────┘
//! ```
//!
//! - **ARMED**: the waiter sleeps, is about to, or may sleep in a poller. Ring it. Only the waiter changes this bit.
//! - **CLOSED**: the last notifier is gone, the pair was stopped, or the waiter was dropped. Never cleared.
//! - **FLUSH**: the next `wait_for*` ends, whatever its target.
//! - **SLEEP**: the number of the waiter's latest arming, modulo 16.
//! - **count**: notifications that the waiter has not taken yet. It is at the top, so that one comparison of the
//!   whole word tells whether it has reached [`LIMIT`].

use std::fmt;

pub(crate) const ARMED: u32 = 1;
pub(crate) const CLOSED: u32 = 1 << 1;
pub(crate) const FLUSH: u32 = 1 << 2;

const SLEEP_SHIFT: u32 = 3;
pub(crate) const SLEEP: u32 = 0b1111 << SLEEP_SHIFT;

const COUNT_SHIFT: u32 = 7;

/// The pending count saturates here: whoever sees it at or above this does not add.
pub(crate) const LIMIT: u32 = 1 << 23;

/// The most that one call may add.
pub(crate) const MOST_AT_ONCE: u32 = 1 << 12;

/// A notifier looks, then adds; between the two, other threads may add as well. So many may be inside `notify_many` at
/// once before the count could overflow.
const _: () = {
    const THREADS_AT_ONCE: u32 = 6_143;
    assert!(LIMIT + THREADS_AT_ONCE * MOST_AT_ONCE <= u32::MAX >> COUNT_SHIFT);
};

/// A value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u32);

impl Word {
    /// The smallest word whose count is [`LIMIT`].
    pub(crate) const FULL: Word = Word::counting(LIMIT);

    /// `n` pending, all flags clear: what `fetch_add` adds.
    pub(crate) const fn counting(n: u32) -> Word {
        Word(n << COUNT_SHIFT)
    }

    pub(crate) const fn count(self) -> u32 {
        self.0 >> COUNT_SHIFT
    }

    /// The number of the latest arming.
    pub(crate) const fn sleep(self) -> u32 {
        (self.0 & SLEEP) >> SLEEP_SHIFT
    }

    pub(crate) const fn is_armed(self) -> bool {
        self.0 & ARMED != 0
    }

    pub(crate) const fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    pub(crate) const fn is_flushed(self) -> bool {
        self.0 & FLUSH != 0
    }

    /// The same word, armed, with the next sleep's number.
    pub(crate) const fn arming(self) -> Word {
        let sleep = self.0.wrapping_add(1 << SLEEP_SHIFT) & SLEEP;
        Word(self.0 & !SLEEP | sleep | ARMED)
    }

    /// What the `Debug` of every handle shows.
    pub(crate) fn fmt_as(self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("pending", &self.count())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests {
    use super::*;

    #[test]
    fn arming_changes_the_sleep_number_and_nothing_else_but_armed() {
        let mut word = Word(Word::counting(5).0 | CLOSED | FLUSH);
        for n in 1..=40 {
            word = word.arming();
            assert_eq!(word.sleep(), n % 16);
            assert_eq!(word.count(), 5);
            assert!(word.is_armed() && word.is_closed() && word.is_flushed());
        }
    }

    #[test]
    fn a_word_is_full_from_limit_on_whatever_its_flags() {
        assert!(Word(Word::counting(LIMIT - 1).0 | ARMED | CLOSED | FLUSH | SLEEP).0 < Word::FULL.0);
        assert!(Word::counting(LIMIT).0 >= Word::FULL.0);
    }
}
