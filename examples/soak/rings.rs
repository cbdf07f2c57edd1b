//! Rings in both directions: what was accepted arrives, in order, and what was refused was counted.

use std::thread;

use rt_notify::Wait;
use rt_notify::ring::{self, Reader, RtProducer, WaitForError, WaitForTimeoutError};

use crate::pairs::{fork, micros, pause};
use crate::random::Random;
use crate::tally::Tally;

pub(crate) fn captured(random: &mut Random) -> Result<Tally, String> {
    let capacity = random.up_to(64);
    let (producer, reader) = ring::capture(capacity);
    capture(producer, reader, capacity, random)
}

pub(crate) fn captured_pollably(random: &mut Random) -> Result<Tally, String> {
    let capacity = random.up_to(64);
    let (producer, reader) =
        ring::capture_pollable(capacity).map_err(|error| format!("no descriptor: {error}"))?;
    capture(producer, reader, capacity, random)
}

fn capture<W: Wait + Send + 'static>(
    mut producer: RtProducer<u64>,
    mut reader: Reader<u64, W>,
    capacity: usize,
    random: &mut Random,
) -> Result<Tally, String> {
    let mut choosing = fork(random);
    let thread = thread::spawn(move || {
        let (mut next, mut refused) = (0, 0);
        for _ in 0..choosing.below(300) {
            match producer.push(next) {
                Ok(()) => next += 1,
                Err(_) => refused += 1,
            }
            if choosing.below(30) == 0 {
                producer.flush();
            }
            pause(&mut choosing);
        }
        (next, refused, producer.overruns().items)
    });
    let mut expected = 0;
    loop {
        let n = random.up_to(capacity);
        let waited = match random.below(2) {
            0 => reader.wait_for(n).map_err(|error| match error {
                WaitForError::Closed => WaitForTimeoutError::Closed,
                _ => WaitForTimeoutError::ExceedsCapacity,
            }),
            _ => reader.wait_for_timeout(n, micros(random.below(500))),
        };
        match waited {
            Ok(_) | Err(WaitForTimeoutError::Timeout) => {}
            Err(WaitForTimeoutError::Closed) => break,
            Err(error) => return Err(format!("a ring of {capacity}, {n} items: {error}")),
        }
        while let Ok(item) = reader.pop() {
            if item != expected {
                return Err(format!("item {item} was read where {expected} was due"));
            }
            expected += 1;
        }
    }
    let overruns = reader.overruns().items;
    let (sent, refused, told) = thread.join().map_err(|_| "a pushing thread panicked")?;
    if (overruns, told) != (refused, refused) {
        return Err(format!("{refused} items did not fit, but {told} and {overruns} were counted"));
    }
    Tally::exact(sent, expected)
}

pub(crate) fn played(random: &mut Random) -> Result<Tally, String> {
    let capacity = random.up_to(64);
    let items = random.below(300) as u64;
    let (mut writer, mut consumer) = ring::playback(capacity);
    let mut choosing = fork(random);
    let thread = thread::spawn(move || {
        let (mut expected, mut missing) = (0, 0);
        loop {
            // Before it looks: what was written before the end is there after it.
            let closed = consumer.is_closed();
            match consumer.pop() {
                Ok(item) if item == expected => expected += 1,
                Ok(item) => return Err(format!("item {item} was played where {expected} was due")),
                Err(_) => {
                    missing += 1;
                    if closed {
                        break;
                    }
                    thread::yield_now();
                }
            }
            pause(&mut choosing);
        }
        let told = consumer.underruns().items;
        if told != missing {
            return Err(format!("{missing} items were missing, but {told} were counted"));
        }
        Ok(expected)
    });
    let mut next = 0;
    while next < items {
        let n = random.up_to(capacity);
        if let Err(error) = writer.wait_for(n) {
            drop(writer);
            return Err(match thread.join() {
                Ok(Err(message)) => message,
                _ => format!("the consumer is there, but: {error}"),
            });
        }
        while next < items && writer.push(next).is_ok() {
            next += 1;
        }
    }
    drop(writer);
    Tally::exact(items, thread.join().map_err(|_| "a playing thread panicked")??)
}
