//! Runs a test's body in a process of its own: for what cannot be undone (dropped privileges, limits), may kill the
//! process, or might hang it.

use std::env;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Names the test whose body is to run in this very process.
const VARIABLE: &str = "RT_NOTIFY_TEST_CHILD";
/// Printed by the child: without it, nothing was run.
const MARK: &str = "rt-notify child runs";
/// A child that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Call this first in the test called `name`; `body` must succeed in the child.
pub(crate) fn in_child(name: &str, body: impl FnOnce()) {
    if let Some(status) = child_status(name, body) {
        assert!(status.success(), "{name}, in a process of its own: {status}");
    }
}

/// Like [`in_child`], but returns how the child ended; `None` in the child.
pub(crate) fn child_status(name: &str, body: impl FnOnce()) -> Option<ExitStatus> {
    if env::var_os(VARIABLE).is_some_and(|test| test == name) {
        println!("{MARK}");
        body();
        return None;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(VARIABLE, name)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{name}: hangs; killed. Output:\n{}", reader.join().unwrap());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = reader.join().unwrap();
    print!("{text}");
    assert!(text.contains(MARK), "there is no test called {name}");
    Some(status)
}
