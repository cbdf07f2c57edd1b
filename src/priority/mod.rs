//! What a thread may ask of the scheduler.

mod error;
mod granted;
mod promote;

use std::fmt;

pub use error::PriorityError;
pub(crate) use granted::State;
pub use granted::{Granted, Policy};
pub(crate) use promote::{Order, Scheduler};

use crate::sys::sched::ThisThread;

/// The scheduling priority of a thread, for [`WorkerBuilder::priority`](crate::WorkerBuilder::priority) or
/// [`apply`](Priority::apply).
///
/// Numbers outside the range of a policy mean the nearest end of that range; that alone is not an error.
///
/// Whatever is set carries `SCHED_RESET_ON_FORK`: threads and processes that the thread starts later get neither
/// its realtime policy nor its negative nice value. Without privileges this flag cannot be taken off again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// What the spawning thread has, realtime or not.
    Inherit,
    /// `SCHED_OTHER` with this absolute nice value, -20 (strongest) to 19.
    ///
    /// Where the kernel groups processes by session (autogroup, usual on desktops), a nice value only counts
    /// against threads of the same session.
    Nice(i8),
    /// `SCHED_FIFO` with this priority, 1 to 99 (strongest). Runs until it blocks or something stronger wants
    /// the CPU.
    Fifo(u8),
    /// `SCHED_RR` with this priority, 1 to 99 (strongest). Like FIFO, but takes turns with threads of the same
    /// priority.
    RoundRobin(u8),
}

impl Priority {
    /// Gives the calling thread this priority, and returns what the kernel then reports.
    ///
    /// Not realtime-safe: several system calls. For threads that are not a [`Worker`](crate::Worker); call it once,
    /// when the thread starts. Calling it again with the same value changes nothing.
    ///
    /// If the limits of the process allow only a weaker priority of the same kind (FIFO 50 of 70, nice -10 of
    /// -20), that one is set and [`Granted::shortfall`] says why. [`Priority::Inherit`] changes nothing and only
    /// reports.
    ///
    /// # Errors
    ///
    /// The kernel refused this kind of priority altogether; the thread keeps the one it had. On platforms other
    /// than Linux, everything but `Inherit` is refused as [unsupported](std::io::ErrorKind::Unsupported).
    ///
    /// # Examples
    ///
    /// ```
    /// use rt_notify::Priority;
    ///
    /// # #[cfg(target_os = "linux")]
    /// std::thread::spawn(|| {
    ///     // Yielding to others is always allowed ...
    ///     let granted = Priority::Nice(19).apply().unwrap();
    ///     assert_eq!(granted.nice(), 19);
    ///     assert!(granted.shortfall().is_none());
    ///
    ///     // ... going before others needs a privilege. Either way the thread runs on.
    ///     match Priority::Fifo(20).apply() {
    ///         Ok(granted) => assert!(granted.priority() <= 20),
    ///         Err(error) => eprintln!("{error}"),
    ///     }
    /// })
    /// .join()
    /// .unwrap();
    /// ```
    pub fn apply(self) -> Result<Granted, PriorityError> {
        let current = ThisThread.current();
        if self == Priority::Inherit {
            return Ok(Granted::new(current, None));
        }
        Order::new(Some(self), current).apply(&ThisThread)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Priority::Inherit => f.write_str("the spawning thread's priority"),
            Priority::Nice(n) => write!(f, "nice {n}"),
            Priority::Fifo(n) => write!(f, "SCHED_FIFO {n}"),
            Priority::RoundRobin(n) => write!(f, "SCHED_RR {n}"),
        }
    }
}
