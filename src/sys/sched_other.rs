//! Scheduling where this crate has no means to change or read it: everything but "leave it" is an error.

use std::io;
use std::time::Duration;

use crate::priority::{Policy, Scheduler, State};

/// The calling thread, about which nothing is known.
pub(crate) struct ThisThread;

impl Scheduler for ThisThread {
    fn current(&self) -> State {
        State { policy: Policy::Unknown, priority: 0, nice: 0 }
    }

    fn set_policy(&self, _: Policy, _: u8) -> io::Result<()> {
        unsupported()
    }

    fn set_nice(&self, _: i8) -> io::Result<()> {
        unsupported()
    }

    fn rtprio_limit(&self) -> u8 {
        0
    }

    fn nice_floor(&self) -> i8 {
        20
    }
}

pub(crate) fn set_cpus(_: &[usize]) -> io::Result<()> {
    unsupported()
}

pub(crate) fn cpus_of_this_thread() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

pub(crate) fn cpus_of_process_and_thread() -> usize {
    cpus_of_this_thread()
}

pub(crate) fn exact_timers() {}

pub(crate) fn is_realtime() -> bool {
    false
}

pub(crate) fn rttime_limit() -> Option<Duration> {
    None
}

/// What the budget of `Periodic` cannot see, it does not charge.
pub(crate) fn cpu_time_of_this_thread() -> Duration {
    Duration::ZERO
}

pub(crate) fn blocks_of_this_thread() -> u64 {
    0
}

fn unsupported() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "scheduling is implemented for Linux only"))
}
