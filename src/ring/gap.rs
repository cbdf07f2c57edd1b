//! Where items are missing.

use crate::sync::rtrb;

/// Items missing at one place of the stream: the ring was full when they were pushed, or their source
/// [left them out](super::RtProducer::skip).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// How many items were written before the gap, counted from the ring's start.
    pub position: u64,
    /// How many are missing there.
    pub items: u64,
}

/// Gaps that fit on their way to the reader. Further ones are merged into the last, which the end of the stream needs.
const RECORDS: usize = 64 + 1;

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
    pub(super) fn lose(&mut self, position: u64, items: u64) {
        let gap = self.open.get_or_insert(Gap { position, items: 0 });
        gap.items = gap.items.saturating_add(items);
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The stream goes on: hands the gap over, before what follows it is written. If there is no room for the record,
    /// what is lost from now on is merged into it. The last room is kept for [`finish`](GapWriter::finish).
    #[cold]
    pub(super) fn close(&mut self) {
        if self.records.slots() > 1 {
            self.finish();
        }
    }

    /// The stream ends: hands over the last gap. There always is room for that, so that no gap is ever lost.
    pub(super) fn finish(&mut self) {
        if let Some(gap) = self.open.take() {
            let _ = self.records.push(gap);
        }
    }
}
