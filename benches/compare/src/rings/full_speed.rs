//! Both sides as fast as they can. Where the ring is full, the writer tries again: nothing is lost.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use super::message::{fill, is_right};
use super::{Read, Ring, Write};
use crate::common::clock;
use crate::common::cpu::{self, Usage};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) messages: u64,
    /// Of the ring, in messages.
    pub(crate) capacity: usize,
    /// How many messages the reader waits for, if its ring can wait for several.
    pub(crate) wanted: usize,
    /// The writer's and the reader's CPU, or where the scheduler likes.
    pub(crate) cpus: [Option<usize>; 2],
}

#[derive(Debug)]
pub(crate) struct Outcome {
    /// From the first write until the last message has been checked, for each message.
    pub(crate) ns: f64,
    /// How often the reader slept, for each message.
    pub(crate) sleeps: f64,
}

/// Sends the messages, and checks every item.
pub(crate) fn run<R: Ring, const N: usize>(plan: Plan) -> Result<Outcome, String> {
    let (mut writer, mut reader) = R::make::<N>(plan.capacity)?;
    let over = AtomicBool::new(false);
    let ready = Barrier::new(2);
    let (over, ready) = (&over, &ready);
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            plan.cpus[1].map_or(Ok(()), cpu::pin)?;
            reader.begin();
            ready.wait();
            let before = Usage::so_far();
            let read = read_all(&mut reader, plan);
            let end = clock::now();
            let used = Usage::so_far().since(before);
            // Ordering: Relaxed; sooner or later.
            over.store(true, Relaxed);
            read.map(|()| (end, used.sleeps))
        });
        let writing = scope.spawn(move || {
            plan.cpus[0].map_or(Ok(()), cpu::pin)?;
            let mut message = [0; N];
            ready.wait();
            let start = clock::now();
            for number in 0..plan.messages {
                fill(&mut message, number);
                while !writer.write(&message) {
                    spin_loop();
                }
            }
            // Ordering: as above.
            while !over.load(Relaxed) && writer.tell_again() {
                spin_loop();
            }
            Ok::<_, String>(start)
        });
        let start = writing.join().map_err(|_| "the writer panicked")??;
        let (end, sleeps) = reading.join().map_err(|_| "the reader panicked")??;
        let each = plan.messages as f64;
        Ok(Outcome { ns: end.saturating_sub(start) as f64 / each, sleeps: sleeps as f64 / each })
    })
}

/// Reads on after an error, so that the writer can end.
fn read_all<const N: usize>(reader: &mut impl Read<N>, plan: Plan) -> Result<(), String> {
    let (mut read, mut wrong) = (0, 0u64);
    while read < plan.messages {
        let left = usize::try_from(plan.messages - read).unwrap_or(usize::MAX);
        let there = reader.wait(plan.wanted.min(left));
        if there == 0 {
            return Err(format!("{read} messages read, {} sent", plan.messages));
        }
        for _ in 0..there {
            reader.read(|message| wrong += u64::from(!is_right(message, read)));
            read += 1;
        }
    }
    if wrong > 0 { Err(format!("{wrong} of {read} messages were wrong")) } else { Ok(()) }
}
