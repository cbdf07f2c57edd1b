//! System calls as strace sees them.
//!
//! A test runs itself once more under strace. There it marks parts of what a thread does, by system calls that fail.
#![allow(unsafe_code, reason = "the marks are system calls that no safe wrapper makes")]

use std::env;
use std::fs;
use std::process::Command;

/// Names the test that runs under strace in this very process.
const VARIABLE: &str = "RT_NOTIFY_TEST_TRACED";

/// Runs `body` and marks what the calling thread does meanwhile.
pub(crate) fn marked<T>(name: &str, body: impl FnOnce() -> T) -> T {
    mark(&format!("begin {name}"));
    let result = body();
    mark(&format!("end {name}"));
    result
}

fn mark(text: &str) {
    // SAFETY: the pointer and the length are those of `text`; no descriptor has this number, so nothing is written.
    let result = unsafe { libc::write(-1, text.as_ptr().cast(), text.len()) };
    assert_eq!(result, -1);
}

/// What strace wrote down.
pub(crate) struct Trace(String);

/// Runs `body` of the test called `test` under strace. `None` in that run, and where there is no strace; the
/// environment variable `RT_NOTIFY_REQUIRE_STRACE=1` makes the latter a failure.
pub(crate) fn traced(test: &str, body: impl FnOnce()) -> Option<Trace> {
    if env::var_os(VARIABLE).is_some_and(|name| name == test) {
        body();
        return None;
    }
    let file = env::temp_dir().join(format!("rt-notify-{test}-{}.strace", std::process::id()));
    let strace = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&file)
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(VARIABLE, test)
        .output();
    let trace = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    match strace {
        Ok(output) if output.status.success() => Some(Trace(trace.unwrap())),
        // It was there, and traced; the body failed.
        Ok(output) if trace.is_ok_and(|trace| trace.contains("\"begin ")) => {
            panic!("{test}, under strace: {}", String::from_utf8_lossy(&output.stdout));
        }
        failed => {
            let required = env::var_os("RT_NOTIFY_REQUIRE_STRACE").is_some_and(|value| value == "1");
            assert!(!required, "RT_NOTIFY_REQUIRE_STRACE=1, but strace cannot be used: {failed:?}");
            eprintln!("SKIPPED: {test} needs strace ({failed:?})");
            None
        }
    }
}

impl Trace {
    /// The names of the calls that one thread made within the mark, in order.
    pub(crate) fn calls(&self, name: &str) -> Vec<&str> {
        let begin = format!("write(-1, \"begin {name}\"");
        let end = format!("write(-1, \"end {name}\"");
        let mut lines = self.0.lines().filter_map(|line| line.split_once(char::is_whitespace));
        let (thread, _) = lines.find(|(_, call)| call.trim_start().starts_with(&begin)).expect("begun");
        let its_own = lines.filter(|(id, _)| *id == thread).map(|(_, call)| call.trim_start());
        let mut calls = Vec::new();
        for call in its_own {
            if call.starts_with(&end) {
                return calls;
            }
            // The second half of a call that another thread's line interrupted.
            if !call.starts_with("<...") {
                calls.push(call.split_once('(').map_or(call, |(name, _)| name));
            }
        }
        panic!("{name} does not end");
    }

    /// How often the mark's thread called `call`, and nothing else.
    pub(crate) fn only(&self, name: &str, call: &str) -> usize {
        let calls = self.calls(name);
        assert!(calls.iter().all(|other| *other == call), "{name}: {calls:?}");
        calls.len()
    }
}
