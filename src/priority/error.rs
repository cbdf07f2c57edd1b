//! Why a priority was not granted.

use std::error::Error;
use std::{fmt, io};

use super::Priority;

/// Why a [`Priority`] was not granted, or not in full.
///
/// Its text is one line: what was asked, what the kernel said, and what to do about it. The
/// [source](Error::source) is the [`io::Error`]; `?` turns the whole into one of the same
/// [kind](io::Error::kind).
#[derive(Debug)]
pub struct PriorityError {
    asked: Priority,
    cause: io::Error,
}

impl PriorityError {
    pub(crate) fn new(asked: Priority, cause: io::Error) -> Self {
        PriorityError { asked, cause }
    }

    /// What was asked for. In place of [`Priority::Inherit`] this is what the spawning thread had.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn asked(&self) -> Priority {
        self.asked
    }

    /// The kind of the underlying error: usually [`PermissionDenied`](io::ErrorKind::PermissionDenied);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if
    /// [`WorkerBuilder::below`](crate::WorkerBuilder::below) forbids it.
    ///
    /// Realtime-safe.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }
}

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not granted: {}", self.asked, self.cause)?;
        if self.kind() != io::ErrorKind::PermissionDenied {
            return Ok(());
        }
        match self.asked {
            Priority::Nice(_) => f.write_str(
                "; to allow it, put `@audio - nice -20` into /etc/security/limits.d, or grant CAP_SYS_NICE",
            ),
            // The kernel answers EPERM to a missing right and to a cgroup without a realtime budget alike.
            _ => f.write_str(
                "; to allow it, put `@audio - rtprio 95` into /etc/security/limits.d, or grant CAP_SYS_NICE \
                 (in a container or cgroup, also give it a cpu.rt_runtime_us)",
            ),
        }
    }
}

impl Error for PriorityError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<PriorityError> for io::Error {
    fn from(error: PriorityError) -> Self {
        io::Error::new(error.kind(), error)
    }
}
