//! The list of all rings and channels that are compared.

use super::{
    Manner, Ring, bare_rtrb, crossbeam_channel, flume_channel, full_speed, jack, ours, paced, ringbuf,
    sync_channel,
};

/// A block of 64 stereo frames: 512 bytes.
pub(crate) const BLOCK: usize = 128;
/// The 2,000 bytes of the `ipc` preset.
pub(crate) const LETTER: usize = 500;

/// A ring, with each measurement compiled for it.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) ours: bool,
    pub(crate) manner: Manner,
    pub(crate) blocks: fn(full_speed::Plan) -> Result<full_speed::Outcome, String>,
    pub(crate) items: fn(full_speed::Plan) -> Result<full_speed::Outcome, String>,
    pub(crate) letters: fn(full_speed::Plan) -> Result<full_speed::Outcome, String>,
    pub(crate) paced: fn(paced::Plan) -> Result<paced::Outcome, String>,
}

impl Entry {
    fn of<R: Ring>() -> Self {
        Entry {
            name: R::NAME,
            ours: R::OURS,
            manner: R::MANNER,
            blocks: full_speed::run::<R, BLOCK>,
            items: full_speed::run::<R, 1>,
            letters: full_speed::run::<R, LETTER>,
            paced: paced::run::<R, BLOCK>,
        }
    }
}

pub(crate) fn all() -> Vec<Entry> {
    vec![
        Entry::of::<ours::Waited<ours::Block>>(),
        Entry::of::<ours::Waited<ours::Spin>>(),
        Entry::of::<ours::Waited<ours::Interval>>(),
        Entry::of::<ours::Spun>(),
        Entry::of::<bare_rtrb::Sleeping>(),
        Entry::of::<bare_rtrb::Spinning>(),
        Entry::of::<sync_channel::SyncChannel>(),
        Entry::of::<crossbeam_channel::CrossbeamChannel>(),
        Entry::of::<flume_channel::FlumeChannel>(),
        Entry::of::<ringbuf::RingbufBlocking>(),
        Entry::of::<jack::JackRing>(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::common::cpu::{self, Priority};

    #[test]
    fn names_differ() {
        let names: BTreeSet<_> = all().iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn every_ring_hands_over_every_item() {
        for entry in all() {
            // Two that spin, and one CPU, would take their time slices in turn.
            if entry.manner == Manner::Spinning && cpu::allowed().len() < 2 {
                continue;
            }
            // Neither is a multiple of what is waited for.
            let plan = full_speed::Plan { messages: 1000, capacity: 16, wanted: 7, cpus: [None; 2] };
            for run in [entry.blocks, entry.items, entry.letters] {
                assert!(is_right_or_absent(&run(plan).map(drop)), "{}: {:?}", entry.name, run(plan));
            }
        }
    }

    #[test]
    fn a_paced_ring_wakes_for_as_much_as_is_wanted() {
        if [Priority::Fifo(70), Priority::Nice(-20)].iter().any(|priority| priority.check().is_err()) {
            return;
        }
        for entry in all().into_iter().filter(|entry| entry.manner != Manner::Spinning) {
            let outcome = (entry.paced)(paced::Plan { blocks: 40, capacity: 64, wanted: 10 });
            assert!(is_right_or_absent(&outcome.as_ref().map(drop).map_err(Clone::clone)), "{}", entry.name);
            let Ok(outcome) = outcome else { continue };
            assert_eq!(outcome.write.len(), 40, "{}", entry.name);
            // A late wake-up takes more at once.
            assert!((1..=4).contains(&outcome.wake.len()), "{}: {:?}", entry.name, outcome.wake);
        }
    }

    /// libjack need not be installed.
    fn is_right_or_absent(outcome: &Result<(), String>) -> bool {
        outcome.as_ref().map_or_else(|reason| reason.starts_with("libjack: "), |()| true)
    }
}
