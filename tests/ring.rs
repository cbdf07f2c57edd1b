//! Rings: what each end promises to the other.
#![cfg(feature = "ring")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::ring::{
    self, ChunkError, PopError, PushError, RtConsumer, RtProducer, WaitForError, WaitForTimeoutError,
};
use rt_notify::{Notifier, Periodic, Priority, TryWaitError, Wait, WaitStrategy, WaitTimeoutError, Worker};

#[test]
fn wait_for_returns_what_was_pushed_before() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.push_slice(&[1, 2, 3]).unwrap();
    assert_eq!(reader.wait_for(3), Ok(3));
    let mut items = [0; 3];
    reader.read_slice(&mut items).unwrap();
    assert_eq!(items, [1, 2, 3]);
    assert_eq!(reader.pop(), Err(PopError::Empty));
}

#[test]
fn waiting_for_more_than_the_capacity_is_an_error_at_once() {
    let (_producer, mut reader) = ring::capture::<u8>(8);
    assert_eq!(reader.wait_for(9), Err(WaitForError::ExceedsCapacity));
    let far = Instant::now() + Duration::from_secs(1000);
    assert_eq!(reader.wait_for_deadline(9, far), Err(WaitForTimeoutError::ExceedsCapacity));
    let (mut writer, _consumer) = ring::playback::<u8>(8);
    assert_eq!(writer.wait_for(9), Err(WaitForError::ExceedsCapacity));
}

#[test]
fn a_dropped_producer_leaves_its_items_then_closed() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.push_slice(&[1, 2]).unwrap();
    drop(producer);
    assert_eq!(reader.wait_for(8), Ok(2));
    assert_eq!(reader.wait_for(8), Ok(2), "nothing was read");
    assert_eq!((reader.pop(), reader.pop()), (Ok(1), Ok(2)));
    assert_eq!(reader.wait_for(1), Err(WaitForError::Closed));
    assert_eq!(reader.try_wait(), Err(TryWaitError::Closed));
}

#[test]
fn a_push_that_does_not_fit_ends_a_wait_for_more_than_will_fit() {
    let (mut producer, mut reader) = ring::capture::<u32>(8);
    let reading = thread::spawn(move || (reader.wait_for(8), reader));
    producer.push_slice(&[0; 6]).unwrap();
    assert_eq!(producer.push_slice(&[0; 4]), Err(ChunkError::TooFewSlots(2)));
    let (slots, mut reader) = reading.join().unwrap();
    assert_eq!(slots, Ok(6));
    assert_eq!((reader.overruns().items, reader.overruns().events), (4, 1));
    assert_eq!(producer.overruns(), reader.overruns());
}

#[test]
fn a_flush_ends_one_wait_with_what_is_there() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.push(1).unwrap();
    producer.flush();
    producer.flush();
    assert_eq!(reader.wait_for(5), Ok(1));
    let soon = Duration::from_millis(1);
    assert_eq!(reader.wait_for_timeout(5, soon), Err(WaitForTimeoutError::Timeout));
    assert_eq!(reader.slots(), 1, "a timeout consumes nothing");
}

#[test]
fn a_flush_is_left_to_the_next_wait_for_by_the_other_waits() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.flush();
    assert_eq!(Wait::wait_timeout(&mut reader, Duration::from_millis(1)), Err(WaitTimeoutError::Timeout));
    producer.push(1).unwrap();
    assert_eq!(Wait::wait(&mut reader), Ok(1));
    assert_eq!(reader.wait_for(2), Ok(1), "the flush ends it");
    let soon = Duration::from_millis(1);
    assert_eq!(reader.wait_for_timeout(2, soon), Err(WaitForTimeoutError::Timeout), "once");
}

#[test]
fn a_flush_that_comes_with_enough_is_obeyed_by_that_wait() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.push_slice(&[1, 2]).unwrap();
    producer.flush();
    assert_eq!(reader.wait_for(2), Ok(2));
    let soon = Duration::from_millis(1);
    assert_eq!(reader.wait_for_timeout(5, soon), Err(WaitForTimeoutError::Timeout));
}

#[test]
fn gaps_tell_where_items_are_missing_before_the_items_behind_them_can_be_read() {
    let (mut producer, mut reader) = ring::capture(4);
    producer.push_slice(&[0, 1, 2]).unwrap();
    assert_eq!(producer.push_slice_partial(&[3, 4, 5]), [4, 5]);
    assert_eq!(producer.push(6), Err(PushError::Full(6)));
    assert_eq!(reader.peek_gap(), None, "the gap has not ended");
    assert_eq!(reader.pop(), Ok(0));
    producer.push(7).unwrap();
    let gap = reader.pop_gap().unwrap();
    assert_eq!((gap.position, gap.items), (4, 3));
    assert_eq!(reader.pop_gap(), None);
    assert_eq!(reader.overruns().events, 2);
}

