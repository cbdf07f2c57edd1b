//! Whether, and for how long, a thread may spin.

use std::num::NonZero;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::sys::sched;

/// A realtime thread blocks at least this often, or as often as `RLIMIT_RTTIME` demands.
const MOST_WITHOUT_BLOCKING: Duration = Duration::from_millis(20);
/// Short, but long enough for the kernel to take the thread off its CPU.
const SHORT_BLOCK: Duration = Duration::from_micros(1);

/// What spinning has to respect: one CPU for the notifier, and the kernel's limit on realtime threads.
#[derive(Debug)]
pub(super) struct Spinning {
    /// The CPUs that a quota leaves to the process, as far as could be told where the strategy was chosen.
    quota: usize,
    /// What was found out for the thread that waits.
    thread: Option<ThisThread>,
}

#[derive(Debug)]
struct ThisThread {
    id: ThreadId,
    allowed: bool,
    /// For a realtime thread: how long it may go without blocking.
    most: Option<Duration>,
    blocked: Instant,
}

impl Spinning {
    pub(super) fn new() -> Self {
        // Besides a quota of the process this knows the calling thread's CPUs; that of the waiting thread are asked for
        // there. Where it is limited to one, the quota cannot be told.
        let parallelism = thread::available_parallelism().map_or(1, NonZero::get);
        let own = sched::cpus_of_this_thread();
        Spinning { quota: if parallelism < own { parallelism } else { usize::MAX }, thread: None }
    }

    /// Whether the calling thread may spin: somewhere else there must be a CPU for the notifier.
    pub(super) fn is_allowed(&mut self) -> bool {
        self.thread().allowed
    }

    /// The thread has just slept.
    pub(super) fn has_blocked(&mut self) {
        if let Some(thread) = &mut self.thread {
            thread.blocked = Instant::now();
        }
    }

    /// Whether the calling thread has gone so long without blocking that it must not spin again before.
    pub(super) fn must_block(&mut self) -> bool {
        let thread = self.thread();
        thread.most.is_some_and(|most| thread.blocked.elapsed() >= most)
    }

    /// Blocks for a moment if it must.
    pub(super) fn block_if_due(&mut self) {
        if self.must_block() {
            thread::sleep(SHORT_BLOCK);
            self.has_blocked();
        }
    }

    fn thread(&mut self) -> &mut ThisThread {
        let id = thread::current().id();
        if self.thread.as_ref().is_none_or(|thread| thread.id != id) {
            self.thread = None;
        }
        let quota = self.quota;
        self.thread.get_or_insert_with(|| ThisThread {
            id,
            allowed: quota > 1 && sched::cpus_of_process_and_thread() > 1,
            most: sched::is_realtime().then(|| match sched::rttime_limit() {
                Some(limit) => (limit / 4).min(MOST_WITHOUT_BLOCKING),
                None => MOST_WITHOUT_BLOCKING,
            }),
            blocked: Instant::now(),
        })
    }
}
