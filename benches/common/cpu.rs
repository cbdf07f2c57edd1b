//! Where and how the calling thread runs, and what it has used.
#![allow(unsafe_code, reason = "libc has the scheduler calls that rustix lacks")]

use std::io;
use std::mem::zeroed;
use std::thread;

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

/// The CPUs that this process may use.
pub(crate) fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

pub(crate) fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("cannot run on CPU {cpu}: {error}"))
}

/// How the scheduler is to treat a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// As it is.
    Inherit,
    Nice(i8),
    Fifo(u8),
    /// `SCHED_IDLE`: runs only when nothing else wants to.
    Idle,
}

impl Priority {
    /// Gives the calling thread this priority.
    pub(crate) fn apply(self) -> Result<(), String> {
        match self {
            Priority::Inherit => Ok(()),
            Priority::Nice(nice) => setpriority_process(Some(gettid()), i32::from(nice))
                .map_err(|error| format!("no nice {nice}: {error}")),
            Priority::Fifo(priority) => set_scheduler(libc::SCHED_FIFO, i32::from(priority))
                .map_err(|error| format!("no SCHED_FIFO {priority}: {error}")),
            Priority::Idle => {
                set_scheduler(libc::SCHED_IDLE, 0).map_err(|error| format!("no SCHED_IDLE: {error}"))
            }
        }
    }

    /// Whether a thread may have it.
    pub(crate) fn check(self) -> Result<(), String> {
        thread::spawn(move || self.apply()).join().map_err(|_| "a thread panicked")?
    }
}

fn set_scheduler(policy: i32, priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread, and `param` outlives the call.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the calling thread has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu_ns: u64,
    pub(crate) switches: u64,
    /// Those of them that were the thread's own doing: it slept.
    pub(crate) sleeps: u64,
}

impl Usage {
    pub(crate) fn so_far() -> Self {
        // SAFETY: `rusage` is plain integers, for which all zeros is a value.
        let mut usage: libc::rusage = unsafe { zeroed() };
        // SAFETY: `usage` is valid for the write.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Usage {
            cpu_ns: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
            switches: u64::try_from(usage.ru_nvcsw + usage.ru_nivcsw).unwrap_or(0),
            sleeps: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        }
    }

    pub(crate) fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            switches: self.switches.saturating_sub(earlier.switches),
            sleeps: self.sleeps.saturating_sub(earlier.sleeps),
        }
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let micros = i128::from(time.tv_sec) * 1_000_000 + i128::from(time.tv_usec);
    u64::try_from(micros).unwrap_or(0) * 1000
}
