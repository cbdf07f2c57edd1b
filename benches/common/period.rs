//! A notification per period from a thread that runs like an audio callback.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::clock;
use super::cpu::{Priority, Usage};
use super::role::{Mechanism, Notify, Pending, Wait};

/// 64 frames at 48 kHz.
pub(crate) const PERIOD: u64 = 1_333_333;

/// The priority of the notifying thread: that of a JACK callback.
const CALLBACK: Priority = Priority::Fifo(70);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) periods: u64,
    pub(crate) callback: Priority,
    pub(crate) waiter: Priority,
    /// The waiter works after each wake-up: so many nanoseconds at most, evenly spread.
    pub(crate) work_up_to: u64,
}

impl Plan {
    pub(crate) const fn new(periods: u64, waiter: Priority) -> Self {
        Plan { periods, callback: CALLBACK, waiter, work_up_to: 0 }
    }
}

#[derive(Debug)]
pub(crate) struct Outcome {
    /// How long each call of `notify` took, in nanoseconds.
    pub(crate) notify: Vec<u64>,
    /// From just before each notification until the waiter was awake and had seen it, in nanoseconds.
    pub(crate) wake: Vec<u64>,
    pub(crate) notifier: Usage,
    pub(crate) waiter: Usage,
    /// Notifications that the notifier knows to be lost.
    pub(crate) lost: u64,
}

/// Runs the plan. An error if a notification never reached the waiter, or was counted twice.
pub(crate) fn run<M: Mechanism>(plan: Plan) -> Result<Outcome, String> {
    plan.callback.check()?;
    plan.waiter.check()?;
    let (notifier, waiter) = M::pair()?;
    let counts = matches!(M::PENDING, Pending::EndOneWaitEach | Pending::EndOneWaitTogether);
    let sent = AtomicUsize::new(0);
    let handled = AtomicUsize::new(0);
    let stamps: Vec<AtomicU64> = (0..plan.periods).map(|_| AtomicU64::new(0)).collect();
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            plan.waiter.apply()?;
            let mut waiter = waiter();
            ready.wait();
            let mut wake = Vec::with_capacity(stamps.len());
            let mut random = 1;
            let mut taken = 0;
            let before = Usage::so_far();
            while wake.len() < stamps.len() {
                taken += waiter.wait();
                let now = clock::now();
                // Ordering: Relaxed; the mechanism orders it, or else a notification is seen late, which shows.
                let sent = sent.load(Relaxed);
                let new = &stamps[wake.len()..sent];
                // Ordering: as above.
                wake.extend(new.iter().map(|stamp| now.saturating_sub(stamp.load(Relaxed))));
                handled.store(sent, Relaxed);
                work(now + pick(&mut random, plan.work_up_to));
            }
            // Seen, but not all of them taken: some are taken one by one, and the last may just be on its way.
            while counts && taken < plan.periods {
                taken += waiter.wait();
            }
            Ok::<_, String>((wake, taken, Usage::so_far().since(before)))
        });
        let notifying = scope.spawn(|| {
            plan.callback.apply()?;
            ready.wait();
            let mut notify = Vec::with_capacity(stamps.len());
            let mut next = clock::now() + PERIOD;
            let before = Usage::so_far();
            for stamp in &stamps {
                clock::sleep_until(next);
                next += PERIOD;
                let start = clock::now();
                // Ordering: as above.
                stamp.store(start, Relaxed);
                sent.store(sent.load(Relaxed) + 1, Relaxed);
                notifier.notify();
                notify.push(clock::now() - start);
            }
            let used = Usage::so_far().since(before);
            let lost = notifier.lost();
            // The last one may be among the lost.
            while M::PENDING == Pending::MayBeLost && handled.load(Relaxed) < stamps.len() {
                clock::sleep_until(clock::now() + PERIOD);
                notifier.notify();
            }
            Ok::<_, String>((notify, used, lost))
        });
        let notifying = notifying.join().map_err(|_| "the notifier panicked")?;
        let waiting = waiting.join().map_err(|_| "the waiter panicked")?;
        let (notify, notifier, lost) = notifying?;
        let (wake, taken, waiter) = waiting?;
        if counts && taken != plan.periods {
            return Err(format!("{taken} notifications taken, {} sent", plan.periods));
        }
        Ok(Outcome { notify, wake, notifier, waiter, lost })
    })
}

fn work(until: u64) {
    while clock::now() < until {
        std::hint::spin_loop();
    }
}

/// An even number up to `most`.
fn pick(random: &mut u64, most: u64) -> u64 {
    // Knuth's linear congruential generator; its high bits are good.
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*random >> 33) * most) >> 31
}
