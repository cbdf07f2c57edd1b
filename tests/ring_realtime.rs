//! Nothing that the audio thread can do to a ring allocates or frees, whichever side goes first (fault A47).
//!
//! `assert_no_alloc` ends the process at the first allocation or release in a forbidden place.
#![cfg(feature = "ring")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use assert_no_alloc::assert_no_alloc;
use rt_notify::Notifier;
use rt_notify::ring::{self, RtConsumer, RtProducer};

#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

/// All methods, with room and without.
fn use_every_method_of_a_producer(producer: &mut RtProducer<u32>) {
    let items = [0; 6];
    for _ in 0..200 {
        let _ = producer.push(1);
        let _ = producer.push_slice(&items);
        let _ = producer.push_slice_partial(&items);
        if let Ok(mut chunk) = producer.write_chunk(3) {
            chunk.as_mut_slices().0.fill(1);
            let _ = (chunk.len(), chunk.is_empty());
            chunk.commit(2);
        }
        if let Ok(chunk) = producer.write_chunk(2) {
            chunk.commit_all();
        }
        drop(producer.write_chunk(1));
        producer.skip(3);
        producer.flush();
        let _ = (producer.slots(), producer.capacity(), producer.position());
        let _ = (producer.overruns(), producer.is_closed());
    }
}

fn use_every_method_of_a_consumer(consumer: &mut RtConsumer<u32>) {
    let mut items = [0; 6];
    for _ in 0..200 {
        let _ = consumer.pop();
        let _ = consumer.read_slice(&mut items);
        let _ = consumer.read_slice_partial(&mut items);
        if let Ok(chunk) = consumer.read_chunk(3) {
            let _ = (chunk.as_slices(), chunk.len(), chunk.is_empty());
            chunk.commit(2);
        }
        if let Ok(chunk) = consumer.read_chunk(2) {
            chunk.commit_all();
        }
        drop(consumer.read_chunk(1));
        consumer.flush();
        let _ = (consumer.slots(), consumer.capacity(), consumer.position());
        let _ = (consumer.underruns(), consumer.is_closed());
    }
}

#[test]
fn a_producer_neither_allocates_nor_frees_while_somebody_reads() {
    let (mut producer, mut reader) = ring::capture(64);
    let reading = thread::spawn(move || {
        while let Ok(slots) = reader.wait_for(8) {
            (0..slots).for_each(|_| assert!(reader.pop().is_ok()));
            while reader.pop_gap().is_some() {}
        }
    });
    assert_no_alloc(|| {
        use_every_method_of_a_producer(&mut producer);
        drop(producer);
    });
    reading.join().unwrap();
}

#[test]
fn a_producer_neither_allocates_nor_frees_when_nobody_reads() {
    let (mut producer, reader) = ring::capture(64);
    drop(reader);
    assert_no_alloc(|| {
        use_every_method_of_a_producer(&mut producer);
        drop(producer);
    });
}

#[test]
fn a_producer_that_goes_first_frees_nothing() {
    let (mut producer, mut reader) = ring::capture(64);
    assert_no_alloc(|| {
        use_every_method_of_a_producer(&mut producer);
        drop(producer);
    });
    assert!(reader.wait_for(1).is_ok());
}

#[test]
fn producers_of_one_waiter_neither_allocate_nor_free() {
    let (notifier, waiter) = Notifier::new();
    let (mut first, from_first) = ring::capture_on(64, &notifier);
    let (mut second, from_second) = ring::capture_on(64, &notifier);
    drop((notifier, from_first));
    assert_no_alloc(|| {
        use_every_method_of_a_producer(&mut first);
        use_every_method_of_a_producer(&mut second);
        drop(first);
    });
    drop((waiter, from_second));
    assert_no_alloc(|| drop(second));
}

#[test]
fn a_consumer_neither_allocates_nor_frees_while_somebody_writes() {
    let (mut writer, mut consumer) = ring::playback(64);
    let writing = thread::spawn(move || {
        while writer.wait_for(8).is_ok() {
            let _ = writer.push_slice(&[1; 8]);
        }
    });
    assert_no_alloc(|| {
        use_every_method_of_a_consumer(&mut consumer);
        drop(consumer);
    });
    writing.join().unwrap();
}

#[test]
fn a_consumer_neither_allocates_nor_frees_when_nobody_writes() {
    let (mut writer, mut consumer) = ring::playback(64);
    writer.push_slice(&[1; 50]).unwrap();
    drop(writer);
    assert_no_alloc(|| {
        use_every_method_of_a_consumer(&mut consumer);
        drop(consumer);
    });
}

#[cfg(unix)]
#[test]
fn pollable_ends_neither_allocate_nor_free_whichever_side_goes_first() {
    for other_side_first in [false, true] {
        let (mut producer, reader) = ring::capture_pollable(64).unwrap();
        let (writer, mut consumer) = ring::playback_pollable(64).unwrap();
        let others = (reader, writer);
        let others = if other_side_first { None } else { Some(others) };
        assert_no_alloc(|| {
            use_every_method_of_a_producer(&mut producer);
            use_every_method_of_a_consumer(&mut consumer);
            drop((producer, consumer));
        });
        drop(others);
    }
}

#[test]
fn items_that_own_memory_are_freed_by_the_other_side() {
    let item = Arc::new(());
    for reader_first in [false, true] {
        let (mut producer, reader) = ring::capture(8);
        let items: [_; 8] = std::array::from_fn(|_| Some(Arc::clone(&item)));
        let mut reader = Some(reader);
        if reader_first {
            reader = None;
        }
        assert_no_alloc(|| {
            items.into_iter().for_each(|item| assert!(producer.push(item).is_ok()));
            drop(producer);
        });
        drop(reader);
        // What the audio thread left last goes with a later constructor: the next, but that a test beside this one may
        // have the list in its hands.
        let limit = Instant::now() + Duration::from_secs(10);
        while Arc::strong_count(&item) > 1 {
            assert!(Instant::now() < limit);
            drop(Notifier::new());
        }
    }
}
