//! Runs a test's body under strace, and tells which system calls marked sections of it made.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// Names the test whose body is to run in this very process, under strace.
const VARIABLE: &str = "RT_NOTIFY_TEST_TRACED";

/// What strace saw.
pub(crate) struct Trace {
    sections: Vec<(String, Vec<String>)>,
}

/// Runs `body` in a process of its own, in the test called `name`, and returns its trace. `None` in that process; and
/// where strace cannot run, which it says, or which is a failure if `RT_NOTIFY_REQUIRE_STRACE=1` promises it.
pub(crate) fn trace(name: &str, body: impl FnOnce()) -> Option<Trace> {
    if env::var_os(VARIABLE).is_some_and(|test| test == name) {
        body();
        return None;
    }
    if let Err(reason) = try_strace() {
        let required = env::var_os("RT_NOTIFY_REQUIRE_STRACE").is_some_and(|value| value == "1");
        assert!(!required, "RT_NOTIFY_REQUIRE_STRACE=1, but strace does not run: {reason}");
        skip(name, &format!("strace does not run ({reason})"));
        return None;
    }
    let directory = env::temp_dir().join(format!("rt-notify-{}-{name}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for temporary files");
    let output = Command::new("strace")
        // One file per thread.
        .args(["--follow-forks", "--output-separately", "--quiet=all", "--string-limit=200", "--output"])
        .arg(directory.join("thread"))
        .arg(env::current_exe().expect("this program has a path"))
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, name)
        .output()
        .expect("strace ran before");
    let trace = Trace::read(&directory);
    fs::remove_dir_all(&directory).expect("the directory is ours");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}, under strace: {}\n{stdout}\n{stderr}", output.status);
    assert!(!trace.sections.is_empty(), "nothing was traced; is there a test called {name}?");
    Some(trace)
}

/// Says so on the terminal: what goes through `eprintln!` is shown of failed tests only.
pub(crate) fn skip(name: &str, reason: &str) {
    use io::Write;
    let _ = writeln!(io::stderr(), "SKIPPED: {name}: {reason}");
}

/// It may be missing, and a container may forbid to trace.
fn try_strace() -> Result<(), String> {
    let attempt = Command::new("strace").args(["--output=/dev/null", "true"]).stdin(Stdio::null()).output();
    match attempt {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs `body`, whose system calls the trace will show under this name.
pub(crate) fn section<R>(name: &str, body: impl FnOnce() -> R) -> R {
    mark("begin", name);
    let result = body();
    mark("end", name);
    result
}

/// A system call that does nothing, but stands in the trace with its text.
#[allow(unsafe_code, reason = "no safe wrapper takes a bad descriptor")]
fn mark(what: &str, name: &str) {
    let text = format!("{what} {name}");
    // SAFETY: the pointer and the length are those of a string.
    let result = unsafe { libc::write(-1, text.as_ptr().cast(), text.len()) };
    assert_eq!(result, -1);
}

impl Trace {
    fn read(directory: &Path) -> Trace {
        let mut sections = Vec::new();
        for entry in fs::read_dir(directory).expect("the directory is ours") {
            let thread = fs::read_to_string(entry.expect("an entry").path()).expect("strace writes ASCII");
            let mut current: Option<(String, Vec<String>)> = None;
            for line in thread.lines() {
                match marked(line) {
                    Some(("begin", name)) => current = Some((name.to_owned(), Vec::new())),
                    Some(_) => sections.extend(current.take()),
                    None => {
                        if let (Some((_, calls)), Some(call)) = (&mut current, call(line)) {
                            calls.push(call.to_owned());
                        }
                    }
                }
            }
            assert!(current.is_none(), "a section has no end:\n{thread}");
        }
        Trace { sections }
    }

    /// The calls of the one section of this name: `2 FUTEX_WAKE, 1 mmap`, or nothing.
    pub(crate) fn calls(&self, name: &str) -> String {
        let [calls] = &self.all(name)[..] else { panic!("there is not one section {name}") };
        calls.clone()
    }

    /// The same of each section of this name.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.sections.iter().filter(|(its, _)| its == name).map(|(_, calls)| summary(calls)).collect()
    }
}

fn summary(calls: &[String]) -> String {
    let mut counts = BTreeMap::<_, u32>::new();
    for call in calls {
        *counts.entry(call).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(call, count)| format!("{count} {call}")).collect();
    counts.join(", ")
}

/// `write(-1, "begin burst", 11) = -1 EBADF (Bad file descriptor)`
fn marked(line: &str) -> Option<(&str, &str)> {
    let (text, _) = line.strip_prefix("write(-1, \"")?.split_once('"')?;
    text.split_once(' ')
}

/// `futex(0x7f84a8000d30, FUTEX_WAKE_PRIVATE, 1) = 1`, by the name of its operation; but not `--- SIGCHLD {...} ---`.
fn call(line: &str) -> Option<&str> {
    let (name, arguments) = line.split_once('(')?;
    if name.contains(' ') {
        return None;
    }
    let operation = || arguments.split(", ").nth(1);
    if name == "futex" { operation().map(|it| it.trim_end_matches("_PRIVATE")) } else { Some(name) }
}
