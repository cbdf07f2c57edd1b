//! What a reader that can wait costs a ring: items per second against bare rtrb and a channel, and system calls per
//! block at an audio thread's pace.
//!
//!     cargo bench --features ring --bench rings [-- PACED_SECONDS]
//!
//! Both threads copy blocks of 64 stereo frames. Where the ring is full, the writer tries again: nothing is lost, and
//! the reader's speed is measured as well. Like all benchmarks, this one says most about the machine it runs on.

use std::hint::{black_box, spin_loop};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Priority, ring};

/// 64 stereo frames.
const BLOCK: usize = 128;
/// A third of a second at 48 kHz.
const CAPACITY: usize = 256 * BLOCK;
const ROUNDS: usize = 9;
/// Of a run, and without `--bench`, which is a mere check.
const BLOCKS: [u32; 2] = [200_000, 2_000];
/// What the recorder of the paced run waits for: 4,096 frames.
const WAITED_FOR: usize = 64 * BLOCK;
const PERIOD: Duration = Duration::from_nanos(64 * 1_000_000_000 / 48_000);

type Block = [f32; BLOCK];

/// Sends all blocks, in a thread of its own, while `receive` gets them; returns blocks per second.
fn blocks_per_second(
    blocks: u32,
    mut send: impl FnMut(&Block) -> bool + Send,
    receive: impl FnOnce(u32),
) -> f64 {
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            for n in 0..blocks {
                #[allow(clippy::cast_precision_loss, reason = "any number will do")]
                let block = [n as f32; BLOCK];
                while !send(&block) {
                    spin_loop();
                }
            }
        });
        receive(blocks);
    });
    f64::from(blocks) / began.elapsed().as_secs_f64()
}

/// The reader takes block after block as soon as each is there, by the given look at the ring.
fn read_blocks(mut read: impl FnMut(&mut Block) -> bool, mut idle: impl FnMut()) -> impl FnOnce(u32) {
    move |blocks| {
        let mut block = [0.0; BLOCK];
        for _ in 0..blocks {
            while !read(&mut block) {
                idle();
            }
            black_box(&block);
        }
    }
}

fn rtrb_with(blocks: u32, idle: fn()) -> f64 {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(CAPACITY);
    let read = move |block: &mut Block| consumer.pop_entire_slice(block).is_ok();
    let send = |block: &Block| producer.slots() >= BLOCK && producer.push_entire_slice(block).is_ok();
    blocks_per_second(blocks, send, read_blocks(read, idle))
}

/// Looks first, as `rtrb_with` does, so that trying again counts no overrun.
fn send_to(producer: &mut ring::RtProducer<f32>, block: &Block) -> bool {
    producer.slots() >= BLOCK && producer.push_slice(block).is_ok()
}

fn ring_spinning(blocks: u32) -> f64 {
    let (mut producer, mut reader) = ring::capture(CAPACITY);
    let read = move |block: &mut Block| reader.read_slice(block).is_ok();
    blocks_per_second(blocks, |block| send_to(&mut producer, block), read_blocks(read, spin_loop))
}

fn ring_waiting(blocks: u32, rings: &mut f64) -> f64 {
    let (mut producer, mut reader) = ring::capture(CAPACITY);
    blocks_per_second(
        blocks,
        move |block| send_to(&mut producer, block),
        |mut left| {
            let mut block = [0.0; BLOCK];
            while left > 0 {
                let wanted = (CAPACITY / 2).min(left as usize * BLOCK);
                for _ in 0..reader.wait_for(wanted).unwrap_or(0) / BLOCK {
                    reader.read_slice(&mut block).expect("it is there");
                    black_box(&block);
                    left -= 1;
                }
            }
            *rings = ratio(reader.waiter_mut().stats().rings, blocks.into());
        },
    )
}

fn sync_channel(blocks: u32) -> f64 {
    let (sender, receiver) = mpsc::sync_channel::<Block>(CAPACITY / BLOCK);
    let receive = |blocks| {
        for _ in 0..blocks {
            black_box(receiver.recv().expect("the sender has not sent all"));
        }
    };
    blocks_per_second(blocks, |block| sender.try_send(*block).is_ok(), receive)
}

#[allow(clippy::cast_precision_loss, reason = "a few digits are printed")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// An audio thread's pace: how many system calls it makes, and how long after a block the reader runs.
fn paced(seconds: u64) {
    let (mut producer, mut reader) = ring::capture(CAPACITY);
    let (mut stamps, mut stamped) = rtrb::RingBuffer::new(CAPACITY / BLOCK);
    let audio = thread::spawn(move || {
        // If that is not granted, the latencies say so.
        let _ = Priority::Fifo(60).apply();
        let blocks = seconds * 750;
        let mut next = Instant::now();
        for _ in 0..blocks {
            next += PERIOD;
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let _ = stamps.push(Instant::now());
            let _ = producer.push_slice(&[1.0; BLOCK]);
        }
        (blocks, producer.overruns().items)
    });
    let _ = Priority::Nice(-20).apply();
    let mut latencies = Vec::new();
    while let Ok(items) = reader.wait_for(WAITED_FOR) {
        let now = Instant::now();
        // The block by which there were enough, among those that came since the last wait.
        for n in 1..=items / BLOCK {
            let stamp = stamped.pop();
            if n == WAITED_FOR / BLOCK {
                latencies.extend(stamp.map(|stamp| (now - stamp).as_secs_f64() * 1e6));
            }
        }
        reader.read_chunk(items).expect("it is there").commit_all();
    }
    let (blocks, lost) = audio.join().expect("it does not panic");
    let rings = reader.waiter_mut().stats().rings;
    latencies.sort_by(f64::total_cmp);
    let quantile = |percent| latencies[(latencies.len() - 1) * percent / 100];
    println!("\nat an audio thread's pace, {seconds} s, waiting for 4,096 frames:");
    println!(
        "  blocks {blocks}, rings {rings}: one in {:.1} blocks; lost {lost} items",
        ratio(blocks, rings)
    );
    println!("  wake-up in us: p50 {:.1}, p99 {:.1}, max {:.1}", quantile(50), quantile(99), quantile(100));
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let blocks = BLOCKS[usize::from(!full)];
    let seconds = std::env::args().find_map(|arg| arg.parse().ok());
    let mut rings = 0.0;
    let names =
        ["rtrb, spinning", "ring, spinning", "ring, waiting for half", "rtrb, 1 ms sleep", "sync_channel"];
    let mut speeds = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        // One after the other, so that the machine's moods reach all of them.
        speeds[0].push(rtrb_with(blocks, spin_loop));
        speeds[1].push(ring_spinning(blocks));
        speeds[2].push(ring_waiting(blocks, &mut rings));
        speeds[3].push(rtrb_with(blocks, || thread::sleep(Duration::from_millis(1))));
        speeds[4].push(sync_channel(blocks));
    }
    let reference = median(&mut speeds[0]);
    println!("blocks of 64 stereo frames, both threads at full speed, median of {ROUNDS}:");
    for (name, speeds) in names.iter().zip(&mut speeds) {
        let speed = median(speeds);
        println!("  {name:<24} {:>8.2} M blocks/s  {:>5.2} x rtrb", speed / 1e6, speed / reference);
    }
    println!("  the waiting ring: {rings:.5} system calls per block");
    paced(seconds.unwrap_or(if full { 10 } else { 1 }));
}
