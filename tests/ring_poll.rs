//! Rings in poll loops.
#![cfg(all(unix, feature = "ring"))]

use std::thread;

use rt_notify::ring::{self, WaitForError, WaitForTimeoutError};
use rt_notify::{Notifier, TryWaitError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether a descriptor is readable now.
fn is_readable(fd: &impl std::os::fd::AsFd) -> bool {
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&zero)).unwrap() == 1
}

#[test]
fn a_poll_loop_reads_every_item_and_ends() {
    const ITEMS: u64 = 100_000;
    let (mut producer, mut reader) = ring::capture_pollable(128).unwrap();
    let writing = thread::spawn(move || {
        for item in 0..ITEMS {
            while producer.slots() == 0 {
                thread::yield_now();
            }
            producer.push(item).unwrap();
        }
    });
    let mut next = 0;
    loop {
        // Without a limit: a wake-up that is lost hangs here.
        poll(&mut [PollFd::new(&reader, PollFlags::IN)], None).unwrap();
        match reader.try_wait() {
            Ok(slots) => {
                for _ in 0..slots {
                    assert_eq!(reader.pop(), Ok(next));
                    next += 1;
                }
            }
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => break,
        }
    }
    assert_eq!(next, ITEMS);
    writing.join().unwrap();
}

#[test]
fn a_pollable_writer_is_readable_when_there_is_new_room_and_when_the_consumer_is_gone() {
    let (mut writer, mut consumer) = ring::playback_pollable(4).unwrap();
    assert_eq!(writer.try_wait(), Ok(4));
    writer.push_slice(&[1, 2, 3, 4]).unwrap();
    assert_eq!(writer.try_wait(), Err(TryWaitError::Empty));
    assert!(!is_readable(&writer));
    assert_eq!(consumer.pop(), Ok(1));
    assert!(is_readable(&writer));
    assert_eq!(writer.try_wait(), Ok(1));
    assert!(!is_readable(&writer));
    drop(consumer);
    assert!(is_readable(&writer));
    assert_eq!(writer.try_wait(), Err(TryWaitError::Closed));
}

#[test]
fn a_pollable_reader_can_also_wait_for_a_number_of_items() {
    let (mut producer, mut reader) = ring::capture_pollable(64).unwrap();
    let writing = thread::spawn(move || {
        for item in 0..48 {
            producer.push(item).unwrap();
        }
    });
    assert_eq!(reader.wait_for(48), Ok(48));
    writing.join().unwrap();
    assert!(reader.read_slice(&mut [0; 48]).is_ok());
    assert_eq!(reader.wait_for(1), Err(WaitForError::Closed));
}

/// The ring's own reader is borrowed by a poll loop over its waiter; apart, the two can be used together.
#[test]
fn a_poll_loop_and_a_ring_on_its_notifier_work_together() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let (mut producer, mut consumer) = ring::capture_on(1 << 14, &notifier);
    drop(notifier);
    let writing = thread::spawn(move || (0..10_000).for_each(|item| producer.push(item).unwrap()));
    let mut poll_loop = waiter.poll_loop();
    let mut items = Vec::new();
    loop {
        let fd = poll_loop.fd();
        poll_loop.poll(None, |timeout| {
            let timeout = timeout.map(|_| Timespec { tv_sec: 0, tv_nsec: 0 });
            poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout.as_ref()).unwrap()
        });
        let ended = poll_loop.try_wait() == Err(TryWaitError::Closed);
        items.extend(std::iter::from_fn(|| consumer.pop().ok()));
        if ended {
            break;
        }
    }
    assert!(items.into_iter().eq(0..10_000));
    writing.join().unwrap();
}

#[test]
fn what_a_timed_wait_left_is_readable() {
    for before in [true, false] {
        let (mut producer, mut reader) = ring::capture_pollable(16).unwrap();
        if before {
            producer.push_slice(&[1, 2, 3]).unwrap();
        }
        let writing = thread::spawn(move || {
            if !before {
                producer.push_slice(&[1, 2, 3]).unwrap();
            }
            producer
        });
        // Either the items come in time or they do not: whatever a timeout leaves must be readable.
        let timeout = std::time::Duration::from_millis(2);
        assert_eq!(reader.wait_for_timeout(10, timeout), Err(WaitForTimeoutError::Timeout));
        let producer = writing.join().unwrap();
        assert_eq!(reader.slots(), 3);
        assert!(is_readable(&reader));
        drop(producer);
    }
}

#[test]
fn a_stopped_reader_is_told_its_end_though_its_producer_lives() {
    let (mut producer, mut reader) = ring::capture_pollable(16).unwrap();
    producer.push(1).unwrap();
    reader.stopper().stop();
    assert!(is_readable(&reader));
    let mut turns = 0;
    loop {
        assert!(is_readable(&reader), "the end is still to be told");
        match reader.try_wait() {
            Ok(_) => {
                producer.push(2).unwrap();
                reader.pop().unwrap();
            }
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => break,
        }
        turns += 1;
        assert!(turns < 100);
    }
    assert!(!is_readable(&reader));
}
