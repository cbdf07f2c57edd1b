//! For tests that repeat: how often, with which delays, and what if they hang.
#![allow(dead_code, reason = "each test file uses a part of this")]

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rt_notify::Notifier;

/// Longer than anything that works takes, on any machine.
pub(crate) const GENEROUS: Duration = Duration::from_secs(10);

/// `n`, times what the environment variable `RT_NOTIFY_STRESS` says.
pub(crate) fn rounds(n: u32) -> u32 {
    let factor = std::env::var("RT_NOTIFY_STRESS").ok().and_then(|factor| factor.parse().ok());
    n * factor.unwrap_or(1)
}

/// Ends the process if it is not dropped for long: a lost wake-up must fail a test, not hang it.
#[must_use]
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub(crate) fn new() -> Self {
        let (alive, dropped) = channel();
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let limit = Duration::from_secs(rounds(300).into());
        thread::spawn(move || {
            if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                // Not `eprintln!`, whose output the test harness keeps until a test ends.
                let _ = writeln!(std::io::stderr(), "{test} still runs after {limit:?}: it hangs");
                std::process::abort();
            }
        });
        Watchdog { _alive: alive }
    }
}

/// Looks at `condition` until it holds.
///
/// # Panics
///
/// If it does not within [`GENEROUS`].
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < GENEROUS, "waited in vain: {what}");
        thread::yield_now();
    }
}

/// Starts so many threads, each of which notifies `each` times, with pauses of up to `pause` turns between.
///
/// They have all notifiers: when they are done, the pair is closed.
pub(crate) fn spawn_notifiers<'scope>(
    scope: &'scope Scope<'scope, '_>,
    notifier: Notifier,
    threads: u32,
    each: u32,
    pause: u32,
) {
    for seed in 0..threads {
        let notifier = notifier.clone();
        scope.spawn(move || {
            let mut random = Random::new(seed.into());
            for _ in 0..each {
                notifier.notify();
                random.spin(pause);
            }
        });
    }
}

/// Small random numbers; the same ones in each run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 16) % u64::from(n)).expect("below a u32")
    }

    /// Passes the time of up to `n` turns.
    pub(crate) fn spin(&mut self, n: u32) {
        for _ in 0..self.below(n) {
            std::hint::spin_loop();
        }
    }
}
