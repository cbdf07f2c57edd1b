//! A block per period from a thread that runs like an audio callback, and a disk worker that waits for more.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use super::message::{fill, is_right};
use super::{Manner, Read, Ring, Write};
use crate::common::clock;
use crate::common::cpu::{Priority, Usage};
use crate::common::period::PERIOD;
use crate::syscalls::Counter;

/// The priority of the writing thread: that of a JACK callback.
const CALLBACK: Priority = Priority::Fifo(70);
const WORKER: Priority = Priority::Nice(-20);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) blocks: usize,
    /// Of the ring, in blocks.
    pub(crate) capacity: usize,
    /// How many blocks the worker wants at once.
    pub(crate) wanted: usize,
}

#[derive(Debug)]
pub(crate) struct Outcome {
    /// From just before the block by which there were enough until the worker saw that, in nanoseconds.
    pub(crate) wake: Vec<u64>,
    /// How long each write took.
    pub(crate) write: Vec<u64>,
    /// System calls by which the writer told the reader, if they can be counted.
    pub(crate) rings: Option<u64>,
    pub(crate) reader: Usage,
}

/// Runs the plan, and checks every item.
pub(crate) fn run<R: Ring, const N: usize>(plan: Plan) -> Result<Outcome, String> {
    if R::MANNER == Manner::Spinning {
        return Err("spins, and would take a CPU from all others".into());
    }
    CALLBACK.check()?;
    WORKER.check()?;
    let (mut writer, mut reader) = R::make::<N>(plan.capacity)?;
    let stamps: Vec<AtomicU64> = (0..plan.blocks).map(|_| AtomicU64::new(0)).collect();
    let over = AtomicBool::new(false);
    let ready = Barrier::new(2);
    let (stamps, over, ready) = (&stamps[..], &over, &ready);
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            WORKER.apply()?;
            reader.begin();
            ready.wait();
            let before = Usage::so_far();
            let wake = read_all(&mut reader, plan, stamps);
            // Ordering: Relaxed; sooner or later.
            over.store(true, Relaxed);
            wake.map(|wake| (wake, Usage::so_far().since(before)))
        });
        let writing = scope.spawn(move || {
            CALLBACK.apply()?;
            let counter = Counter::start(true);
            let mut message = [0; N];
            let mut write = Vec::with_capacity(stamps.len());
            let mut full = 0u64;
            ready.wait();
            let mut next = clock::now() + PERIOD;
            let before = counter.calls();
            for (number, stamp) in (0..).zip(stamps) {
                clock::sleep_until(next);
                next += PERIOD;
                fill(&mut message, number);
                let start = clock::now();
                // Ordering: Relaxed; the ring orders it, or else a block is seen late, which shows.
                stamp.store(start, Relaxed);
                full += u64::from(!writer.write(&message));
                write.push(clock::now() - start);
            }
            // The second look at the counter is a system call itself, and so is each period's sleep.
            let others = stamps.len() as u64 + 1;
            let rings = before.zip(counter.calls()).map(|(before, after)| after - before - others);
            // Ordering: as above.
            while !over.load(Relaxed) && writer.tell_again() {
                clock::sleep_until(clock::now() + PERIOD);
            }
            if full > 0 { Err(format!("{full} blocks found no room")) } else { Ok((write, rings)) }
        });
        let writing = writing.join().map_err(|_| "the writer panicked")?;
        let reading = reading.join().map_err(|_| "the reader panicked")?;
        let (write, rings) = writing?;
        let (wake, reader) = reading?;
        Ok(Outcome { wake, write, rings, reader })
    })
}

/// Reads on after an error, so that the writer can end. A ring that hands out less than is wanted wakes in between:
/// those wake-ups have no latency here.
fn read_all<const N: usize>(
    reader: &mut impl Read<N>,
    plan: Plan,
    stamps: &[AtomicU64],
) -> Result<Vec<u64>, String> {
    let (mut read, mut wrong) = (0, 0u64);
    let mut goal = plan.wanted;
    let mut wake = Vec::with_capacity(stamps.len() / plan.wanted + 1);
    while read < stamps.len() {
        let there = reader.wait(goal.min(stamps.len()) - read);
        let now = clock::now();
        if there == 0 {
            return Err(format!("{read} blocks read, {} sent", stamps.len()));
        }
        if read + there >= goal {
            // Ordering: Relaxed; the ring orders it.
            wake.push(now.saturating_sub(stamps[goal - 1].load(Relaxed)));
            goal = read + there + plan.wanted;
        }
        for _ in 0..there {
            reader.read(|message| wrong += u64::from(!is_right(message, read as u64)));
            read += 1;
        }
    }
    if wrong > 0 { Err(format!("{wrong} of {read} blocks were wrong")) } else { Ok(wake) }
}
