//! Unix: a pipe. One owner has both ends, so that a write never meets a pipe without a reader (SIGPIPE), and a poller
//! never one without a writer (an endless hang-up).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

pub(crate) struct Event {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Event {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Event { reader, writer })
    }

    pub(crate) fn post(&self) {
        super::errno::keep(|| {
            // The one error that can occur is EAGAIN: the pipe is full, so it is readable, which is all that was
            // asked for.
            let _ = rustix::io::write(&self.writer, &[1]);
        });
    }

    pub(crate) fn drain(&self) {
        let mut bytes = [0; 1024];
        // A read that did not fill the buffer has emptied the pipe, as far as this thread's drain is concerned: what
        // is written after it is a later post. EAGAIN: it was empty already.
        while rustix::io::read(&self.reader, &mut bytes) == Ok(bytes.len()) {}
    }

    pub(crate) fn sleep(&self, until: Option<Instant>) {
        super::poll::sleep(self.fd(), until);
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

#[cfg(not(target_vendor = "apple"))]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::pipe::{PipeFlags, pipe_with};

    Ok(pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?)
}

/// There is no `pipe2` here: a program started between the two calls inherits the ends.
#[cfg(target_vendor = "apple")]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use rustix::io::{FdFlags, fcntl_setfd};

    let (reader, writer) = rustix::pipe::pipe()?;
    for end in [&reader, &writer] {
        fcntl_setfd(end, FdFlags::CLOEXEC)?;
        fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
    }
    Ok((reader, writer))
}
