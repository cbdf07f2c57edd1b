//! Everything that the table of guarantees calls realtime-safe, as the realtime sanitizer sees it.
//!
//! It reports calls of the C library that may block, and all that allocate. The one system call that `notify` may make is
//! none of those: the library makes it without the C library. That there is no other, `tests/seccomp.rs` proves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};
use std::thread;
use std::time::{Duration, Instant};

// The one beside this crate: that of the registry would find none of the planted faults.
use assert_no_alloc::assert_no_alloc as realtime;
use rt_notify::{Notifier, Semaphore, WaitStrategy, ring};

#[path = "../../../examples/support/frame_time.rs"]
mod frame_time;
#[path = "../../../examples/support/frames.rs"]
mod frames;
#[path = "../../../examples/jack_playback/player.rs"]
mod player;
#[path = "../../../examples/jack_capture/recorder.rs"]
#[allow(dead_code, reason = "it waits only when freewheeling")]
mod recorder;

pub(crate) const ALL: [(&str, fn()); 4] = [
    ("realtime", all),
    ("planted-box", || realtime(|| drop(std::hint::black_box(Box::new(1_u64))))),
    ("planted-lock", planted_lock),
    ("planted-print", || realtime(|| println!("from the callback"))),
];

/// Rust's own lock only calls into the C library where it is contended; this is the C library's.
fn planted_lock() {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock();
    let waits = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Ordering: Release, pairs with the Acquire below.
            waits.store(1, Release);
            realtime(|| drop(LOCK.lock()));
        });
        // Ordering: Acquire, pairs with the Release above.
        while waits.load(Acquire) == 0 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(50));
        drop(guard);
    });
}

fn all() {
    pairs();
    semaphores();
    rings();
    examples();
}

/// With the waiter awake, asleep, looking at intervals, and gone; on the futex and on a descriptor.
fn pairs() {
    let (notifier, waiter) = Notifier::new();
    every_call(&notifier);
    let stopper = waiter.stopper();
    let sleeper = thread::spawn(move || drain(waiter));
    for _ in 0..10_000 {
        realtime(|| notifier.notify());
    }
    every_call(&notifier);
    realtime(|| drop(stopper.clone()));
    realtime(|| stopper.stop());
    sleeper.join().expect("it does not panic");
    every_call(&notifier);
    realtime(|| drop(notifier));
    realtime(|| drop(stopper));

    let (notifier, waiter) = Notifier::new();
    let waiter = waiter.with_strategy(WaitStrategy::Interval(Duration::from_micros(100)));
    let looker = thread::spawn(move || drain(waiter));
    for _ in 0..10_000 {
        realtime(|| notifier.notify());
    }
    realtime(|| drop(notifier));
    looker.join().expect("it does not panic");

    let (notifier, mut waiter) = Notifier::pollable().expect("a descriptor is left");
    let stopper = waiter.stopper();
    let sleeper = thread::spawn(move || {
        let mut poll_loop = waiter.poll_loop();
        let _ = poll_loop.try_wait();
        drop(poll_loop);
        while waiter.wait().is_ok() {}
    });
    for _ in 0..10_000 {
        realtime(|| notifier.notify());
    }
    every_call(&notifier);
    realtime(|| stopper.stop());
    sleeper.join().expect("it does not panic");
    realtime(|| drop((notifier, stopper)));
}

fn drain(mut waiter: rt_notify::Waiter) {
    while waiter.wait().is_ok() {}
}

fn every_call(notifier: &Notifier) {
    realtime(|| {
        notifier.notify();
        notifier.notify_many(1000);
        notifier.flush();
        notifier.expect_next(Instant::now() + Duration::from_millis(1));
        drop(notifier.clone());
        notifier.is_closed()
    });
}

fn semaphores() {
    let semaphore = Semaphore::new(0);
    thread::scope(|scope| {
        scope.spawn(|| (0..10_000).for_each(|_| semaphore.wait()));
        for _ in 0..10_000 {
            realtime(|| semaphore.post());
            realtime(|| semaphore.count());
        }
    });
}

