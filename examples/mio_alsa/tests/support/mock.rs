//! A device that does as it is told, on real descriptors.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use alsa::Error;
use alsa::poll::{Descriptors, Flags, pollfd};
use rt_notify_mio_alsa::Capture;

/// No device falls silent in tests that are not about silence.
const NEVER: Duration = Duration::from_secs(3600);

/// One byte in the first socket is one frame.
pub(crate) struct Mock {
    pub(crate) sockets: Vec<UnixStream>,
    /// What `revents` says; then what is true: `IN` if the first socket has a byte.
    pub(crate) scripted: RefCell<VecDeque<Flags>>,
    /// What `revents` always says, if anything.
    pub(crate) always: Option<Flags>,
    /// What reads fail with, before there are frames.
    pub(crate) read_errors: VecDeque<i32>,
    /// What `restart` returns; then it works.
    pub(crate) restarts: VecDeque<Result<(), i32>>,
    pub(crate) longest_silence: Duration,
    pub(crate) calls: RefCell<Vec<Call>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    /// With the group: descriptor and flags.
    Revents(Vec<(RawFd, i16)>),
    Read(Result<usize, i32>),
    Restart,
    Pause,
}

impl Mock {
    /// A device with so many descriptors, and their other ends.
    pub(crate) fn new(descriptors: usize) -> (Mock, Vec<UnixStream>) {
        let pair = || {
            let (ours, theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            theirs.set_nonblocking(true).unwrap();
            (ours, theirs)
        };
        let (sockets, others) = (0..descriptors).map(|_| pair()).unzip();
        let mock = Mock {
            sockets,
            scripted: RefCell::default(),
            always: None,
            read_errors: VecDeque::new(),
            restarts: VecDeque::new(),
            longest_silence: NEVER,
            calls: RefCell::default(),
        };
        (mock, others)
    }

    pub(crate) fn always(flags: Flags) -> (Mock, UnixStream) {
        let (mock, mut others) = Mock::new(1);
        (Mock { always: Some(flags), ..mock }, others.remove(0))
    }

    pub(crate) fn fds(&self) -> Vec<RawFd> {
        self.sockets.iter().map(AsRawFd::as_raw_fd).collect()
    }

    pub(crate) fn called(&self, call: &Call) -> usize {
        self.calls.borrow().iter().filter(|seen| *seen == call).count()
    }
}

impl Descriptors for Mock {
    fn count(&self) -> usize {
        self.sockets.len()
    }

    fn fill(&self, group: &mut [pollfd]) -> alsa::Result<usize> {
        for (pollfd, fd) in group.iter_mut().zip(self.fds()) {
            *pollfd = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        }
        Ok(self.sockets.len())
    }

    fn revents(&self, group: &[pollfd]) -> alsa::Result<Flags> {
        self.calls.borrow_mut().push(Call::Revents(group.iter().map(|p| (p.fd, p.revents)).collect()));
        if let Some(flags) = self.scripted.borrow_mut().pop_front() {
            return Ok(flags);
        }
        Ok(self.always.unwrap_or_else(|| Flags::from_bits_truncate(group[0].revents)))
    }
}

impl Capture for Mock {
    fn read(&mut self) -> alsa::Result<usize> {
        let result = match self.read_errors.pop_front() {
            Some(code) => Err(code),
            None => self.sockets[0].read(&mut [0]).map_err(|error| error.raw_os_error().unwrap()),
        };
        self.calls.borrow_mut().push(Call::Read(result));
        result.map_err(|code| Error::new("read", code))
    }

    fn restart(&mut self) -> alsa::Result<()> {
        self.calls.borrow_mut().push(Call::Restart);
        self.restarts.pop_front().unwrap_or(Ok(())).map_err(|code| Error::new("restart", code))
    }

    fn pause(&mut self) -> alsa::Result<()> {
        self.calls.borrow_mut().push(Call::Pause);
        Ok(())
    }

    fn longest_silence(&self) -> Duration {
        self.longest_silence
    }
}

/// A thread that makes a descriptor ready a thousand times per second, so that edges never end.
pub(crate) struct Chatter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Chatter {
    pub(crate) fn start(mut socket: UnixStream) -> Chatter {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            // Ordering: Relaxed; nothing else is told.
            while !stopped.load(Ordering::Relaxed) {
                // Full is ready, too.
                let _ = socket.write(&[0]);
                thread::sleep(Duration::from_millis(1));
            }
        });
        Chatter { stop, thread: Some(thread) }
    }
}

impl Drop for Chatter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
