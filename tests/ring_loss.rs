//! What rings lose, and that they tell of all of it: offered = written + lost, and every gap at its place.
#![cfg(feature = "ring")]

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use rt_notify::Worker;
use rt_notify::ring::{self, Gap, Reader, RtProducer};

#[path = "support/random.rs"]
mod random;

use random::Random;

const CHANNELS: usize = 2;
const PERIOD: usize = 64;
/// Items of a period.
const BLOCK: usize = CHANNELS * PERIOD;

fn gaps<T>(reader: &mut Reader<T>) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| reader.pop_gap()).map(|Gap { position, items, .. }| (position, items)).collect()
}

#[test]
fn a_ring_of_4_periods_loses_exactly_the_periods_of_a_stall_beyond_4() {
    let (mut producer, mut reader) = ring::capture::<u32>(4 * BLOCK);
    let mut period = 0;
    let mut expected = Vec::new();
    let mut read = Vec::new();
    for stall in [1, 4, 5, 3, 12, 4, 6] {
        let lost = u64::max(stall, 4) - 4;
        for _ in 0..stall {
            let _ = producer.push_slice(&[period; BLOCK]);
            period += 1;
        }
        if lost > 0 {
            expected.push((reader.position() + 4 * BLOCK as u64, lost * BLOCK as u64));
        }
        let mut block = [0; 4 * BLOCK];
        let kept = reader.read_slice_partial(&mut block).len();
        assert_eq!(kept as u64, (stall - lost) * BLOCK as u64);
        read.extend_from_slice(&block[..kept]);
    }
    drop(producer);
    // 0 | 1-4 | 5-8, 9 lost | 10-12 | 13-16, 17-24 lost | 25-28 | 29-32, 33 and 34 lost
    let periods = (0..=32).filter(|period| *period != 9 && !(17..=24).contains(period));
    assert!(read.chunks(BLOCK).map(|block| block[0]).eq(periods));
    assert!(read.chunks(BLOCK).all(|block| block.iter().all(|&item| item == block[0])), "whole periods");
    assert_eq!(gaps(&mut reader), expected);
    let lost = reader.overruns();
    assert_eq!((lost.items, lost.events), (11 * BLOCK as u64, 11));
    assert_eq!(lost.items + reader.position(), u64::from(period) * BLOCK as u64);
}

#[test]
fn a_partial_push_loses_exactly_what_does_not_fit() {
    let (mut producer, mut reader) = ring::capture::<usize>(4 * BLOCK);
    for period in 0..6 {
        let items: Vec<_> = (period * 100..period * 100 + 100).collect();
        let rest = producer.push_slice_partial(&items);
        let fits = (4 * BLOCK).saturating_sub(period * 100).min(100);
        assert_eq!(rest, &items[fits..]);
    }
    assert_eq!((producer.position(), producer.overruns().items), (512, 88));
    assert_eq!(reader.read_slice_partial(&mut [0; 4 * BLOCK]).len(), 4 * BLOCK);
    producer.push(600).unwrap();
    assert_eq!(gaps(&mut reader), [(512, 88)]);
}

/// What a ring should do, in the simplest way.
#[derive(Default)]
struct Model {
    items: VecDeque<u64>,
    written: u64,
    lost: (u64, u64),
    skipped: u64,
    open: Option<(u64, u64)>,
    gaps: Vec<(u64, u64)>,
}

impl Model {
    fn write(&mut self, items: &[u64]) {
        if !items.is_empty() {
            self.gaps.extend(self.open.take());
        }
        self.items.extend(items);
        self.written += items.len() as u64;
    }

    fn miss(&mut self, items: u64) {
        self.open.get_or_insert((self.written, 0)).1 += items;
    }

    fn lose(&mut self, items: usize) {
        self.miss(items as u64);
        self.lost.0 += items as u64;
        self.lost.1 += 1;
    }
}

/// One operation of the producer; returns how many items were offered.
fn offer(producer: &mut RtProducer<u64>, model: &mut Model, next: u64, random: &mut Random) -> usize {
    let room = producer.capacity() - model.items.len();
    let n = random.below(producer.capacity() + 3);
    let items: Vec<_> = (next..next + n as u64).collect();
    match random.below(5) {
        0 => {
            if producer.push(next).is_ok() {
                model.write(&[next]);
            } else {
                assert_eq!(room, 0);
                model.lose(1);
            }
            return 1;
        }
        1 => {
            if producer.push_slice(&items).is_ok() {
                model.write(&items);
            } else {
                assert!(n > room);
                model.lose(n);
            }
        }
        2 => {
            let lost = producer.push_slice_partial(&items).len();
            assert_eq!(lost, n.saturating_sub(room));
            model.write(&items[..n - lost]);
            if lost > 0 {
                model.lose(lost);
            }
        }
        3 => {
            if let Ok(mut chunk) = producer.write_chunk(n) {
                let committed = random.below(n + 1);
                let (first, second) = chunk.as_mut_slices();
                first.iter_mut().chain(second).zip(&items).for_each(|(slot, &item)| *slot = item);
                chunk.commit(committed);
                // The producer gave up the gap when it got the chunk.
                if n > 0 {
                    model.gaps.extend(model.open.take());
                }
                model.write(&items[..committed]);
                return committed;
            }
            assert!(n > room);
            model.lose(n);
        }
        _ => {
            producer.skip(n as u64);
            if n > 0 {
                model.miss(n as u64);
            }
            model.skipped += n as u64;
            return 0;
        }
    }
    n
}

