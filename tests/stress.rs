//! Many rounds at full speed, with random delays: nothing is lost, nothing is counted twice, nobody sleeps on.
//!
//! `RT_NOTIFY_STRESS=10` makes ten times as many rounds. No wait of these tests has a timeout that could hide a lost
//! wake-up, unless it says so.

#[path = "support/stress.rs"]
mod stress;

use std::hint::spin_loop;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Notifier, TryWaitError, Waiter};
use stress::{GENEROUS, Random, Watchdog, rounds};

/// `threads` notifiers post one by one; the total must be exact whatever `wait` takes them in.
fn total_is_exact(threads: u32, mut wait: impl FnMut(&mut Waiter, &mut Random) -> u32) {
    let _watchdog = Watchdog::new();
    let each = rounds(20_000);
    let (notifier, mut waiter) = Notifier::new();
    thread::scope(|scope| {
        for n in 0..threads {
            let notifier = notifier.clone();
            scope.spawn(move || {
                let mut random = Random::new(n.into());
                for _ in 0..each {
                    notifier.notify();
                    random.spin(100);
                }
                // Whoever waits for more than is left.
                notifier.flush();
            });
        }
        let mut random = Random::new(99);
        let mut total = 0;
        while total < threads * each {
            total += wait(&mut waiter, &mut random);
            random.spin(300);
        }
        assert_eq!(total, threads * each);
    });
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
    drop(notifier);
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
}

fn plain(waiter: &mut Waiter, _: &mut Random) -> u32 {
    waiter.wait().unwrap()
}

/// Any wait, at random, also those that give up early.
fn mixed(waiter: &mut Waiter, random: &mut Random) -> u32 {
    let short = Duration::from_micros(random.below(30).into());
    match random.below(6) {
        0 => waiter.wait().unwrap(),
        1 => waiter.try_wait().unwrap_or(0),
        2 => waiter.wait_timeout(short).unwrap_or(0),
        3 => waiter.wait_deadline(Instant::now() + short).unwrap_or(0),
        4 => waiter.wait_for_deadline(random.below(50), Instant::now() + short).unwrap_or(0),
        _ => waiter.wait_timeout(Duration::MAX).unwrap(),
    }
}

#[test]
fn total_of_two_notifiers_is_exact() {
    total_is_exact(2, plain);
}

#[test]
fn total_of_four_notifiers_is_exact() {
    total_is_exact(4, plain);
}

#[test]
fn total_of_two_notifiers_is_exact_in_any_mixture_of_waits() {
    total_is_exact(2, mixed);
}

#[test]
fn total_of_four_notifiers_is_exact_in_any_mixture_of_waits() {
    total_is_exact(4, mixed);
}

#[test]
fn targets_are_reached_by_two_notifiers_together() {
    let _watchdog = Watchdog::new();
    let each = rounds(20_000);
    let (notifier, mut waiter) = Notifier::new();
    thread::scope(|scope| {
        for n in 0..2 {
            let notifier = notifier.clone();
            scope.spawn(move || {
                let mut random = Random::new(n);
                let mut left = each;
                while left > 0 {
                    let n = random.below(5).min(left);
                    notifier.notify_many(n);
                    left -= n;
                    random.spin(100);
                }
            });
        }
        let mut random = Random::new(7);
        let mut left = 2 * each;
        while left > 0 {
            let target = random.below(40).clamp(1, left);
            let taken = waiter.wait_for(target).unwrap();
            assert!(taken >= target, "only {taken} of {target}, without flush or close");
            left -= taken;
        }
    });
    assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
}

#[test]
fn drops_of_the_last_notifiers_lose_nothing() {
    let _watchdog = Watchdog::new();
    for round in 0..rounds(3_000) {
        let (notifier, mut waiter) = Notifier::new();
        thread::scope(|scope| {
            for n in 0..2 {
                let notifier = notifier.clone();
                scope.spawn(move || {
                    Random::new((2 * round + n).into()).spin(50);
                    notifier.notify();
                });
            }
            drop(notifier);
            let mut total = 0;
            while let Ok(n) = waiter.wait() {
                total += n;
            }
            assert_eq!(total, 2);
        });
    }
}

/// An item that a notification announces is there after the wait, however the two race.
#[test]
fn each_notification_delivers_the_item_before_it() {
    let _watchdog = Watchdog::new();
    let all = rounds(100_000);
    let (notifier, mut waiter) = Notifier::new();
    let (item, done) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(2);
            let mut last = 0;
            while last < all {
                waiter.wait().unwrap();
                random.spin(200);
                last = item.load(Relaxed);
                done.store(last, Release);
            }
        });
        let mut random = Random::new(3);
        for n in 1..=all {
            item.store(n, Relaxed);
            notifier.notify();
            random.spin(200);
            // No other traffic that could wake the reader by chance.
            let start = Instant::now();
            while done.load(Acquire) != n {
                assert!(start.elapsed() < GENEROUS, "item {n} was never seen");
                spin_or_yield(&mut random);
            }
        }
    });
}

#[test]
fn ping_pong_between_sleepers_never_stops() {
    ping_pong(|waiter| waiter.wait().unwrap(), rounds(100_000));
}

#[test]
fn ping_pong_between_timed_sleepers_never_stops() {
    // So long that a lost wake-up is a hang.
    ping_pong(|waiter| waiter.wait_timeout(Duration::MAX).unwrap(), rounds(20_000));
}

fn ping_pong(wait: impl Fn(&mut Waiter) -> u32 + Sync, all: u32) {
    let _watchdog = Watchdog::new();
    let (ping, mut pinged) = Notifier::new();
    let (pong, mut ponged) = Notifier::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..all {
                assert_eq!(wait(&mut pinged), 1);
                pong.notify();
            }
        });
        for _ in 0..all {
            ping.notify();
            assert_eq!(wait(&mut ponged), 1);
        }
    });
    assert_eq!(pinged.try_wait(), Err(TryWaitError::Empty));
    assert_eq!(ponged.try_wait(), Err(TryWaitError::Empty));
}

/// A new pair in each round: its first wait and its first notification start together.
#[test]
fn first_wait_and_first_notification_meet() {
    let _watchdog = Watchdog::new();
    let all = rounds(100_000);
    let handed_over = Mutex::new(None);
    let barrier = SpinBarrier::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(5);
            for _ in 0..all {
                barrier.meet();
                let mut waiter: Waiter = handed_over.lock().unwrap().take().unwrap();
                barrier.meet();
                random.spin(50);
                assert_eq!(waiter.wait(), Ok(1));
                drop(waiter);
            }
        });
        let mut random = Random::new(6);
        for _ in 0..all {
            let (notifier, waiter) = Notifier::new();
            *handed_over.lock().unwrap() = Some(waiter);
            barrier.meet();
            barrier.meet();
            random.spin(50);
            notifier.notify();
        }
    });
}

/// For two threads, which meet at nearly the same moment.
#[derive(Default)]
struct SpinBarrier(AtomicU32);

impl SpinBarrier {
    fn meet(&self) {
        let arrived = self.0.fetch_add(1, AcqRel);
        let both = arrived / 2 * 2 + 2;
        let mut turns = 0_u32;
        while self.0.load(Acquire) < both {
            turns += 1;
            if turns % 50 == 0 {
                thread::yield_now();
            }
            spin_loop();
        }
    }
}

fn spin_or_yield(random: &mut Random) {
    if random.below(100) == 0 {
        thread::yield_now();
    }
    spin_loop();
}
