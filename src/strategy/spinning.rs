//! Whether, and for how long, a thread may spin.

use std::num::NonZero;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::sys::sched;

/// A realtime thread blocks at least this often, or as often as `RLIMIT_RTTIME` demands.
const MOST_WITHOUT_BLOCKING: Duration = Duration::from_millis(20);
/// How short a block may be. If it is so short that its end has come before the kernel has taken the thread off its
/// CPU, it is none, and a longer one is tried.
const SHORTEST_BLOCK: Duration = Duration::from_micros(20);
const LONGEST_BLOCK: Duration = Duration::from_millis(1);
/// What was found out about a thread is asked for again after so long: rtkit, `chrt` or a cpuset may have changed it
/// from outside. Together with the time without blocking it stays below the 200 ms that desktop sessions allow.
const TRUSTED_FOR: Duration = Duration::from_millis(100);

/// What spinning has to respect: one CPU for the notifier, and the kernel's limit on realtime threads.
#[derive(Debug)]
pub(super) struct Spinning {
    /// The CPUs that a quota leaves to the process, as far as could be told where the strategy was chosen.
    quota: usize,
    /// What was found out about the thread that waits.
    thread: Option<ThisThread>,
}

#[derive(Debug)]
struct ThisThread {
    id: ThreadId,
    found_out: Instant,
    /// Whether there is a CPU for the notifier besides.
    allowed: bool,
    realtime: Option<Realtime>,
}

/// Of a thread that the kernel would never take off its CPU by itself.
#[derive(Debug)]
struct Realtime {
    check_every: Duration,
    checked: Instant,
    /// How often it had blocked by then. The kernel's number: a futex call may well return without having blocked, and
    /// a thread that a stream of notifications keeps from ever sleeping makes many of those.
    blocks: u64,
}

impl Spinning {
    pub(super) fn new() -> Self {
        // Besides a quota of the process this knows the calling thread's CPUs; that of the waiting thread are asked for
        // there. Where it is limited to one, the quota cannot be told.
        let parallelism = thread::available_parallelism().map_or(1, NonZero::get);
        let own = sched::cpus_of_this_thread();
        Spinning { quota: if parallelism < own { parallelism } else { usize::MAX }, thread: None }
    }

    /// Whether the calling thread may spin until [`next_check`](Spinning::next_check). If it has gone too long without
    /// blocking, it blocks here for a moment.
    pub(super) fn check(&mut self) -> bool {
        let now = Instant::now();
        let quota = self.quota;
        let id = thread::current().id();
        let known = self.thread.take().filter(|thread| thread.id == id);
        let thread = match known {
            Some(thread) if now < thread.found_out + TRUSTED_FOR => thread,
            stale => ThisThread {
                id,
                found_out: now,
                // Models have as many as they have threads.
                allowed: cfg!(all(test, rt_notify_loom))
                    || quota > 1 && sched::cpus_of_process_and_thread() > 1,
                realtime: sched::is_realtime().then(|| Realtime::new(stale.and_then(|it| it.realtime), now)),
            },
        };
        let thread = self.thread.insert(thread);
        if let Some(realtime) = &mut thread.realtime {
            realtime.block_if_due(now);
        }
        thread.allowed
    }

    /// When [`check`](Spinning::check) wants to be called again.
    pub(super) fn next_check(&self) -> Option<Instant> {
        let thread = self.thread.as_ref()?;
        let again = thread.found_out + TRUSTED_FOR;
        Some(thread.realtime.as_ref().map_or(again, |realtime| again.min(realtime.due())))
    }
}

impl Realtime {
    fn new(before: Option<Realtime>, now: Instant) -> Self {
        let most =
            sched::rttime_limit().map_or(MOST_WITHOUT_BLOCKING, |limit| MOST_WITHOUT_BLOCKING.min(limit / 4));
        // A block right after one check, and then none until it is missed at the one after the next.
        let check_every = most / 2;
        match before {
            Some(before) => Realtime { check_every, ..before },
            None => Realtime { check_every, checked: now, blocks: sched::blocks_of_this_thread() },
        }
    }

    fn due(&self) -> Instant {
        self.checked + self.check_every
    }

    fn block_if_due(&mut self, now: Instant) {
        if now < self.due() {
            return;
        }
        let mut long = SHORTEST_BLOCK;
        while sched::blocks_of_this_thread() == self.blocks && long <= LONGEST_BLOCK {
            thread::sleep(long);
            long *= 2;
        }
        *self = Realtime {
            checked: Instant::now(),
            blocks: sched::blocks_of_this_thread(),
            check_every: self.check_every,
        };
    }
}
