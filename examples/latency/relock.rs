//! How soon a worker meets notifications without a ring again, once something has changed.

use std::fmt;
use std::mem;

/// What a disturbed run consists of, in turn: times in which the callbacks are of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spell {
    Start,
    /// Callbacks take long before they notify,
    Heavy,
    /// and no longer.
    Light,
    LongPeriod,
    ShortPeriod,
    /// As fast as it goes: there is nothing to find.
    Freewheel,
    Realtime,
}

impl Spell {
    pub(crate) const ALL: [Spell; 7] = [
        Spell::Start,
        Spell::Heavy,
        Spell::Light,
        Spell::LongPeriod,
        Spell::ShortPeriod,
        Spell::Freewheel,
        Spell::Realtime,
    ];
}

impl fmt::Display for Spell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Spell::Start => "start",
            Spell::Heavy => "heavy",
            Spell::Light => "light",
            Spell::LongPeriod => "long",
            Spell::ShortPeriod => "short",
            Spell::Freewheel => "freewheel",
            Spell::Realtime => "realtime",
        })
    }
}

/// How a notification was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    Spinning,
    /// At the start of a wait, which says nothing.
    Pending,
    ByRing,
}

/// So many in a row, met while spinning: the worker has found them.
const IN_A_ROW: u32 = 10;

/// Looks on from spell to spell.
#[derive(Debug, Default)]
pub(crate) struct Relock {
    spell: u64,
    /// Notifications of this spell so far.
    seen: u64,
    in_a_row: u32,
    after: Vec<Option<u64>>,
}

impl Relock {
    /// A notification, which is of the same spell as the one before or of the next.
    pub(crate) fn notification(&mut self, spell: u64, met: Met) {
        if self.after.is_empty() || spell != self.spell {
            *self = Relock { spell, after: mem::take(&mut self.after), ..Relock::default() };
            self.after.push(None);
        }
        self.seen += 1;
        match met {
            Met::Spinning => self.in_a_row += 1,
            Met::Pending => {}
            Met::ByRing => self.in_a_row = 0,
        }
        if let Some(after @ None) = self.after.last_mut() {
            *after = (self.in_a_row == IN_A_ROW).then_some(self.seen.saturating_sub(IN_A_ROW.into()));
        }
    }

    /// For each spell so far, how many of its notifications came before those in a row. `None` if there were none.
    pub(crate) fn after(&self) -> &[Option<u64>] {
        &self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_ten_in_a_row_is_counted_in_each_spell() {
        let mut relock = Relock::default();
        let mut notify = |spell, met, times| (0..times).for_each(|_| relock.notification(spell, met));
        notify(0, Met::ByRing, 3);
        notify(0, Met::Spinning, 9);
        notify(0, Met::ByRing, 1);
        notify(0, Met::Spinning, 50);
        notify(1, Met::Spinning, 9);
        notify(2, Met::Spinning, 20);
        notify(2, Met::ByRing, 5);
        assert_eq!(relock.after(), [Some(13), None, Some(0)]);
    }

    #[test]
    fn what_was_pending_neither_counts_as_met_nor_as_missed() {
        let mut relock = Relock::default();
        for n in 0..20 {
            relock.notification(0, if n % 2 == 0 { Met::Pending } else { Met::Spinning });
        }
        assert_eq!(relock.after(), [Some(10)]);
    }
}
