//! Where items are missing.

use crate::sync::rtrb;

/// Items missing at one place of the stream, because the ring was full when they were pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// How many items were written before the gap, counted from the ring's start.
    pub position: u64,
    /// How many are missing there.
    pub items: u64,
}

/// Gaps that fit on their way to the reader. Further ones are merged into one.
const RECORDS: usize = 64;

pub(super) fn records() -> (GapWriter, rtrb::Consumer<Gap>) {
    let (records, reader) = rtrb::RingBuffer::new(RECORDS);
    (GapWriter { records, open: None }, reader)
}

/// The writer's side: collects a gap until the stream goes on.
pub(super) struct GapWriter {
    records: rtrb::Producer<Gap>,
    open: Option<Gap>,
}

impl GapWriter {
    /// Items are lost after `position`.
    pub(super) fn lose(&mut self, position: u64, items: usize) {
        let gap = self.open.get_or_insert(Gap { position, items: 0 });
        gap.items += items as u64;
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The stream goes on: hands the gap over, before what follows it is written. If there is no room for the record,
    /// what is lost from now on is merged into it.
    #[cold]
    pub(super) fn close(&mut self) {
        if let Some(gap) = self.open.take() {
            if self.records.push(gap).is_err() {
                self.open = Some(gap);
            }
        }
    }
}