#[test]
fn gap_records_that_find_no_room_merge_and_lose_no_count() {
    let (mut producer, mut reader) = ring::capture(1);
    let rounds = 1000;
    for n in 0..rounds {
        producer.push(n).unwrap();
        producer.push(n).unwrap_err();
        assert_eq!(reader.pop(), Ok(n));
    }
    drop(producer);
    let gaps: Vec<_> = std::iter::from_fn(|| reader.pop_gap()).collect();
    assert!(gaps.is_sorted_by(|a, b| a.position < b.position));
    assert_eq!(
        gaps.iter().map(|gap| gap.position).take(64).collect::<Vec<_>>(),
        (1..=64).collect::<Vec<_>>()
    );
    assert_eq!(gaps.len(), 65, "all that found no room are one");
    assert_eq!(gaps.iter().map(|gap| gap.items).sum::<u64>(), rounds);
    assert_eq!(reader.overruns().items, rounds);
}

#[test]
fn a_gap_at_the_very_end_is_told_with_the_end() {
    let (mut producer, mut reader) = ring::capture(2);
    producer.push_slice(&[1, 2]).unwrap();
    producer.push_slice(&[3, 4, 5]).unwrap_err();
    assert_eq!(reader.peek_gap(), None);
    drop(producer);
    assert_eq!(reader.wait_for(1), Ok(2));
    let gap = reader.pop_gap().unwrap();
    assert_eq!((gap.position, gap.items), (2, 3));
}

#[test]
fn skipped_items_are_a_gap_and_no_overrun() {
    let (mut producer, mut reader) = ring::capture(4);
    producer.push_slice(&[1, 2, 3]).unwrap();
    producer.skip(0);
    producer.push_slice(&[4, 5]).unwrap_err();
    producer.skip(10);
    assert_eq!(producer.position(), 3);
    assert_eq!(reader.pop(), Ok(1));
    producer.push_slice(&[6, 7]).unwrap();
    let gap = reader.pop_gap().unwrap();
    assert_eq!((gap.position, gap.items), (3, 12), "one place, one gap");
    assert_eq!((reader.overruns().items, reader.overruns().events), (2, 1));
}

#[test]
fn peeking_leaves_the_item_in_the_ring() {
    let (mut producer, mut reader) = ring::capture(4);
    assert_eq!(reader.peek(), Err(PopError::Empty));
    producer.push(1).unwrap();
    assert_eq!(reader.peek(), Ok(&1));
    assert_eq!((reader.position(), reader.pop()), (0, Ok(1)));
}

#[test]
fn a_stopped_reader_ends_though_its_producer_goes_on() {
    let (mut producer, mut reader) = ring::capture(8);
    producer.push_slice(&[1, 2, 3]).unwrap();
    reader.stopper().stop();
    assert!(producer.is_closed());
    let mut items = Vec::new();
    // Never empty: the producer is faster than the reader.
    while reader.wait_for(1).is_ok() {
        items.push(reader.pop().unwrap());
        producer.push(items.len() + 3).unwrap();
    }
    assert!(items.starts_with(&[1, 2, 3]), "what was written before the stop is handed out");
    assert!(items.len() < 8, "{items:?}");
    assert_eq!(reader.slots(), 3);
}

#[test]
fn uncommitted_slots_are_not_written() {
    let (mut producer, mut reader) = ring::capture::<u8>(8);
    let mut chunk = producer.write_chunk(4).unwrap();
    assert_eq!((chunk.len(), chunk.is_empty()), (4, false));
    chunk.as_mut_slices().0[..2].copy_from_slice(&[1, 2]);
    chunk.commit(2);
    drop(producer.write_chunk(4).unwrap());
    assert_eq!(producer.write_chunk(7).err(), Some(ChunkError::TooFewSlots(6)));
    assert_eq!(reader.wait_for(2), Ok(2));
    let chunk = reader.read_chunk(2).unwrap();
    assert_eq!(chunk.as_slices().0, [1, 2]);
    chunk.commit(1);
    assert_eq!((reader.position(), reader.pop()), (1, Ok(2)));
}

