//! Waiters that are really asleep in the kernel: what wakes them, and how they sleep.
#![cfg(target_os = "linux")]

#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rt_notify::{Closed, Notifier, Semaphore, WaitTimeoutError, Waiter};
use stress::{Watchdog, rounds, until};
use threads::{Probe, Sleeper};

const LONG: Duration = Duration::from_secs(1000);

/// Every wait that sleeps, for two notifications where it can be told so.
type Form = (&'static str, fn(&mut Waiter) -> Result<u32, Closed>);

const FORMS: [Form; 5] = [
    ("wait", Waiter::wait),
    ("wait_timeout", |waiter| waiter.wait_timeout(LONG).map_err(|_| Closed)),
    ("wait_deadline", |waiter| waiter.wait_deadline(Instant::now() + LONG).map_err(|_| Closed)),
    ("wait_for", |waiter| waiter.wait_for(2)),
    ("wait_for_deadline", |waiter| waiter.wait_for_deadline(2, Instant::now() + LONG).map_err(|_| Closed)),
];

fn is_wait_for(name: &str) -> bool {
    name.starts_with("wait_for")
}

#[test]
fn notify_wakes_every_sleeper() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        let sleeper = Sleeper::spawn_asleep(move || wait(&mut waiter));
        if is_wait_for(name) {
            notifier.notify();
            sleeper.wait_asleep();
            assert!(!sleeper.is_finished());
        }
        notifier.notify();
        assert_eq!(sleeper.join(), Ok(1 + u32::from(is_wait_for(name))), "{name}");
    }
}

#[test]
fn notify_many_wakes_every_sleeper() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        let sleeper = Sleeper::spawn_asleep(move || wait(&mut waiter));
        notifier.notify_many(64);
        assert_eq!(sleeper.join(), Ok(64), "{name}");
    }
}

#[test]
fn stop_and_the_last_drop_wake_every_sleeper() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        for drops in [false, true] {
            let (notifier, mut waiter) = Notifier::new();
            let stopper = waiter.stopper();
            let sleeper = Sleeper::spawn_asleep(move || (wait(&mut waiter), wait(&mut waiter)));
            let pending = is_wait_for(name);
            if pending {
                notifier.notify();
                sleeper.wait_asleep();
            }
            let _left = if drops {
                drop(notifier);
                None
            } else {
                stopper.stop();
                Some(notifier)
            };
            let first = if pending { Ok(1) } else { Err(Closed) };
            assert_eq!(sleeper.join(), (first, Err(Closed)), "{name}");
        }
    }
}

#[test]
fn flush_wakes_wait_for_alone() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        let sleeper = Sleeper::spawn_asleep(move || wait(&mut waiter));
        notifier.flush();
        if is_wait_for(name) {
            assert_eq!(sleeper.join(), Ok(0), "{name}");
        } else {
            sleeper.wait_asleep();
            assert!(!sleeper.is_finished(), "{name}");
            notifier.notify();
            assert_eq!(sleeper.join(), Ok(1), "{name}");
        }
    }
}

#[test]
fn a_burst_below_the_target_leaves_the_sleeper_asleep() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let sleeper = Sleeper::spawn_asleep(move || waiter.wait_for(1001));
    let slept = voluntary_switches(sleeper.probe());
    for _ in 0..1000 {
        notifier.notify();
    }
    assert_eq!(sleeper.probe().state(), Some(b'S'));
    assert_eq!(voluntary_switches(sleeper.probe()), slept, "it has slept through");
    notifier.notify();
    assert_eq!(sleeper.join(), Ok(1001));
}

#[test]
fn post_and_post_many_wake_every_sleeper() {
    let _watchdog = Watchdog::new();
    let forms: [fn(&Semaphore) -> bool; 3] = [
        |semaphore| {
            semaphore.wait();
            true
        },
        |semaphore| semaphore.wait_timeout(LONG),
        |semaphore| semaphore.wait_deadline(Instant::now() + LONG),
    ];
    let posts: [fn(&Semaphore); 2] = [Semaphore::post, |semaphore| semaphore.post_many(1)];
    for wait in forms {
        for post in posts {
            let semaphore = Arc::new(Semaphore::new(0));
            let sleeper = Sleeper::spawn_asleep({
                let semaphore = semaphore.clone();
                move || wait(&semaphore)
            });
            post(&semaphore);
            assert!(sleeper.join());
            assert_eq!(semaphore.count(), 0);
        }
    }
}

#[test]
fn two_posts_in_a_row_wake_two_sleepers() {
    let _watchdog = Watchdog::new();
    let semaphore = Arc::new(Semaphore::new(0));
    let taken = Arc::new(AtomicU32::new(0));
    let end = Arc::new(AtomicU32::new(0));
    let sleepers = [(); 2].map(|()| {
        let (semaphore, taken, end) = (semaphore.clone(), taken.clone(), end.clone());
        Sleeper::spawn(move || {
            while end.load(Relaxed) == 0 {
                semaphore.wait();
                taken.fetch_add(1, Relaxed);
            }
        })
    });
    for round in 1..=rounds(100_000) {
        for sleeper in &sleepers {
            sleeper.wait_asleep();
        }
        semaphore.post();
        semaphore.post();
        until("both have woken", || taken.load(Relaxed) == 2 * round);
    }
    end.store(1, Relaxed);
    semaphore.post_many(2);
    for sleeper in sleepers {
        sleeper.join();
    }
}

