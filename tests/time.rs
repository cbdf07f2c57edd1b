//! Timed waits, measured: never early, however short or long.

#[path = "support/stress.rs"]
mod stress;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{Notifier, Semaphore, WaitTimeoutError, Waiter};
use stress::{GENEROUS, Watchdog};

/// Far above what a scheduler may add: more is another mistake, such as a wrong unit or clock.
const TOO_LATE: Duration = GENEROUS;

/// Every timed wait, until it times out: for so long, or until then.
#[derive(Clone, Copy)]
enum Form {
    For(fn(&mut Waiter, &Semaphore, Duration) -> bool),
    Until(fn(&mut Waiter, &Semaphore, Instant) -> bool),
}

const FORMS: [Form; 5] = [
    Form::For(|waiter, _, timeout| is_timeout(waiter.wait_timeout(timeout))),
    Form::Until(|waiter, _, deadline| is_timeout(waiter.wait_deadline(deadline))),
    Form::Until(|waiter, _, deadline| is_timeout(waiter.wait_for_deadline(2, deadline))),
    Form::For(|_, semaphore, timeout| !semaphore.wait_timeout(timeout)),
    Form::Until(|_, semaphore, deadline| !semaphore.wait_deadline(deadline)),
];

fn is_timeout(result: Result<u32, WaitTimeoutError>) -> bool {
    result == Err(WaitTimeoutError::Timeout)
}

/// Waits `times` times with each timed wait there is, and checks each by itself.
fn is_never_early(timeout: Duration, times: u32) {
    let _watchdog = Watchdog::new();
    let wait_often = |form| {
        let semaphore = Semaphore::new(0);
        let (_notifier, mut waiter) = Notifier::new();
        for _ in 0..times {
            let start = Instant::now();
            match form {
                Form::For(wait) => assert!(wait(&mut waiter, &semaphore, timeout)),
                Form::Until(wait) => assert!(wait(&mut waiter, &semaphore, start + timeout)),
            }
            has_taken(start, timeout);
        }
    };
    thread::scope(|scope| {
        for form in FORMS {
            scope.spawn(move || wait_often(form));
        }
    });
}

#[track_caller]
fn has_taken(start: Instant, timeout: Duration) {
    let elapsed = start.elapsed();
    assert!(elapsed >= timeout, "{elapsed:?} of {timeout:?}");
    assert!(elapsed < timeout + TOO_LATE, "{elapsed:?} instead of {timeout:?}");
}

#[test]
fn waits_of_50_ms_take_at_least_that() {
    is_never_early(Duration::from_millis(50), 20);
}

#[test]
fn waits_below_a_millisecond_are_not_early() {
    is_never_early(Duration::from_micros(999), 100);
    is_never_early(Duration::from_micros(1500), 100);
    is_never_early(Duration::from_nanos(1), 1000);
}

#[test]
fn a_thousand_waits_of_300_us_take_0_3_s() {
    let _watchdog = Watchdog::new();
    let timeout = Duration::from_micros(300);
    let (_notifier, mut waiter) = Notifier::new();
    let start = Instant::now();
    for _ in 0..1000 {
        let start = Instant::now();
        assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
        has_taken(start, timeout);
    }
    assert!(start.elapsed() >= Duration::from_millis(300));
}

/// They sleep, and each sleeps once: neither a spin nor a wake-up too early and another sleep.
#[cfg(target_os = "linux")]
#[test]
fn a_thousand_waits_of_300_us_are_about_a_thousand_sleeps() {
    let _watchdog = Watchdog::new();
    let (_notifier, mut waiter) = Notifier::new();
    let before = voluntary_switches();
    for _ in 0..1000 {
        let _ = waiter.wait_timeout(Duration::from_micros(300));
    }
    let sleeps = voluntary_switches() - before;
    // A thread that is preempted for 300 us before it sleeps need not sleep any more.
    assert!((500..1500).contains(&sleeps), "{sleeps} sleeps");
}

#[cfg(target_os = "linux")]
fn voluntary_switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.expect("a kernel of this century").trim().parse().expect("a number")
}

/// At the limits of what clocks, C types and `Instant` hold.
const HUGE: [Duration; 6] = [
    Duration::MAX,
    Duration::from_secs(u64::MAX),
    Duration::from_secs(i64::MAX as u64),
    Duration::from_secs(1 << 31),
    Duration::from_millis(i32::MAX as u64 + 1),
    Duration::from_nanos(u64::MAX),
];

#[test]
fn huge_timeouts_neither_panic_nor_end_early() {
    let _watchdog = Watchdog::new();
    let waits = HUGE.map(|timeout| {
        let (notifier, mut waiter) = Notifier::new();
        (notifier, thread::spawn(move || waiter.wait_timeout(timeout)))
    });
    let semaphore = Arc::new(Semaphore::new(0));
    let semaphore_waits = HUGE.map(|timeout| {
        let semaphore = semaphore.clone();
        thread::spawn(move || semaphore.wait_timeout(timeout))
    });
    thread::sleep(Duration::from_millis(300));
    for ((notifier, wait), timeout) in waits.into_iter().zip(HUGE) {
        assert!(!wait.is_finished(), "{timeout:?}");
        notifier.notify();
        assert_eq!(wait.join().unwrap(), Ok(1), "{timeout:?}");
    }
    for (wait, timeout) in semaphore_waits.iter().zip(HUGE) {
        assert!(!wait.is_finished(), "{timeout:?}");
    }
    for _ in HUGE {
        semaphore.post();
    }
    for wait in semaphore_waits {
        assert!(wait.join().unwrap());
    }
}

#[test]
fn far_deadlines_neither_panic_nor_end_early() {
    let _watchdog = Watchdog::new();
    let far = HUGE.iter().filter_map(|&timeout| Instant::now().checked_add(timeout)).max();
    let far = far.expect("some are representable");
    let (notifier, mut waiter) = Notifier::new();
    let first = thread::spawn(move || waiter.wait_deadline(far));
    let (for_two, mut waiter) = Notifier::new();
    let second = thread::spawn(move || waiter.wait_for_deadline(2, far));
    for_two.notify();
    thread::sleep(Duration::from_millis(200));
    assert!(!first.is_finished() && !second.is_finished());
    notifier.notify();
    for_two.notify();
    assert_eq!(first.join().unwrap(), Ok(1));
    assert_eq!(second.join().unwrap(), Ok(2));
}

#[test]
fn a_timeout_of_zero_is_a_try() {
    let (notifier, mut waiter) = Notifier::new();
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Timeout));
    notifier.notify();
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Ok(1));
    drop(notifier);
    assert_eq!(waiter.wait_timeout(Duration::ZERO), Err(WaitTimeoutError::Closed));
    let semaphore = Semaphore::new(1);
    assert!(semaphore.wait_timeout(Duration::ZERO));
    assert!(!semaphore.wait_timeout(Duration::ZERO));
}

#[test]
fn notifications_below_the_target_do_not_move_the_deadline() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let timeout = Duration::from_millis(100);
    let start = Instant::now();
    let wait = thread::spawn(move || (waiter.wait_for_deadline(u32::MAX, start + timeout), waiter));
    let mut posted = 0;
    while !wait.is_finished() {
        notifier.notify();
        posted += 1;
        thread::yield_now();
    }
    let (result, mut waiter) = wait.join().unwrap();
    if posted < 1 << 23 {
        assert_eq!(result, Err(WaitTimeoutError::Timeout));
        has_taken(start, timeout);
        assert_eq!(waiter.try_wait(), Ok(posted));
    }
}
