//! Child processes that go on where the test is, without `exec`.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(unsafe_code, reason = "`fork` is C")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::stress::until;

/// Killed, if it is still there, when dropped.
pub(crate) struct Child {
    pid: Pid,
    is_reaped: bool,
}

impl Child {
    /// Runs `body` in a child. Only the calling thread is there; a panic is exit code 101.
    pub(crate) fn fork(body: impl FnOnce()) -> Self {
        // SAFETY: the child runs `body` alone, which the tests keep to what needs no other thread, and leaves by
        // `_exit`.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let code = if catch_unwind(AssertUnwindSafe(body)).is_ok() { 0 } else { 101 };
            // SAFETY: has no precondition.
            unsafe { libc::_exit(code) }
        }
        let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 0).expect("fork succeeds");
        Child { pid, is_reaped: false }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("the child is there");
    }

    /// Waits until `/proc` shows the child in this state.
    #[track_caller]
    pub(crate) fn wait_state(&self, state: char) {
        let path = format!("/proc/{}/stat", self.pid.as_raw_nonzero());
        until(&format!("the child is in state {state}"), || {
            let line = fs::read_to_string(&path).expect("the child is not reaped");
            line.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(state))
        });
    }

    /// Waits for the child to end by itself.
    #[track_caller]
    pub(crate) fn join(mut self) {
        let mut ended = None;
        until("the child ends", || {
            ended = waitpid(Some(self.pid), WaitOptions::NOHANG).expect("it is our child");
            ended.is_some()
        });
        self.is_reaped = true;
        let (_, status) = ended.expect("it has ended");
        assert_eq!(status.exit_status(), Some(0), "the child failed: {status:?}");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = waitpid(Some(self.pid), WaitOptions::empty());
        }
    }
}