#[test]
fn a_writer_waits_for_room_and_is_told_when_the_consumer_is_gone() {
    let (mut writer, mut consumer) = ring::playback(4);
    assert_eq!(writer.push_slice_partial(&[1, 2, 3, 4, 5]), [5]);
    let mut block = [0; 3];
    consumer.read_slice(&mut block).unwrap();
    assert_eq!(block, [1, 2, 3]);
    assert_eq!(writer.wait_for(3), Ok(3));
    let writing = thread::spawn(move || (writer.wait_for(4), writer));
    drop(consumer);
    let (closed, writer) = writing.join().unwrap();
    assert_eq!(closed, Err(WaitForError::Closed));
    assert_eq!(writer.position(), 4);
}

#[test]
fn a_consumer_reads_what_a_dropped_writer_left() {
    let (mut writer, mut consumer) = ring::playback(4);
    writer.push(7).unwrap();
    assert!(!consumer.is_closed());
    drop(writer);
    assert!(consumer.is_closed());
    assert_eq!(consumer.pop(), Ok(7));
    assert_eq!(consumer.pop(), Err(PopError::Empty));
    assert_eq!((consumer.underruns().items, consumer.position()), (1, 1));
}

#[test]
fn an_underrun_ends_a_wait_for_more_room_than_there_will_be() {
    let (mut writer, mut consumer) = ring::playback::<u8>(4);
    writer.push_slice(&[0; 3]).unwrap();
    let writing = thread::spawn(move || (writer.wait_for(4), writer.underruns()));
    let mut block = [0; 4];
    assert_eq!(consumer.read_slice(&mut block), Err(ChunkError::TooFewSlots(3)));
    let (slots, underruns) = writing.join().unwrap();
    assert_eq!(slots, Ok(1));
    assert_eq!((underruns.items, underruns.events), (4, 1));
}

#[test]
fn several_rings_wake_one_waiter() {
    let (notifier, mut waiter) = Notifier::new();
    let (mut left, mut from_left) = ring::capture_on(16, &notifier);
    let (mut right, from_right) = ring::capture_on::<u8>(16, &notifier);
    drop(notifier);
    left.push_slice(&[1, 2]).unwrap();
    // Partly: the items that fit must wake a plain wait too, which does not end by a flush.
    assert_eq!(right.push_slice_partial(&[0; 20]).len(), 4);
    assert_eq!(waiter.wait(), Ok(18));
    assert_eq!((from_left.slots(), from_right.slots()), (2, 16));
    assert_eq!(from_left.pop(), Ok(1));
    drop((left, right));
    assert!(waiter.wait().is_err());
}

#[test]
fn items_are_dropped_once_whichever_side_goes_first() {
    let item = Arc::new(());
    for reader_first in [false, true] {
        let (mut producer, mut reader) = ring::capture(8);
        for _ in 0..5 {
            producer.push(Arc::clone(&item)).unwrap();
        }
        drop(reader.pop());
        if reader_first {
            drop(reader);
            assert!(producer.is_closed());
            drop(producer);
        } else {
            drop(producer);
            drop(reader);
        }
        // What the realtime side was the last to leave is freed by a later constructor: the next, but that a test beside
        // this one may be looking at the same list.
        let limit = Instant::now() + Duration::from_secs(10);
        while Arc::strong_count(&item) > 1 {
            assert!(Instant::now() < limit);
            drop(Notifier::new());
        }
    }
}

#[test]
fn a_pollable_reader_is_readable_when_there_are_items() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let (mut producer, mut reader) = ring::capture_pollable(8).unwrap();
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_readable = |reader: &ring::Reader<u8, _>| {
        poll(&mut [PollFd::new(reader, PollFlags::IN)], Some(&zero)).unwrap() == 1
    };
    assert!(!is_readable(&reader));
    producer.push(1).unwrap();
    assert!(is_readable(&reader));
    assert_eq!(reader.try_wait(), Ok(1));
    assert!(!is_readable(&reader));
    assert_eq!(reader.wait_for(1), Ok(1));
    drop(producer);
    assert!(is_readable(&reader));
}

#[test]
fn a_worker_runs_on_a_reader() {
    let (mut producer, reader) = ring::capture(1024);
    let worker = Worker::builder()
        .priority(Priority::Nice(0))
        .spawn(reader, |mut reader| {
            let mut sum = 0u64;
            while Wait::wait(&mut reader).is_ok() {
                while let Ok(item) = reader.pop() {
                    sum += item;
                }
            }
            sum
        })
        .unwrap();
    for n in 0..100 {
        producer.push(n).unwrap();
    }
    drop(producer);
    assert_eq!(worker.join().unwrap(), 4950);
}