/// Rings whose other side sleeps on the futex, and on a descriptor.
fn rings() {
    let (producer, mut reader) = ring::capture::<f32>(1000);
    let (mut writer, consumer) = ring::playback::<f32>(1000);
    both_ends(
        (producer, consumer),
        move || {
            reader.wait_for(500).map(|n| reader.read_chunk(n).map_or((), |chunk| chunk.commit_all())).is_ok()
        },
        move || writer.wait_for(500).map(|n| writer.push_slice(&vec![1.0; n])).is_ok(),
    );
    let (producer, mut reader) = ring::capture_pollable::<f32>(1000).expect("a descriptor is left");
    let (mut writer, consumer) = ring::playback_pollable::<f32>(1000).expect("a descriptor is left");
    both_ends(
        (producer, consumer),
        move || {
            reader.wait_for(500).map(|n| reader.read_chunk(n).map_or((), |chunk| chunk.commit_all())).is_ok()
        },
        move || writer.wait_for(500).map(|n| writer.push_slice(&vec![1.0; n])).is_ok(),
    );
}

/// `read` and `write` wait at the other ends, and tell whether to go on.
fn both_ends(
    (mut producer, mut consumer): (ring::RtProducer<f32>, ring::RtConsumer<f32>),
    mut read: impl FnMut() -> bool + Send + 'static,
    mut write: impl FnMut() -> bool + Send + 'static,
) {
    let read = thread::spawn(move || while read() {});
    let written = thread::spawn(move || while write() {});
    let mut period = [0.0; 64];
    for _ in 0..2_000 {
        realtime(|| {
            // Some of these overrun or underrun.
            let _ = producer.push(1.0);
            let _ = producer.push_slice(&period);
            let _ = producer.push_slice_partial(&period);
            if let Ok(chunk) = producer.write_chunk(32) {
                chunk.commit(16);
            }
            producer.skip(3);
            producer.flush();
            let _ = (producer.slots(), producer.capacity(), producer.position(), producer.overruns());
            let _ = producer.is_closed();
            let _ = consumer.pop();
            let _ = consumer.read_slice(&mut period);
            let _ = consumer.read_slice_partial(&mut period);
            if let Ok(chunk) = consumer.read_chunk(32) {
                chunk.commit(16);
            }
            consumer.flush();
            let _ = (consumer.slots(), consumer.capacity(), consumer.position(), consumer.underruns());
            let _ = consumer.is_closed();
        });
    }
    realtime(|| drop((producer, consumer)));
    read.join().expect("it does not panic");
    written.join().expect("it does not panic");
}

/// What the process callbacks of the recorder and of the player do. Those of the other examples call `notify` and
/// `expect_next`.
fn examples() {
    let (producer, mut reader) = ring::capture::<f32>(2000);
    let mut recorder = recorder::Recorder::new(2, producer, 100_000, std::sync::Arc::default());
    let silence = [0.0; 64];
    for n in 0..1_000 {
        // The ring overruns in between, and frames are missing now and then.
        let time = n * 64 + n / 10 * 7;
        realtime(|| recorder.period(time, 64, |_| &silence));
        if n % 20 == 0 {
            while reader.pop().is_ok() {}
        }
    }

    struct Channels([[f32; 64]; 2]);
    impl frames::Output for Channels {
        fn channel(&mut self, n: usize) -> &mut [f32] {
            &mut self.0[n]
        }
    }
    let (mut writer, consumer) = ring::playback::<f32>(2000);
    let mut player = player::Player::new(2, consumer, 50_000, std::sync::Arc::default());
    let mut channels = Channels([[0.0; 64]; 2]);
    for n in 0..1_000 {
        if n % 20 != 0 {
            let _ = writer.push_slice(&[0.5; 128]);
        }
        realtime(|| player.period(64, &mut channels));
    }
}
