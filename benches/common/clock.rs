//! `CLOCK_MONOTONIC` in nanoseconds: one number that threads can exchange and sleep until.

use std::io;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND: u64 = 1_000_000_000;

#[inline]
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * SECOND + u64::try_from(now.tv_nsec).unwrap_or(0)
}

pub(crate) fn sleep_until(at: u64) {
    let at = Timespec {
        tv_sec: i64::try_from(at / SECOND).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(at % SECOND).unwrap_or(0),
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &at).map_err(io::Error::from).is_err_and(interrupted) {
    }
}

fn interrupted(error: io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}
