//! Sequence numbers through every form of writing and reading, between two threads: nothing is lost, doubled or seen
//! before it was written.
//!
//! 10^7 items in all. `RT_NOTIFY_STRESS=10` makes that 10^8.
#![cfg(feature = "ring")]

use std::thread;

use rt_notify::ring::{self, Reader, RtConsumer, RtProducer, WaitForError, Writer};

#[path = "support/random.rs"]
mod random;

use random::Random;

const ITEMS: u64 = 10_000_000;
const FORMS: usize = 4;
const CAPACITY: usize = 1000;
/// More than one notification counts (4,096 items) would take a ring as large; see the test of its own below.
const AT_ONCE: usize = 300;

/// Items for each of `parts` tests.
fn share(parts: u64) -> u64 {
    let factor = std::env::var("RT_NOTIFY_STRESS").map_or(1, |value| value.parse().expect("a number"));
    ITEMS * factor / parts
}

/// Consecutive numbers.
struct Sequence {
    next: u64,
    block: Vec<u64>,
}

impl Sequence {
    fn new() -> Self {
        Sequence { next: 0, block: Vec::new() }
    }

    fn take(&mut self, n: usize) -> &[u64] {
        self.block.clear();
        self.block.extend(self.next..self.next + n as u64);
        self.next += n as u64;
        &self.block
    }

    fn check(&mut self, items: &[u64]) {
        for &item in items {
            assert_eq!(item, self.next);
            self.next += 1;
        }
    }
}

/// Writes `n` items, for which there is room, in the given form.
fn write(producer: &mut RtProducer<u64>, form: usize, sequence: &mut Sequence, n: usize) {
    match form {
        0 => sequence.take(n).iter().for_each(|&item| producer.push(item).unwrap()),
        1 => producer.push_slice(sequence.take(n)).unwrap(),
        2 => assert!(producer.push_slice_partial(sequence.take(n)).is_empty()),
        _ => {
            // More than is committed, if there is more.
            let mut chunk = producer.write_chunk(producer.slots().min(n + 5)).unwrap();
            let (first, second) = chunk.as_mut_slices();
            let items = sequence.take(n);
            first.iter_mut().chain(second).zip(items).for_each(|(slot, &item)| *slot = item);
            chunk.commit(n);
        }
    }
}

/// Reads the `n` items that are there, in the given form.
fn read(reader: &mut Reader<u64>, form: usize, sequence: &mut Sequence, n: usize) {
    let mut block = [0; CAPACITY];
    match form {
        0 => (0..n).for_each(|_| sequence.check(&[reader.pop().unwrap()])),
        1 => {
            reader.read_slice(&mut block[..n]).unwrap();
            sequence.check(&block[..n]);
        }
        2 => {
            let read = reader.read_slice_partial(&mut block[..n]);
            assert_eq!(read.len(), n);
            sequence.check(read);
        }
        _ => {
            let slots = reader.slots();
            let chunk = reader.read_chunk(slots).unwrap();
            let (first, second) = chunk.as_slices();
            let in_first = first.len().min(n);
            sequence.check(&first[..in_first]);
            sequence.check(&second[..n - in_first]);
            chunk.commit(n);
        }
    }
}