#[test]
fn whatever_is_done_the_ring_does_as_the_model() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let capacity = random.up_to(20);
        let (mut producer, mut reader) = ring::capture(capacity);
        let mut model = Model::default();
        let mut told = Vec::new();
        let mut offered = 0;
        for _ in 0..300 {
            offered += offer(&mut producer, &mut model, offered, &mut random) as u64;
            for _ in 0..random.below(capacity + 1) {
                assert_eq!(reader.pop().ok(), model.items.pop_front(), "seed {seed}");
            }
            // Soon enough for none to be merged.
            told.extend(gaps(&mut reader));
            assert_eq!(told, model.gaps, "seed {seed}");
            assert_eq!(offered, producer.position() + producer.overruns().items, "seed {seed}");
            assert_eq!((reader.slots(), producer.slots()), (model.items.len(), capacity - model.items.len()));
        }
        assert_eq!((producer.overruns().items, producer.overruns().events), model.lost, "seed {seed}");
        assert_eq!(producer.overruns(), reader.overruns(), "seed {seed}");
        drop(producer);
        told.extend(gaps(&mut reader));
        model.gaps.extend(model.open.take());
        assert_eq!(told, model.gaps, "seed {seed}");
        let missing: u64 = told.iter().map(|gap| gap.1).sum();
        assert_eq!(missing, model.lost.0 + model.skipped, "seed {seed}");
    }
}

#[test]
fn between_threads_each_gap_is_as_long_as_the_jump_in_the_sequence() {
    for seed in 0..50 {
        let (mut producer, mut reader) = ring::capture(50);
        let offering = thread::spawn(move || {
            let mut random = Random::new(seed);
            let mut next = 0u64;
            for _ in 0..2_000 {
                let items: Vec<_> = (next..next + random.up_to(30) as u64).collect();
                next += items.len() as u64;
                if random.below(2) == 0 {
                    let _ = producer.push_slice(&items);
                } else {
                    producer.push_slice_partial(&items);
                }
                // Keeps the reader in time with the gaps: else they merge, which has a test of its own.
                while random.below(20) == 0 && producer.slots() < producer.capacity() {
                    thread::yield_now();
                }
            }
            (next, producer.position(), producer.overruns())
        });
        let mut sequence = 0;
        let mut missing = 0;
        while let Ok(slots) = reader.wait_for(25) {
            for _ in 0..slots {
                let position = reader.position();
                while reader.peek_gap().is_some_and(|gap| gap.position <= position) {
                    let gap = reader.pop_gap().unwrap();
                    sequence += gap.items;
                    missing += gap.items;
                    assert_eq!(gap.position, position, "no gap was told of too late");
                }
                assert_eq!(reader.pop(), Ok(sequence), "seed {seed}");
                sequence += 1;
            }
        }
        let last: u64 = gaps(&mut reader).iter().map(|gap| gap.1).sum();
        let (offered, written, lost) = offering.join().unwrap();
        assert_eq!(sequence + last, offered, "seed {seed}");
        assert_eq!((written, lost.items), (reader.position(), missing + last), "seed {seed}");
        assert_eq!(lost, reader.overruns());
        assert_eq!(offered, written + lost.items);
    }
}

/// Fault A54: the stop must not overtake the last data.
#[test]
fn a_thousand_immediate_stops_lose_no_tail() {
    let mut random = Random::new(7);
    for round in 0..1_000 {
        let (mut producer, reader) = ring::capture(1024);
        let late = round % 10 == 0;
        let worker = Worker::builder()
            .spawn(reader, move |mut reader| {
                if late {
                    thread::sleep(Duration::from_millis(2));
                }
                let mut items = Vec::new();
                // For more than ever comes: only the end ends this wait.
                while let Ok(slots) = reader.wait_for(1024) {
                    items.extend((0..slots).map_while(|_| reader.pop().ok()));
                }
                items
            })
            .unwrap();
        let n = random.below(1024);
        for item in 0..n {
            producer.push(item).unwrap();
        }
        // At once, in either way.
        let items = if round % 2 == 0 {
            drop(producer);
            worker.join()
        } else {
            worker.stop()
        };
        assert!(items.unwrap().into_iter().eq(0..n), "round {round}");
    }
}

/// Fault A51: a period that does not fit must not leave a part of a frame behind.
#[test]
fn after_overruns_every_frame_is_whole_and_in_step() {
    let (mut producer, mut reader) = ring::capture::<(usize, usize)>(CHANNELS * 1000);
    let mut random = Random::new(8);
    let mut offered = 0;
    let mut written = 0;
    for _ in 0..2_000 {
        let frames = random.up_to(500);
        let period: Vec<_> = (offered..offered + frames).flat_map(|frame| [(frame, 0), (frame, 1)]).collect();
        offered += frames;
        if producer.push_slice(&period).is_ok() {
            written += frames;
        }
        if random.below(4) == 0 {
            while let Ok(first) = reader.pop() {
                let second = reader.pop().unwrap();
                assert_eq!((first.1, second), (0, (first.0, 1)));
            }
        }
    }
    let lost = usize::try_from(reader.overruns().items).unwrap();
    assert!(lost > 0 && lost % CHANNELS == 0);
    assert_eq!(offered, written + lost / CHANNELS);
}
