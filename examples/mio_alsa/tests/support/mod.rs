//! The program `mio_alsa` on a private JACK server, whose frames come through ALSA's `jack` plugin.

#![allow(dead_code, reason = "not every test uses everything")]

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, thread};

#[path = "../../../support/jack_server.rs"]
mod jack_server;
#[path = "../../../../tests/support/programs.rs"]
mod programs;

pub(crate) use jack_server::{JackServer, ServerName};
pub(crate) use programs::{EVENTUALLY, Ended, Program};

/// A device of `asoundrc`.
pub(crate) const DEVICE: &str = "rt_notify_jack";
pub(crate) const RATE: u32 = 48_000;
pub(crate) const PERIOD: u32 = 64;

/// Whether there are a server and the plugin. If not, that is said aloud; with `RT_NOTIFY_REQUIRE_JACK=1` it fails.
pub(crate) fn can_run() -> bool {
    let missing = if !JackServer::is_installed() {
        "jackd is not installed (apt-get install jackd2)"
    } else if !has_jack_plugin() {
        "ALSA has no jack plugin (apt-get install libasound2-plugins)"
    } else {
        return true;
    };
    assert!(env::var_os("RT_NOTIFY_REQUIRE_JACK").is_none_or(|value| value != "1"), "{missing}");
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // Not eprintln!, which the test harness hides when a test passes.
    let _ = writeln!(io::stderr(), "{test}: SKIPPED, {missing}");
    false
}

fn has_jack_plugin() -> bool {
    let file = "alsa-lib/libasound_module_pcm_jack.so";
    let directories = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(Path::new);
    directories.into_iter().any(|directory| {
        // Debian has one more level: /usr/lib/x86_64-linux-gnu
        let below = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        below.chain([directory.to_owned()]).any(|directory| directory.join(file).is_file())
    })
}

/// A server of a test's own, one at a time: they would take the CPU from each other.
pub(crate) struct Server {
    pub(crate) jack: JackServer,
    _turn: MutexGuard<'static, ()>,
}

pub(crate) fn start_server() -> Server {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed leaves nothing behind: its server is stopped before its turn ends.
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let deadline = Instant::now() + EVENTUALLY;
    loop {
        match ServerName::claim().and_then(|name| JackServer::start(name, RATE, PERIOD)) {
            Ok(jack) => break Server { jack, _turn: turn },
            // A machine can have eight servers, and others may use them.
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// The program, as a user of that server would call it.
pub(crate) fn mio_alsa(server_name: &str, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mio_alsa"));
    let asoundrc = concat!(env!("CARGO_MANIFEST_DIR"), "/asoundrc");
    command
        .args(arguments.split_whitespace())
        .env("JACK_DEFAULT_SERVER", server_name)
        .env("JACK_NO_START_SERVER", "1")
        .env("ALSA_CONFIG_PATH", format!("/usr/share/alsa/alsa.conf:{asoundrc}"));
    command
}

/// The lines on standard error that are the program's own. The JACK library has its say there, too.
pub(crate) fn complaints(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("mio_alsa: ")).collect()
}

/// The number before a word, in the line that starts with this label.
#[track_caller]
pub(crate) fn number(ended: &Ended, label: &str, word: &str) -> u64 {
    let line = ended.stdout.lines().filter_map(|line| line.strip_prefix(label)).next_back();
    let number = line.and_then(|line| line.split(word).next()?.split_whitespace().next_back()?.parse().ok());
    number.unwrap_or_else(|| panic!("no {word:?} in line {label:?}: {}{}", ended.stdout, ended.stderr))
}
