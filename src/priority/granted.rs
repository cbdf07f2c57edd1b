//! What the kernel reports about a thread's priority.

use std::{fmt, io};

use super::PriorityError;

/// A scheduling policy, as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// `SCHED_OTHER`, the usual one: shares the CPU according to nice values.
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`: weaker than nice 19.
    Idle,
    /// `SCHED_FIFO`, realtime.
    Fifo,
    /// `SCHED_RR`, realtime.
    RoundRobin,
    /// `SCHED_DEADLINE`, realtime.
    Deadline,
    /// One that this crate does not know, or the platform does not tell.
    Unknown,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Other => "SCHED_OTHER",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Fifo => "SCHED_FIFO",
            Policy::RoundRobin => "SCHED_RR",
            Policy::Deadline => "SCHED_DEADLINE",
            Policy::Unknown => "an unknown policy",
        })
    }
}

/// The scheduling of one thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) policy: Policy,
    /// 1 to 99 under a realtime policy, else 0.
    pub(crate) priority: u8,
    pub(crate) nice: i8,
}

/// What a thread really got: read back from the kernel after the request, not inferred from it.
///
/// Others can change it later (`chrt`, `renice`, rtkit); this stays as it was read. Displayed, it is short:
/// `SCHED_FIFO 50`, or `nice -20`.
#[derive(Debug)]
pub struct Granted {
    state: State,
    shortfall: Option<PriorityError>,
    cpus_refused: Option<io::Error>,
}

impl Granted {
    pub(crate) fn new(state: State, shortfall: Option<PriorityError>) -> Self {
        Granted { state, shortfall, cpus_refused: None }
    }

    pub(crate) fn with_cpus_refused(self, cpus_refused: Option<io::Error>) -> Self {
        Granted { cpus_refused, ..self }
    }

    /// The policy of the thread.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.state.policy
    }

    /// The priority under [`Policy::Fifo`] or [`Policy::RoundRobin`], 1 to 99 (strongest); 0 under any other policy.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.state.priority
    }

    /// The nice value, -20 (strongest) to 19. Without effect under a realtime policy.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn nice(&self) -> i8 {
        self.state.nice
    }

    /// Why not everything that was asked for was obtained; `None` if it was.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn shortfall(&self) -> Option<&PriorityError> {
        self.shortfall.as_ref()
    }

    /// Why the thread is not kept to the CPUs given to
    /// [`WorkerBuilder::cpus`](crate::WorkerBuilder::cpus); `None` if it is, or if none were given.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn cpus_refused(&self) -> Option<&io::Error> {
        self.cpus_refused.as_ref()
    }

    /// This, if it is exactly what was asked for; else why it is not.
    pub(crate) fn exact(mut self) -> Result<Self, PriorityError> {
        self.shortfall.take().map_or(Ok(self), Err)
    }
}

impl fmt::Display for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state.policy {
            Policy::Other => write!(f, "nice {}", self.state.nice),
            Policy::Fifo | Policy::RoundRobin => write!(f, "{} {}", self.state.policy, self.state.priority),
            other => other.fmt(f),
        }
    }
}