fn capture_keeps_the_sequence(write_form: usize, read_form: usize, items: u64) {
    let (mut producer, mut reader) = ring::capture(CAPACITY);
    let writing = thread::spawn(move || {
        let mut random = Random::new(1);
        let mut sequence = Sequence::new();
        while sequence.next < items {
            let n = random.up_to(AT_ONCE);
            while producer.slots() < n {
                // The reader may be waiting for more than fits.
                producer.flush();
                thread::yield_now();
            }
            write(&mut producer, write_form, &mut sequence, n);
        }
        assert_eq!(producer.overruns().items, 0);
        sequence.next
    });
    let mut random = Random::new(2);
    let mut sequence = Sequence::new();
    loop {
        match reader.wait_for(random.below(CAPACITY + 1)) {
            // What was counted before the wait ended can be read: all of it, and never more than was written.
            Ok(0) => {}
            Ok(n) => read(&mut reader, read_form, &mut sequence, random.up_to(n)),
            Err(WaitForError::Closed) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(sequence.next, writing.join().unwrap(), "the tail");
    assert_eq!(reader.position(), sequence.next);
}

#[test]
fn every_form_of_push_arrives_in_order_by_every_form_of_read() {
    let pairs = FORMS * FORMS;
    for pair in 0..pairs {
        capture_keeps_the_sequence(pair / FORMS, pair % FORMS, share(2 * pairs as u64));
    }
}

fn fill(writer: &mut Writer<u64>, form: usize, sequence: &mut Sequence, n: usize) {
    match form {
        0 => sequence.take(n).iter().for_each(|&item| writer.push(item).unwrap()),
        1 => writer.push_slice(sequence.take(n)).unwrap(),
        2 => assert!(writer.push_slice_partial(sequence.take(n)).is_empty()),
        _ => {
            let mut chunk = writer.write_chunk(n).unwrap();
            let (first, second) = chunk.as_mut_slices();
            first.iter_mut().chain(second).zip(sequence.take(n)).for_each(|(slot, &item)| *slot = item);
            chunk.commit_all();
        }
    }
}

/// Reads up to `n` items. Some of these are underruns.
fn play(consumer: &mut RtConsumer<u64>, form: usize, sequence: &mut Sequence, n: usize) {
    let mut block = [0; CAPACITY];
    match form {
        0 => consumer.pop().iter().for_each(|&item| sequence.check(&[item])),
        1 => {
            if consumer.read_slice(&mut block[..n]).is_ok() {
                sequence.check(&block[..n]);
            }
        }
        2 => {
            let missing = consumer.read_slice_partial(&mut block[..n]).len();
            sequence.check(&block[..n - missing]);
        }
        _ => {
            let Ok(chunk) = consumer.read_chunk(n) else { return };
            let (first, second) = chunk.as_slices();
            sequence.check(first);
            sequence.check(second);
            chunk.commit_all();
        }
    }
}

fn playback_keeps_the_sequence(write_form: usize, read_form: usize, items: u64) {
    let (mut writer, mut consumer) = ring::playback(CAPACITY);
    let writing = thread::spawn(move || {
        let mut random = Random::new(3);
        let mut sequence = Sequence::new();
        while sequence.next < items {
            // Less after a flush or an underrun.
            let room = writer.wait_for(random.below(CAPACITY + 1)).unwrap();
            if room > 0 {
                fill(&mut writer, write_form, &mut sequence, random.up_to(room));
            }
        }
        (sequence.next, writer)
    });
    let mut random = Random::new(4);
    let mut sequence = Sequence::new();
    while !writing.is_finished() {
        let n = random.up_to(AT_ONCE);
        play(&mut consumer, read_form, &mut sequence, n);
        if consumer.slots() == 0 {
            thread::yield_now();
        }
    }
    while consumer.slots() > 0 {
        play(&mut consumer, read_form, &mut sequence, 1);
    }
    let (written, mut writer) = writing.join().unwrap();
    assert_eq!(sequence.next, written);
    assert_eq!((writer.position(), consumer.position()), (written, written));
    assert_eq!(writer.underruns(), consumer.underruns());
}

#[test]
fn every_form_of_write_is_played_in_order_by_every_form_of_read() {
    let pairs = FORMS * FORMS;
    for pair in 0..pairs {
        playback_keeps_the_sequence(pair / FORMS, pair % FORMS, share(2 * pairs as u64));
    }
}

/// Fault A05: the signal must not be seen before the data.
#[test]
fn after_each_wake_at_least_the_items_it_stands_for_can_be_read() {
    let (mut producer, mut reader) = ring::capture(64);
    let items = share(1000);
    let writing = thread::spawn(move || {
        let mut random = Random::new(5);
        let mut sequence = Sequence::new();
        while sequence.next < items {
            let n = random.up_to(16);
            while producer.slots() < n {
                thread::yield_now();
            }
            write(&mut producer, random.below(FORMS), &mut sequence, n);
        }
    });
    let mut sequence = Sequence::new();
    // Nobody flushes and nothing overruns, so fewer than asked for come only at the end.
    let mut random = Random::new(6);
    loop {
        let wanted = random.up_to(48);
        let Ok(slots) = reader.wait_for(wanted) else { break };
        assert_eq!(reader.slots().min(slots), slots);
        if slots < wanted {
            assert_eq!(reader.wait_for(64), Ok(slots), "only the end explains this");
        }
        read(&mut reader, random.below(FORMS), &mut sequence, slots);
    }
    writing.join().unwrap();
    assert!(sequence.next >= items);
}

#[test]
fn pushes_of_more_items_than_one_notification_counts_wake_a_reader_of_all() {
    const BLOCK: usize = 10_000;
    let (mut producer, mut reader) = ring::capture(8 * BLOCK);
    let reading = thread::spawn(move || {
        let mut sequence = Sequence::new();
        for _ in 0..8 {
            assert_eq!(reader.wait_for(7 * BLOCK), Ok(7 * BLOCK));
            let chunk = reader.read_chunk(7 * BLOCK).unwrap();
            let (first, second) = chunk.as_slices();
            sequence.check(first);
            sequence.check(second);
            chunk.commit_all();
        }
    });
    let mut sequence = Sequence::new();
    for _ in 0..8 * 7 {
        let items = sequence.take(BLOCK);
        while producer.slots() < BLOCK {
            thread::yield_now();
        }
        producer.push_slice(items).unwrap();
        // The reader is told exactly when there are 7 blocks, so it never finds 8.
        while producer.position() % (7 * BLOCK as u64) == 0 && producer.slots() < producer.capacity() {
            thread::yield_now();
        }
    }
    reading.join().unwrap();
}
