//! The two ends of the measurement: what the audio thread leaves behind, and what the worker makes of it.

use std::iter;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Instant;

use super::backend::{Bell, Ear, Tally};
use super::relock::{Met, Relock};
use super::stats::Times;
use super::system::{now, thread_cpu_time};

/// Callbacks whose stamps are kept for the worker: 87 s of them at 64 frames, half a second of them in freewheel mode.
const SLOTS: usize = 1 << 16;

/// What both threads and the main thread look at. The counters only ever grow.
#[derive(Debug)]
pub(crate) struct Shared {
    slots: Box<[Slot]>,
    /// Notifications sent, one per callback.
    notified: AtomicU64,
    /// Notifications that the worker was told of.
    counted: AtomicU64,
    /// Callbacks that the source left out, or made a period or more too late.
    pub(crate) missed: AtomicU64,
    pub(crate) xruns: AtomicU64,
    /// The kernel's number of the audio thread, 0 before its first callback.
    audio_thread: AtomicI32,
}

/// The stamps of one callback. Written before its `notify()`, read after the wait that this ends.
#[derive(Debug, Default)]
struct Slot {
    /// 0 if the source has no schedule.
    due: AtomicU64,
    called: AtomicU64,
    /// How long `notify()` took in the callback before: of this one it is known only once it is too late to tell.
    last_notify: AtomicU64,
    spell: AtomicU64,
}

// Ordering: Relaxed throughout this file. Notify and wait order the slots; the counters stand for nothing else.
impl Shared {
    pub(crate) fn new() -> Arc<Shared> {
        Arc::new(Shared {
            slots: iter::repeat_with(Slot::default).take(SLOTS).collect(),
            notified: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            xruns: AtomicU64::new(0),
            audio_thread: AtomicI32::new(0),
        })
    }

    pub(crate) fn notified(&self) -> u64 {
        self.notified.load(Ordering::Relaxed)
    }

    pub(crate) fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    pub(crate) fn audio_thread(&self) -> Option<i32> {
        Some(self.audio_thread.load(Ordering::Relaxed)).filter(|&thread| thread != 0)
    }

    fn slot(&self, number: u64) -> &Slot {
        &self.slots[slot_index(number)]
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "SLOTS divides 2^32: what is cut off does not change the remainder"
)]
fn slot_index(number: u64) -> usize {
    number as usize % SLOTS
}

/// The audio thread's end.
#[derive(Debug)]
pub(crate) struct Probe {
    bell: Bell,
    /// Whether the worker makes use of what the source knows about its next callback.
    pub(crate) takes_hints: bool,
    pub(crate) shared: Arc<Shared>,
    /// Of what kind the callbacks are: one more whenever that changes.
    pub(crate) spell: u64,
    number: u64,
    last_notify: u64,
}

impl Probe {
    pub(crate) fn new(bell: Bell, takes_hints: bool, shared: Arc<Shared>) -> Self {
        Probe { bell, takes_hints, shared, spell: 0, number: 0, last_notify: 0 }
    }

    /// One callback, which was due at `due` if its source has a schedule. `next` is when the next one will come, as far
    /// as the source knows and [`takes_hints`](Probe::takes_hints) asks for it. Realtime-safe.
    pub(crate) fn callback(&mut self, due: Option<u64>, next: Option<Instant>) {
        if self.number == 0 {
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            self.shared.audio_thread.store(thread, Ordering::Relaxed);
        }
        let slot = self.shared.slot(self.number);
        slot.last_notify.store(self.last_notify, Ordering::Relaxed);
        slot.spell.store(self.spell, Ordering::Relaxed);
        self.number += 1;
        self.shared.notified.store(self.number, Ordering::Relaxed);

        if let Some(next) = next {
            self.bell.expect_next(next);
        }
        let called = now();
        slot.called.store(called, Ordering::Relaxed);
        slot.due.store(due.unwrap_or(0), Ordering::Relaxed);
        self.bell.notify();
        self.last_notify = now().saturating_sub(called);
    }
}

/// What the worker found out.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Waits that returned notifications.
    pub(crate) waits: u64,
    /// Notifications whose stamps were overwritten before the worker came to read them.
    pub(crate) unmeasured: u64,
    /// From `notify()` to the worker.
    pub(crate) wake_up: Times,
    /// From the time the callback was due to the worker; no sample if the source has no schedule.
    pub(crate) from_due: Times,
    /// `notify()` itself, with one reading of the clock.
    pub(crate) notify: Times,
    /// How soon it met them without a ring.
    pub(crate) relock: Relock,
    /// Up to the last notification.
    pub(crate) tally: Tally,
    /// Between the first and the last notification, in nanoseconds.
    pub(crate) time: Spent,
}

/// Time by the clock, and how much of it the worker's thread had a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) total: u64,
    pub(crate) cpu: u64,
}

impl Figures {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Figures {
            waits: 0,
            unmeasured: 0,
            wake_up: Times::new()?,
            from_due: Times::new()?,
            notify: Times::new()?,
            relock: Relock::default(),
            tally: Tally::AtMost(0),
            time: Spent::default(),
        })
    }

    /// The worker's end: counts and measures until the pair is closed and nothing is pending.
    pub(crate) fn collect(mut self, ear: &mut dyn Ear, shared: &Shared) -> Figures {
        let mut counted = 0;
        let mut began = None;
        while let Some(pending) = ear.wait() {
            let woken = now();
            self.waits += 1;
            let end = counted + u64::from(pending);
            // The audio thread never waits for the worker. Only the last half of the slots are far enough from where
            // it writes next.
            let start = counted.max(end.saturating_sub(SLOTS as u64 / 2));
            self.unmeasured += start - counted;
            // Now, not at the end: the close rings too, and comes when no period says so.
            let before = mem::replace(&mut self.tally, ear.tally());
            let met = how_met(&before, &self.tally);
            for number in start..end {
                self.measure(number, shared.slot(number), woken, met);
            }
            counted = end;
            shared.counted.store(counted, Ordering::Relaxed);
            let cpu = thread_cpu_time();
            let (began, began_cpu) = *began.get_or_insert((woken, cpu));
            self.time = Spent { total: woken.saturating_sub(began), cpu: cpu.saturating_sub(began_cpu) };
        }
        self
    }

    fn measure(&mut self, number: u64, slot: &Slot, woken: u64, met: Met) {
        self.relock.notification(slot.spell.load(Ordering::Relaxed), met);
        self.wake_up.record_between(slot.called.load(Ordering::Relaxed), woken);
        let due = slot.due.load(Ordering::Relaxed);
        if due > 0 {
            self.from_due.record_between(due, woken);
        }
        if number > 0 {
            self.notify.record(slot.last_notify.load(Ordering::Relaxed));
        }
    }
}

/// How the wait between these two met its notifications.
fn how_met(before: &Tally, after: &Tally) -> Met {
    if after.spin_hits() > before.spin_hits() {
        Met::Spinning
    } else if after.rings() > before.rings() {
        Met::ByRing
    } else {
        Met::Pending
    }
}
