//! Threads seen from outside: `/proc` tells whether they sleep.
#![allow(dead_code, reason = "each test file uses a part of this")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use crate::stress::until;

/// Looks at one thread.
pub(crate) struct Probe {
    pub(crate) tid: i32,
    stat: File,
}

impl Probe {
    /// A probe of the calling thread, for others to use.
    pub(crate) fn here() -> Self {
        let stat = File::open("/proc/thread-self/stat").expect("/proc is mounted");
        Probe { tid: rustix::thread::gettid().as_raw_nonzero().get(), stat }
    }

    /// The state's letter: `S` is asleep. `None` once the thread has ended.
    pub(crate) fn state(&self) -> Option<u8> {
        let mut line = [0; 512];
        let length = self.stat.read_at(&mut line, 0).ok()?;
        // The second field, the name, is in parentheses and may contain some.
        let name_end = line[..length].iter().rposition(|&byte| byte == b')')?;
        line.get(name_end + 2).copied()
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.state() == Some(b'S')
    }

    #[track_caller]
    pub(crate) fn wait_asleep(&self) {
        until("the thread falls asleep", || self.is_asleep());
    }
}

/// A thread that is going to sleep in what it is given to do.
pub(crate) struct Sleeper<T> {
    thread: JoinHandle<T>,
    probe: Arc<OnceLock<Probe>>,
}

impl<T: Send + 'static> Sleeper<T> {
    pub(crate) fn spawn(body: impl FnOnce() -> T + Send + 'static) -> Self {
        let probe = Arc::new(OnceLock::new());
        let its_own = probe.clone();
        let thread = thread::spawn(move || {
            assert!(its_own.set(Probe::here()).is_ok());
            // Nothing between here and `body` sleeps.
            body()
        });
        until("the thread starts", || probe.get().is_some());
        Sleeper { thread, probe }
    }

    /// Already asleep when this returns.
    #[track_caller]
    pub(crate) fn spawn_asleep(body: impl FnOnce() -> T + Send + 'static) -> Self {
        let sleeper = Self::spawn(body);
        sleeper.wait_asleep();
        sleeper
    }

    pub(crate) fn probe(&self) -> &Probe {
        self.probe.get().expect("set when spawned")
    }

    #[track_caller]
    pub(crate) fn wait_asleep(&self) {
        self.probe().wait_asleep();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    #[track_caller]
    pub(crate) fn join(self) -> T {
        self.thread.join().expect("the thread does not panic")
    }
}
