//! As in `frozen`, of rings: a side that stops in the midst of its call holds up neither the other side nor another ring.
#![cfg(all(target_os = "linux", feature = "ring"))]

#[path = "support/freeze.rs"]
mod freeze;
#[allow(dead_code, reason = "the readers that freeze here are those of rings")]
#[path = "support/reader.rs"]
mod reader;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::cell::RefCell;
use std::sync::Mutex;

use freeze::{everywhere, freeze};
use reader::Reader;
use rt_notify::{Notifier, ring};
use stress::Watchdog;

/// No round pushes more.
const MUCH: usize = 1 << 16;

fn push_wakes(low: impl Fn(&mut ring::RtProducer<u8>) + Sync, counted: u32) {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let (low_producer, _low_items) = ring::capture_on(MUCH, &notifier);
    let (high_producer, _high_items) = ring::capture_on(MUCH, &notifier);
    drop(notifier);
    let reader = Reader::new(move || waiter.wait());
    let (low_producer, high_producer) = (Mutex::new(low_producer), RefCell::new(high_producer));
    let push = || high_producer.borrow_mut().push(0).unwrap();
    reader.is_woken_by(push, || low(&mut low_producer.lock().unwrap()), counted);
    drop((low_producer, high_producer));
    reader.thread.join();
}

#[test]
fn producer_frozen_in_push_does_not_swallow_the_wake_by_another_ring() {
    push_wakes(|low| low.push(0).unwrap(), 1);
}

#[test]
fn producer_frozen_in_push_slice_does_not_swallow_the_wake_by_another_ring() {
    push_wakes(|low| low.push_slice(&[0; 3]).unwrap(), 3);
}

#[test]
fn producer_frozen_in_flush_does_not_swallow_the_wake_by_another_ring() {
    push_wakes(|low| low.flush(), 0);
}

#[test]
fn reader_frozen_in_wait_and_read_does_not_hold_up_its_producer() {
    let _watchdog = Watchdog::new();
    let (producer, mut reader) = ring::capture(8);
    let producer = RefCell::new(producer);
    let push = |items: usize| {
        let _ = producer.borrow_mut().push_slice(&[0_u8; 8][..items]);
    };
    everywhere(|point| {
        let before = producer.borrow().overruns().events;
        let is_frozen = freeze(
            point,
            || {
                let n = reader.wait_for(4).unwrap();
                reader.read_chunk(n).unwrap().commit_all();
            },
            || {
                push(3);
                // Until some do not fit, wherever the reader is.
                push(8);
                push(8);
                assert!(producer.borrow().overruns().events > before);
                producer.borrow().flush();
                assert!(!producer.borrow().is_closed());
            },
            || push(2),
        );
        while reader.pop().is_ok() {}
        assert_eq!(reader.position(), producer.borrow().position());
        is_frozen
    });
}
