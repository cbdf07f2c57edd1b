//! Runs the example programs as a user would, and never waits for one without a limit.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// For what must happen at all, however slow the machine.
pub(crate) const EVENTUALLY: Duration = Duration::from_secs(30);

/// An example, as built by the same `cargo test`.
pub(crate) fn example(name: &str) -> Command {
    let test = env::current_exe().expect("a test knows its own path");
    // target/PROFILE/deps/TEST-HASH and target/PROFILE/examples/NAME
    let profile = test.parent().and_then(|deps| deps.parent()).expect("tests are built below their profile");
    let path = profile.join("examples").join(name);
    assert!(
        path.is_file(),
        "{path:?} is missing: `cargo test` builds it; before `cargo test --test`, `cargo build --examples` does"
    );
    Command::new(path)
}

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
    seen: String,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// Starts a program whose standard input stays open and empty.
    pub(crate) fn start(command: &mut Command) -> Program {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Program { child, lines, seen: String::new() }
    }

    /// Waits for a line on standard output that contains `text`, and returns it.
    pub(crate) fn wait_for_line(&mut self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(EVENTUALLY);
            let line = line.unwrap_or_else(|error| panic!("no line with {text:?} ({error}): {}", self.seen));
            self.seen += &line;
            self.seen.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until the thread of this name has slept `n` times: what it waits for comes.
    pub(crate) fn wait_for_sleeps(&self, thread: &str, n: u64) {
        let tasks = format!("/proc/{}/task", self.child.id());
        let sleeps = || -> Option<u64> {
            let has_name = |task: &PathBuf| {
                fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == thread)
            };
            let task = fs::read_dir(&tasks).ok()?.flatten().map(|task| task.path()).find(has_name)?;
            let status = fs::read_to_string(task.join("status")).ok()?;
            status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
        };
        let deadline = Instant::now() + EVENTUALLY;
        while sleeps().is_none_or(|sleeps| sleeps < n) {
            assert!(Instant::now() < deadline, "the thread {thread:?} is not at work");
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    pub(crate) fn press_enter(&mut self) {
        self.child.stdin.take().expect("it is piped").write_all(b"\n").expect("it reads");
    }

    /// Waits for the end, and fails if that takes longer than `limit`.
    pub(crate) fn end_within(mut self, limit: Duration) -> Ended {
        let deadline = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is a child of this process") {
                break status;
            }
            assert!(Instant::now() < deadline, "still running after {limit:?}: {}", self.seen);
            thread::sleep(Duration::from_millis(2));
        };
        let mut stderr = String::new();
        let pipe = self.child.stderr.as_mut().expect("it is piped");
        pipe.read_to_string(&mut stderr).expect("programs write UTF-8");
        let stdout =
            std::mem::take(&mut self.seen) + &self.lines.iter().map(|line| line + "\n").collect::<String>();
        Ended { status, stdout, stderr }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail if it has ended already, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Checks that the program ended by itself with this code, and neither by a panic nor by a signal.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) {
        let Ended { status, stdout, stderr } = self;
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(status.signal(), None, "{stdout}{stderr}");
        assert_eq!(status.code(), Some(code), "{stdout}{stderr}");
    }

    /// The first word behind a label at the start of a line.
    #[track_caller]
    pub(crate) fn value(&self, label: &str) -> &str {
        let line = self.stdout.lines().find_map(|line| line.strip_prefix(label));
        let value = line.and_then(|rest| rest.split_whitespace().next());
        value.unwrap_or_else(|| panic!("no line {label:?}: {}{}", self.stdout, self.stderr))
    }
}
