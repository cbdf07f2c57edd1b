//! Scheduling where this crate has no means to change or read it: everything but "leave it" is an error.

use std::io;

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

fn unsupported() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "scheduling is implemented for Linux only"))
}
