//! Scheduling of the calling thread, on Linux.
//!
//! Raw system calls, because the C library is no help here: musl's `sched_*` functions always fail, and
//! `pthread_getschedparam` of glibc answers from a cache that misses what rtkit or `chrt` changed. A thread id of 0
//! means the calling thread, so nothing here can ever hit another one.
#![allow(unsafe_code, reason = "system calls that no safe wrapper offers")]

use std::ffi::{c_int, c_long};
use std::io;
use std::mem::MaybeUninit;
use std::num::NonZero;
use std::time::Duration;

use rustix::process::{Resource, getpid, getpriority_process, getrlimit, setpriority_process};
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use rustix::time::{ClockId, clock_gettime};

use crate::priority::{Policy, Scheduler, State};

/// The kernel's `struct sched_param`. The one of musl is longer.
#[repr(C)]
struct SchedParam {
    sched_priority: c_int,
}

/// The calling thread, as the kernel sees it.
pub(crate) struct ThisThread;

impl Scheduler for ThisThread {
    fn current(&self) -> State {
        State {
            policy: policy(),
            priority: priority(),
            nice: getpriority_process(Some(gettid())).ok().and_then(|n| i8::try_from(n).ok()).unwrap_or(0),
        }
    }

    fn set_policy(&self, policy: Policy, priority: u8) -> io::Result<()> {
        let policy = match policy {
            Policy::Other => libc::SCHED_OTHER,
            Policy::Batch => libc::SCHED_BATCH,
            Policy::Idle => libc::SCHED_IDLE,
            Policy::Fifo => libc::SCHED_FIFO,
            Policy::RoundRobin => libc::SCHED_RR,
            // A deadline is more than a priority.
            Policy::Deadline | Policy::Unknown => return Err(io::ErrorKind::Unsupported.into()),
        };
        let policy = c_long::from(policy | libc::SCHED_RESET_ON_FORK);
        let param = SchedParam { sched_priority: priority.into() };
        // SAFETY: `param` is a sched_param as the kernel defines it, and the kernel only reads it.
        let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, ZERO, policy, &raw const param) };
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn set_nice(&self, nice: i8) -> io::Result<()> {
        Ok(setpriority_process(Some(gettid()), nice.into())?)
    }

    fn rtprio_limit(&self) -> u8 {
        // No limit is infinity, and 99 is the maximum that the kernel knows.
        getrlimit(Resource::Rtprio).current.map_or(99, |limit| u8::try_from(limit).map_or(99, |n| n.min(99)))
    }

    fn nice_floor(&self) -> i8 {
        // getrlimit(2): "the actual ceiling for the nice value is calculated as 20 - rlim_cur".
        let limit = getrlimit(Resource::Nice).current;
        20 - limit.map_or(40, |limit| i8::try_from(limit).map_or(40, |n| n.min(40)))
    }
}

/// Keeps the calling thread to these CPUs. Those that do not exist are ignored as long as one does.
pub(crate) fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu < CpuSet::MAX_CPU {
            set.set(cpu);
        }
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// How many CPUs the calling thread may use.
pub(crate) fn cpus_of_this_thread() -> usize {
    sched_getaffinity(None).map_or(1, |set| set.count() as usize)
}

/// How many CPUs the calling thread and the process's first thread may use between them.
pub(crate) fn cpus_of_process_and_thread() -> usize {
    let own = sched_getaffinity(None).unwrap_or_default();
    let process = sched_getaffinity(Some(getpid())).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&cpu| own.is_set(cpu) || process.is_set(cpu)).count()
}

/// Lets the calling thread's timers be exact. The kernel adds up to 50 µs otherwise, to save power, unless the thread is
/// a realtime one.
pub(crate) fn exact_timers() {
    // It cannot fail, and were it not granted, timers would be late as usual.
    let _ = set_current_timer_slack(Some(NonZero::<u64>::MIN));
}

/// Whether the calling thread has a realtime policy.
pub(crate) fn is_realtime() -> bool {
    matches!(policy(), Policy::Fifo | Policy::RoundRobin)
}

/// How long a realtime thread of this process may run without blocking before the kernel ends the process.
pub(crate) fn rttime_limit() -> Option<Duration> {
    getrlimit(Resource::Rttime).current.map(Duration::from_micros)
}

/// How often the calling thread has given up its CPU because it had to wait.
pub(crate) fn blocks_of_this_thread() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes a `rusage` where there is room for one.
    let _ = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all zeros, which the call leaves if it fails, are a `rusage` as well.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_nvcsw).unwrap_or(0)
}

/// How much CPU time the calling thread has used.
pub(crate) fn cpu_time_of_this_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // It is never negative.
    Duration::try_from(time).unwrap_or_default()
}

/// "The calling thread", as wide as a system call's argument.
const ZERO: c_long = 0;

fn policy() -> Policy {
    // SAFETY: the call takes one integer and touches no memory.
    let raw = unsafe { libc::syscall(libc::SYS_sched_getscheduler, ZERO) };
    // A negative number is an error, and keeps all its high bits.
    match c_int::try_from(raw).unwrap_or(-1) & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => Policy::Other,
        libc::SCHED_BATCH => Policy::Batch,
        libc::SCHED_IDLE => Policy::Idle,
        libc::SCHED_FIFO => Policy::Fifo,
        libc::SCHED_RR => Policy::RoundRobin,
        libc::SCHED_DEADLINE => Policy::Deadline,
        _ => Policy::Unknown,
    }
}

fn priority() -> u8 {
    let mut param = SchedParam { sched_priority: 0 };
    // SAFETY: `param` is a sched_param as the kernel defines it, and nobody else has a reference to it.
    let _ = unsafe { libc::syscall(libc::SYS_sched_getparam, ZERO, &raw mut param) };
    // Left at 0 if the call failed: then `policy` says Unknown as well.
    u8::try_from(param.sched_priority).unwrap_or(0)
}
