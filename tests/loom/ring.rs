//! Rings: the loop by which the other side waits for slots, on a model of rtrb (see `rtrb.rs`).

use loom::thread;

use super::check;
use crate::ring::{self, Reader, WaitForError};
use crate::sys::loom::far_from_limit;
use crate::{Notifier, TryWaitError};

/// Reads what a wait said is there.
fn read(reader: &mut Reader<u8>, slots: usize, into: &mut Vec<u8>) {
    into.extend((0..slots).map(|_| reader.pop().expect("the wait said so")));
}

#[test]
fn a_reader_wakes_when_there_is_as_much_as_it_waits_for() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.push_slice(&[2, 3]).unwrap();
            producer
        });
        assert_eq!(reader.wait_for(3), Ok(3), "nobody flushed");
        let mut items = Vec::new();
        read(&mut reader, 3, &mut items);
        assert_eq!(items, [1, 2, 3]);
        drop(thread.join().unwrap());
        assert_eq!(reader.wait_for(1), Err(WaitForError::Closed));
    });
}

/// What one wait has counted may already have been read after the wait before.
#[test]
fn a_reader_that_is_ahead_of_the_counts_waits_for_no_more_than_is_missing() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            for item in 1..=4 {
                producer.push(item).unwrap();
            }
            producer
        });
        let mut items = Vec::new();
        let slots = reader.wait_for(1).unwrap();
        read(&mut reader, slots, &mut items);
        if items.len() < 4 {
            let missing = 4 - items.len();
            assert_eq!(reader.wait_for(missing), Ok(missing));
            read(&mut reader, missing, &mut items);
        }
        assert_eq!(items, [1, 2, 3, 4]);
        drop(thread.join().unwrap());
    });
}

#[test]
fn every_form_of_push_tells_of_its_items_after_they_are_there() {
    check(3, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            assert!(producer.push_slice_partial(&[2]).is_empty());
            let mut chunk = producer.write_chunk(2).unwrap();
            chunk.as_mut_slices().0[0] = 3;
            chunk.commit(1);
            producer
        });
        let mut items = Vec::new();
        while items.len() < 3 {
            let slots = reader.wait_for(1).unwrap();
            assert!(slots > 0, "nobody flushed");
            read(&mut reader, slots, &mut items);
        }
        assert_eq!(items, [1, 2, 3]);
        drop(thread.join().unwrap());
    });
}

#[test]
fn the_end_hands_over_what_is_left() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.push(2).unwrap();
        });
        let mut items = Vec::new();
        while let Ok(slots) = reader.wait_for(4) {
            read(&mut reader, slots, &mut items);
        }
        assert_eq!(items, [1, 2]);
        assert_eq!(reader.try_wait(), Err(TryWaitError::Closed));
        thread.join().unwrap();
    });
}

#[test]
fn a_stop_hands_over_what_was_written_before_it() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let stopper = reader.stopper();
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            stopper.stop();
            let _ = producer.push(2);
            producer
        });
        let mut items = Vec::new();
        while let Ok(slots) = reader.wait_for(4) {
            read(&mut reader, slots, &mut items);
        }
        assert!([1, 2].starts_with(&items) && !items.is_empty(), "{items:?}");
        drop(thread.join().unwrap());
    });
}

#[test]
fn an_overrun_wakes_a_reader_of_more_than_fits() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(2);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.push_slice(&[2, 3]).unwrap_err();
            producer
        });
        // Not for ever, though a second item never comes.
        let slots = reader.wait_for(2).unwrap();
        assert_eq!(slots, 1, "what was written before the overrun is seen with it");
        let producer = thread.join().unwrap();
        assert_eq!(reader.overruns(), producer.overruns());
        assert_eq!(reader.overruns().items, 2);
    });
}

#[test]
fn a_partial_push_wakes_with_what_did_fit() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(2);
        producer.push(1).unwrap();
        let thread = thread::spawn(move || {
            assert_eq!(producer.push_slice_partial(&[2, 3]), [3]);
            producer
        });
        assert_eq!(reader.wait_for(2), Ok(2));
        drop(thread.join().unwrap());
        assert_eq!(reader.pop_gap().map(|gap| (gap.position, gap.items)), Some((2, 1)));
    });
}

#[test]
fn a_flush_wakes_with_what_was_written_before_it() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.flush();
            producer
        });
        assert_eq!(reader.wait_for(3), Ok(1));
        drop(thread.join().unwrap());
    });
}

/// The wait that the flush was meant for may end by enough items: then the flush is obeyed by that wait or the next.
#[test]
fn a_flush_and_enough_items_end_two_waits_at_most_and_one_at_least() {
    check(3, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(4);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.push(2).unwrap();
            producer.flush();
            producer.push(3).unwrap();
            producer
        });
        let first = reader.wait_for(2).unwrap();
        assert!(first == 2 || first == 3, "{first}");
        let mut items = Vec::new();
        read(&mut reader, first, &mut items);
        while items.len() < 3 {
            let slots = reader.wait_for(1).unwrap();
            read(&mut reader, slots, &mut items);
        }
        assert_eq!(items, [1, 2, 3]);
        drop(thread.join().unwrap());
    });
}

