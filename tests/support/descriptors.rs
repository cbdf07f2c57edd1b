//! Descriptors seen from outside: what a poller and `/proc` say about them.
#![allow(dead_code, reason = "each test file uses a part of this")]

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

/// How a poller tells that a descriptor is readable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger {
    /// As long as it is.
    Level,
    /// Once for each time that it is made so.
    Edge,
}

pub(crate) const TRIGGERS: [Trigger; 2] = [Trigger::Level, Trigger::Edge];

/// Polls one descriptor for readability.
pub(crate) enum Poller<'a> {
    Level(BorrowedFd<'a>),
    Edge(OwnedFd),
}

impl<'a> Poller<'a> {
    pub(crate) fn new(trigger: Trigger, fd: BorrowedFd<'a>) -> Self {
        match trigger {
            Trigger::Level => Poller::Level(fd),
            Trigger::Edge => {
                let poller = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
                let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
                epoll::add(&poller, fd, epoll::EventData::new_u64(0), flags).unwrap();
                Poller::Edge(poller)
            }
        }
    }

    /// Whether there is an event within that time. `None` is for ever.
    pub(crate) fn event(&self, timeout: Option<Duration>) -> bool {
        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
        match self {
            Poller::Level(fd) => {
                let mut fds = [PollFd::from_borrowed_fd(*fd, PollFlags::IN)];
                if poll(&mut fds, timeout.as_ref()).unwrap() == 0 {
                    return false;
                }
                // Neither an error nor a hang-up: a poller would be told of those for ever.
                assert_eq!(fds[0].revents(), PollFlags::IN);
                true
            }
            Poller::Edge(poller) => {
                let nothing =
                    epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
                let mut events = [nothing; 2];
                let n = epoll::wait(poller, &mut events, timeout.as_ref()).unwrap();
                if n > 0 {
                    let flags = events[0].flags;
                    assert_eq!((n, flags), (1, epoll::EventFlags::IN));
                }
                n > 0
            }
        }
    }

    /// Whether there is an event now.
    pub(crate) fn event_now(&self) -> bool {
        self.event(Some(Duration::ZERO))
    }
}

pub(crate) fn is_readable(fd: &impl AsFd) -> bool {
    Poller::new(Trigger::Level, fd.as_fd()).event_now()
}

/// How many writes a notification descriptor holds that nobody has read.
pub(crate) fn posts(fd: &impl AsFd) -> u64 {
    let fd = fd.as_fd();
    if cfg!(all(target_os = "linux", not(rt_notify_force_pipe))) {
        eventfd_count(fd.as_raw_fd())
    } else {
        rustix::io::ioctl_fionread(fd).unwrap()
    }
}

/// What an `eventfd` that is written ones has been written since it was read.
pub(crate) fn eventfd_count(fd: i32) -> u64 {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap();
    let count = info.lines().find_map(|line| line.strip_prefix("eventfd-count:")).unwrap();
    u64::from_str_radix(count.trim(), 16).unwrap()
}

/// This process's descriptors, and what they are.
pub(crate) fn open() -> BTreeMap<i32, String> {
    let mut open = BTreeMap::new();
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let path = entry.unwrap().path();
        let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        // Fails for the one that reads the directory, when that is looked at last.
        if let Ok(target) = fs::read_link(&path) {
            open.insert(number, target.to_str().unwrap().to_owned());
        }
    }
    // The directory's own, which is closed by now.
    open.retain(|_, target| !target.ends_with("/fd"));
    open
}