#[test]
fn two_posters_wake_the_one_sleeper_twice() {
    let _watchdog = Watchdog::new();
    let (semaphore, taken, go) = (Semaphore::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let all = rounds(50_000);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 1..=all {
                    until("the round begins", || go.load(Relaxed) == round);
                    semaphore.post();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2 * all {
                semaphore.wait();
                taken.fetch_add(1, Relaxed);
            }
        });
        for round in 1..=all {
            go.store(round, Relaxed);
            until("both permits are taken", || taken.load(Relaxed) == 2 * round);
        }
    });
}

#[test]
fn more_sleeps_than_their_number_can_tell_apart_lose_no_wake() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        let taken = Arc::new(AtomicU32::new(0));
        let total = taken.clone();
        let sleeper = Sleeper::spawn(move || {
            while let Ok(n) = wait(&mut waiter) {
                total.fetch_add(n, Relaxed);
            }
        });
        let each = 1 + u32::from(is_wait_for(name));
        for round in 1..=rounds(100) {
            sleeper.wait_asleep();
            for _ in 0..each {
                notifier.notify();
            }
            until("it has woken", || taken.load(Relaxed) == round * each);
        }
        drop(notifier);
        sleeper.join();
    }
}

#[test]
fn sleeps_that_time_out_are_numbered_too_and_lose_no_wake() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let asked = Arc::new(AtomicU32::new(0));
    let taken = Arc::new(AtomicU32::new(0));
    let sleeper = Sleeper::spawn({
        let (asked, taken) = (asked.clone(), taken.clone());
        move || {
            while let Ok(n) = waiter.wait() {
                for _ in 0..asked.load(Relaxed) {
                    let early = waiter.wait_timeout(Duration::from_nanos(1));
                    assert_eq!(early, Err(WaitTimeoutError::Timeout));
                }
                taken.fetch_add(n, Relaxed);
            }
        }
    });
    for timeouts in 1..=40 {
        asked.store(timeouts, Relaxed);
        notifier.notify();
        until("it has woken", || taken.load(Relaxed) == timeouts);
        sleeper.wait_asleep();
    }
    drop(notifier);
    sleeper.join();
}

#[test]
fn a_sleep_without_a_deadline_has_no_timeout_inside() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let sleeper = Sleeper::spawn_asleep(move || waiter.wait());
    let Some(call) = FutexCall::of(sleeper.probe()) else { return };
    assert!(matches!(call.command(), libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET), "{call:?}");
    assert_eq!(call.timeout, 0, "{call:?}");
    notifier.notify();
    assert_eq!(sleeper.join(), Ok(1));
}

#[test]
fn a_timed_sleep_is_absolute_on_the_monotonic_clock() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let sleeper = Sleeper::spawn_asleep(move || waiter.wait_timeout(LONG));
    let Some(call) = FutexCall::of(sleeper.probe()) else { return };
    assert_eq!(call.command(), libc::FUTEX_WAIT_BITSET, "{call:?}");
    assert_eq!(call.operation & libc::FUTEX_CLOCK_REALTIME, 0, "{call:?}");
    assert_ne!(call.timeout, 0, "{call:?}");
    notifier.notify();
    assert_eq!(sleeper.join(), Ok(1));
}

#[test]
fn both_kinds_of_sleep_are_on_private_futexes() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let (notifier, mut waiter) = Notifier::new();
        let sleeper = Sleeper::spawn_asleep(move || wait(&mut waiter));
        let Some(call) = FutexCall::of(sleeper.probe()) else { return };
        assert_ne!(call.operation & libc::FUTEX_PRIVATE_FLAG, 0, "{name}: {call:?}");
        notifier.notify_many(2);
        assert_eq!(sleeper.join(), Ok(2));
    }
}

/// The system call in which a thread sleeps.
/// `futex_time64`, which libc does not name everywhere. It has one number on all processors with 32 bits.
#[cfg(target_pointer_width = "32")]
const FUTEX_TIME64: std::ffi::c_long = 422;

#[derive(Debug)]
struct FutexCall {
    operation: i32,
    timeout: u64,
}

impl FutexCall {
    /// `None`, with a message, where the kernel does not tell.
    fn of(probe: &Probe) -> Option<FutexCall> {
        let path = format!("/proc/self/task/{}/syscall", probe.tid);
        let Ok(line) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: this kernel has no {path}");
            return None;
        };
        let mut words = line.split_ascii_whitespace();
        let number: std::ffi::c_long = words.next()?.parse().expect("asleep in a system call");
        let futex = [
            libc::SYS_futex,
            #[cfg(target_pointer_width = "32")]
            FUTEX_TIME64,
        ];
        assert!(futex.contains(&number), "{line}");
        let mut argument = || {
            let word = words.next().expect("six arguments");
            u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("a hexadecimal number")
        };
        let (_address, operation, _expected, timeout) = (argument(), argument(), argument(), argument());
        Some(FutexCall { operation: i32::try_from(operation & 0xFFFF).expect("16 bits"), timeout })
    }

    fn command(&self) -> i32 {
        self.operation & libc::FUTEX_CMD_MASK
    }
}

fn voluntary_switches(probe: &Probe) -> u64 {
    let path = format!("/proc/self/task/{}/status", probe.tid);
    let status = std::fs::read_to_string(path).expect("the thread lives");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.expect("a kernel of this century").trim().parse().expect("a number")
}
