//! The semaphore: one permit per wait, for anybody who waits.

#[path = "support/stress.rs"]
mod stress;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::Semaphore;
use stress::Watchdog;

const LONG: Duration = Duration::from_secs(1000);

/// Every wait, as one signature.
type Form = (&'static str, fn(&Semaphore) -> bool);

const FORMS: [Form; 4] = [
    ("wait", |semaphore| {
        semaphore.wait();
        true
    }),
    ("try_wait", Semaphore::try_wait),
    ("wait_timeout", |semaphore| semaphore.wait_timeout(LONG)),
    ("wait_deadline", |semaphore| semaphore.wait_deadline(Instant::now() + LONG)),
];

#[test]
fn three_posts_before_the_first_wait_end_three_waits_and_no_fourth() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        let semaphore = Semaphore::new(0);
        for _ in 0..3 {
            semaphore.post();
        }
        for _ in 0..3 {
            assert!(wait(&semaphore), "{name}");
        }
        assert!(!semaphore.try_wait(), "{name}");
        assert!(!semaphore.wait_timeout(Duration::from_millis(2)), "{name}");
    }
}

#[test]
fn the_initial_count_is_taken_one_by_one() {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(4);
    for left in (0..4).rev() {
        semaphore.wait();
        assert_eq!(semaphore.count(), left);
    }
    assert!(!semaphore.try_wait());
}

#[test]
fn every_wait_can_follow_every_other() {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(0);
    for (_, first) in FORMS {
        for (_, second) in FORMS {
            semaphore.post_many(2);
            assert!(first(&semaphore));
            assert!(second(&semaphore));
            assert_eq!(semaphore.count(), 0);
        }
    }
}

#[test]
fn a_post_ends_every_wait() {
    let _watchdog = Watchdog::new();
    for (name, wait) in FORMS {
        if name == "try_wait" {
            continue;
        }
        let semaphore = Semaphore::new(0);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| (0..100).all(|_| wait(&semaphore)));
            for _ in 0..100 {
                semaphore.post();
            }
            assert!(waiter.join().unwrap(), "{name}");
        });
        assert_eq!(semaphore.count(), 0);
    }
}

#[test]
fn a_timeout_takes_nothing() {
    let semaphore = Semaphore::new(0);
    assert!(!semaphore.wait_timeout(Duration::ZERO));
    assert!(!semaphore.wait_timeout(Duration::from_micros(100)));
    assert!(!semaphore.wait_deadline(Instant::now()));
    semaphore.post();
    assert_eq!(semaphore.count(), 1);
    assert!(semaphore.wait_timeout(Duration::ZERO));
    assert_eq!(semaphore.count(), 0);
}

#[test]
fn a_deadline_that_has_passed_still_takes_a_permit() {
    let semaphore = Semaphore::new(1);
    assert!(semaphore.wait_deadline(Instant::now()));
}

#[test]
fn post_many_wakes_as_many() {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(0);
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| semaphore.wait());
        }
        semaphore.post_many(5);
    });
    assert_eq!(semaphore.count(), 0);
}

#[test]
fn post_many_of_zero_does_nothing() {
    let semaphore = Semaphore::new(1);
    semaphore.post_many(0);
    assert_eq!(semaphore.count(), 1);
}

#[test]
fn a_static_needs_no_initialisation() {
    let _watchdog = Watchdog::new();
    static SEMAPHORE: Semaphore = Semaphore::new(1);
    let other = thread::spawn(|| SEMAPHORE.wait());
    other.join().unwrap();
    SEMAPHORE.post();
    SEMAPHORE.wait();
}

#[test]
fn permits_are_neither_lost_nor_invented_among_posters_and_waiters() {
    let _watchdog = Watchdog::new();
    const EACH: u32 = 10_000;
    let semaphore = Semaphore::new(0);
    let taken = AtomicU32::new(0);
    thread::scope(|scope| {
        for n in 0..3 {
            let (semaphore, taken) = (&semaphore, &taken);
            scope.spawn(move || {
                for _ in 0..EACH {
                    if n == 0 { semaphore.post_many(1) } else { semaphore.post() }
                }
            });
            scope.spawn(move || {
                let mut left = EACH;
                while left > 0 {
                    let has_permit = match n {
                        0 => semaphore.wait_timeout(Duration::from_micros(10)),
                        1 => semaphore.try_wait(),
                        _ => {
                            semaphore.wait();
                            true
                        }
                    };
                    left -= u32::from(has_permit);
                    taken.fetch_add(u32::from(has_permit), Relaxed);
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 3 * EACH);
    assert_eq!(semaphore.count(), 0);
}

#[test]
fn what_was_written_before_post_is_visible_after_the_wait() {
    let _watchdog = Watchdog::new();
    let semaphore = Semaphore::new(0);
    let written = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=10_000 {
                written.store(n, Relaxed);
                semaphore.post();
            }
        });
        for n in 1..=10_000 {
            semaphore.wait();
            assert!(written.load(Relaxed) >= n);
        }
    });
}

#[test]
fn more_threads_than_can_register_are_all_woken() {
    let _watchdog = Watchdog::new();
    const THREADS: u32 = 1023 + 9;
    let semaphore = Semaphore::new(0);
    let begin = Barrier::new(usize::try_from(THREADS).unwrap() + 1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            thread::Builder::new()
                .stack_size(64 * 1024)
                .spawn_scoped(scope, || {
                    begin.wait();
                    semaphore.wait();
                })
                .expect("so many threads are allowed");
        }
        begin.wait();
        for _ in 0..THREADS {
            semaphore.post();
        }
    });
    assert_eq!(semaphore.count(), 0);
}