#[test]
fn where_an_item_can_be_read_the_gap_before_it_is_known() {
    check(4, || {
        far_from_limit();
        let (mut producer, mut reader) = ring::capture(1);
        producer.push(1).unwrap();
        let thread = thread::spawn(move || {
            // Each of them may find room, or none.
            for item in 2..=4 {
                let _ = producer.push(item);
            }
            producer
        });
        let mut next = 1;
        for _ in 0..2 {
            let slots = reader.slots();
            if let Some(gap) = reader.peek_gap().filter(|gap| gap.position == reader.position()) {
                if slots > 0 {
                    next += u8::try_from(gap.items).unwrap();
                    reader.pop_gap();
                }
            }
            if slots > 0 {
                assert_eq!(reader.pop(), Ok(next));
                next += 1;
            }
        }
        let producer = thread.join().unwrap();
        let overruns = producer.overruns().items;
        assert_eq!(producer.position() + overruns, 4);
    });
}

#[test]
fn a_writer_wakes_when_there_is_as_much_room_as_it_waits_for() {
    check(4, || {
        far_from_limit();
        let (mut writer, mut consumer) = ring::playback(3);
        writer.push_slice(&[1, 2, 3]).unwrap();
        let thread = thread::spawn(move || {
            assert_eq!(consumer.pop(), Ok(1));
            let chunk = consumer.read_chunk(1).unwrap();
            assert_eq!(chunk.as_slices().0, [2]);
            chunk.commit_all();
            consumer
        });
        assert_eq!(writer.wait_for(2), Ok(2), "nobody flushed");
        writer.push_slice(&[4, 5]).unwrap();
        let mut consumer = thread.join().unwrap();
        let mut items = [0; 3];
        consumer.read_slice(&mut items).unwrap();
        assert_eq!(items, [3, 4, 5]);
    });
}

#[test]
fn an_underrun_wakes_a_writer_that_waits_for_more_room_than_there_will_be() {
    check(4, || {
        far_from_limit();
        let (mut writer, mut consumer) = ring::playback(3);
        writer.push_slice(&[1, 2]).unwrap();
        let thread = thread::spawn(move || {
            assert_eq!(consumer.pop(), Ok(1));
            consumer.read_slice(&mut [0; 2]).unwrap_err();
            consumer
        });
        assert_eq!(writer.wait_for(3), Ok(2));
        let consumer = thread.join().unwrap();
        assert_eq!((writer.underruns().items, consumer.underruns().items), (2, 2));
    });
}

#[test]
fn the_end_of_a_consumer_ends_its_writer_and_that_of_a_writer_leaves_its_items() {
    check(4, || {
        far_from_limit();
        let (mut writer, mut consumer) = ring::playback(2);
        writer.push_slice(&[1, 2]).unwrap();
        let thread = thread::spawn(move || {
            let first = consumer.pop();
            drop(consumer);
            first
        });
        assert_eq!(writer.wait_for(2), Err(WaitForError::Closed));
        assert_eq!(thread.join().unwrap(), Ok(1));

        let (mut writer, mut consumer) = ring::playback(2);
        let thread = thread::spawn(move || {
            writer.push(1).unwrap();
        });
        // Nothing comes after the close.
        if consumer.is_closed() {
            assert_eq!(consumer.pop(), Ok(1));
        }
        thread.join().unwrap();
    });
}

#[test]
fn two_rings_wake_one_waiter_which_finds_all_items() {
    check(3, || {
        far_from_limit();
        let (notifier, mut waiter) = Notifier::new();
        let (mut left, mut from_left) = ring::capture_on(2, &notifier);
        let (mut right, mut from_right) = ring::capture_on(2, &notifier);
        drop(notifier);
        let threads =
            [thread::spawn(move || left.push(1).unwrap()), thread::spawn(move || right.push(2).unwrap())];
        let mut items = Vec::new();
        while waiter.wait().is_ok() {
            items.extend([from_left.pop(), from_right.pop()].into_iter().flatten());
        }
        items.sort_unstable();
        assert_eq!(items, [1, 2]);
        super::join(threads);
    });
}

/// Both ends go at the same time, with items in the ring: somebody frees it, once. See [`check`].
#[test]
fn whichever_end_goes_last_the_ring_is_freed_once() {
    check(None, || {
        far_from_limit();
        let (mut producer, reader) = ring::capture::<u8>(2);
        let thread = thread::spawn(move || {
            producer.push(1).unwrap();
        });
        drop(reader);
        thread.join().unwrap();
    });
}
