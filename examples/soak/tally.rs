//! What was sent and what arrived.

use std::ops::AddAssign;

/// Totals of many rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: u64,
    /// Notifications, permits and items that must arrive.
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
}

impl Tally {
    /// One round, in which `sent` must have arrived.
    pub(crate) fn exact(sent: u64, arrived: u64) -> Result<Tally, String> {
        if sent == arrived {
            Ok(Tally { rounds: 1, sent, arrived })
        } else {
            Err(format!("sent {sent}, but {arrived} arrived"))
        }
    }

    /// One round that was ended before all was sent: no more than `sent` may have arrived.
    pub(crate) fn cut_short(sent: u64, arrived: u64) -> Result<Tally, String> {
        if arrived <= sent {
            Ok(Tally { rounds: 1, sent: arrived, arrived })
        } else {
            Err(format!("sent {sent} at most, but {arrived} arrived"))
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.rounds += other.rounds;
        self.sent += other.sent;
        self.arrived += other.arrived;
    }
}
