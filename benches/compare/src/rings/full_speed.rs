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
                    // Ordering: Relaxed; sooner or later.
                    if over.load(Relaxed) {
                        return Err("the reader has ended before the writer".into());
                    }
                    spin_loop();
                }
            }
            // Ordering: as above.
            while !over.load(Relaxed) && writer.tell_again() {
                spin_loop();
            }
            Ok::<_, String>(start)
        });
        let writing = writing.join().map_err(|_| "the writer panicked")?;
        let (end, sleeps) = reading.join().map_err(|_| "the reader panicked")??;
        let start = writing?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::Manner;
    use crate::rings::bare_rtrb::{Sleeper, Sleeping};

    /// Spoils an item of one message, or ends before the last.
    struct Faulty<const ENDS: bool>;
    struct Reader {
        inner: Sleeper,
        read: u32,
        ends: bool,
    }

    impl<const ENDS: bool> Ring for Faulty<ENDS> {
        const NAME: &'static str = "faulty";
        const MANNER: Manner = Manner::Looking;
        type Writer<const N: usize> = rtrb::Producer<u32>;
        type Reader<const N: usize> = Reader;

        fn make<const N: usize>(capacity: usize) -> Result<(rtrb::Producer<u32>, Reader), String> {
            let (writer, inner) = Sleeping::make::<N>(capacity)?;
            Ok((writer, Reader { inner, read: 0, ends: ENDS }))
        }
    }

    impl<const N: usize> Read<N> for Reader {
        fn wait(&mut self, _: usize) -> usize {
            if self.ends && self.read == 9 { 0 } else { Read::<N>::wait(&mut self.inner, 1).min(1) }
        }

        fn read(&mut self, check: impl FnOnce(&[u32; N])) {
            self.read += 1;
            let spoilt = u32::from(self.read == 5 && !self.ends);
            self.inner.read(|message| {
                let mut message = *message;
                message[N - 1] ^= spoilt;
                check(&message);
            });
        }
    }

    #[test]
    fn a_spoilt_item_and_a_missing_message_are_errors() {
        let plan = Plan { messages: 10, capacity: 2, wanted: 1, cpus: [None; 2] };
        assert_eq!(run::<Faulty<false>, 4>(plan).map(drop), Err("1 of 10 messages were wrong".into()));
        assert_eq!(run::<Faulty<true>, 4>(plan).map(drop), Err("9 messages read, 10 sent".into()));
    }
}