/// Compiles only if exactly the first of two candidates applies: the type lacks the trait.
macro_rules! assert_not_impl {
    ($type:ty: $trait:ident) => {{
        trait AmbiguousIfImpl<A> {
            fn check() {}
        }
        impl<T: ?Sized> AmbiguousIfImpl<()> for T {}
        struct Implemented;
        impl<T: ?Sized + $trait> AmbiguousIfImpl<Implemented> for T {}
        <$type as AmbiguousIfImpl<_>>::check();
    }};
}

#[test]
fn ends_can_be_sent_but_not_shared_or_cloned() {
    fn assert_send<T: Send>() {}
    assert_send::<RtProducer<f32>>();
    assert_send::<RtConsumer<f32>>();
    assert_send::<ring::Reader<f32>>();
    assert_send::<ring::Writer<f32>>();
    assert_send::<ring::Consumer<f32>>();
    assert_not_impl!(RtProducer<f32>: Sync);
    assert_not_impl!(RtConsumer<f32>: Sync);
    assert_not_impl!(ring::Reader<f32>: Sync);
    assert_not_impl!(ring::Writer<f32>: Sync);
    assert_not_impl!(ring::Consumer<f32>: Sync);
    assert_not_impl!(RtProducer<f32>: Clone);
    assert_not_impl!(RtConsumer<f32>: Clone);
    assert_not_impl!(ring::Consumer<f32>: Clone);
    // Items that must stay in their thread keep the ring there too: such a ring cannot even be made.
    assert_not_impl!(RtProducer<std::rc::Rc<()>>: Send);
    assert_not_impl!(ring::Consumer<std::rc::Rc<()>>: Send);
}

#[cfg(unix)]
#[test]
fn pollable_ends_can_be_sent_too() {
    fn assert_send<T: Send>() {}
    assert_send::<ring::Reader<f32, rt_notify::PollWaiter>>();
    assert_send::<ring::Writer<f32, rt_notify::PollWaiter>>();
    assert_not_impl!(ring::Reader<f32, rt_notify::PollWaiter>: Sync);
}

#[test]
fn a_worker_runs_on_a_writer_and_is_stopped() {
    let (writer, mut consumer) = ring::playback(64);
    let worker = Worker::builder()
        .spawn(writer, |mut writer| {
            let mut next = 0;
            while let Ok(room) = writer.wait_for(16) {
                for _ in 0..room {
                    writer.push(next).unwrap();
                    next += 1;
                }
            }
            next
        })
        .unwrap();
    let mut played = 0;
    while played < 10_000 {
        match consumer.pop() {
            Ok(item) => {
                assert_eq!(item, played);
                played += 1;
            }
            Err(PopError::Empty) => thread::yield_now(),
        }
    }
    assert!(!consumer.is_closed());
    let written = worker.stop().unwrap();
    assert!(consumer.is_closed());
    assert_eq!(consumer.slots(), written - played);
}

#[test]
fn a_reader_and_a_writer_wait_by_every_strategy() {
    let soon = Duration::from_micros(200);
    for strategy in [
        WaitStrategy::Block,
        WaitStrategy::Spin(soon),
        WaitStrategy::Interval(soon),
        WaitStrategy::Periodic(Periodic::every(soon)),
    ] {
        let (mut producer, mut reader) = ring::capture(64);
        let (mut writer, mut consumer) = ring::playback(64);
        reader.waiter_mut().set_strategy(strategy.clone());
        writer.waiter_mut().set_strategy(strategy);
        // The audio thread plays what it hears.
        let audio = thread::spawn(move || {
            for item in 0..1_000 {
                while producer.slots() == 0 || consumer.slots() == 0 {
                    thread::yield_now();
                }
                producer.push(item).unwrap();
                assert_eq!(consumer.pop(), Ok(item));
            }
        });
        let writing = thread::spawn(move || {
            let mut next = 0;
            while let Ok(room) = writer.wait_for(8) {
                for _ in 0..room {
                    writer.push(next).unwrap();
                    next += 1;
                }
            }
        });
        let mut items = Vec::new();
        while let Ok(slots) = reader.wait_for(8) {
            items.extend((0..slots).map(|_| reader.pop().unwrap()));
        }
        assert!(items.into_iter().eq(0..1_000));
        audio.join().unwrap();
        writing.join().unwrap();
    }
}
