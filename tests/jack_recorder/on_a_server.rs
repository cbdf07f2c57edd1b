//! The programs, as a user runs them.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::files::{Directory, frames, ramp, write_ramp};
use super::jack_server::{JackServer, ServerName};
use super::programs::{EVENTUALLY, Ended, Program, example};

const RATE: u32 = 48_000;
/// What a server's end, a signal or a full disk may take to end a program.
const NOTICED_WITHIN: Duration = Duration::from_secs(5);
/// A machine that is busy with other things makes JACK late. Results that it spoils are void.
const TRIES: u32 = 3;
const NO_SERVER: &str = "rt-notify-none";

fn said_aloud(what: &str) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // Not eprintln!, which the test harness hides when a test passes.
    let _ = writeln!(io::stderr(), "{test}: {what}");
}

fn skip_without_rights(why: &str) {
    assert!(env::var_os("RT_NOTIFY_REQUIRE_ROOT").is_none_or(|value| value != "1"), "{why}");
    said_aloud(&format!("SKIPPED, {why}"));
}

/// A server, one at a time: they compete for the CPUs. `None`, said aloud, if there is no JACK here.
pub(crate) struct Turn {
    server: JackServer,
    directory: Directory,
    _turn: MutexGuard<'static, ()>,
}

impl Turn {
    pub(crate) fn take(period: u32) -> Option<Turn> {
        if !JackServer::is_installed() {
            let required = env::var_os("RT_NOTIFY_REQUIRE_JACK").is_some_and(|value| value == "1");
            assert!(!required, "jackd is not installed");
            said_aloud("SKIPPED, jackd is not installed (apt-get install jackd2)");
            return None;
        }
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let name = ServerName::claim().expect("a free name");
        let server = JackServer::start(name, RATE, period).expect("a private server starts");
        Some(Turn { server, directory: Directory::new(), _turn: turn })
    }

    pub(crate) fn server_name(&self) -> &str {
        self.server.name()
    }

    fn file(&self) -> String {
        self.directory.file("take.wav")
    }

    fn command(&self, program: &str, options: &str) -> Command {
        let mut command = example(program);
        command.args(options.split_whitespace()).env("JACK_DEFAULT_SERVER", self.server.name());
        command
    }

    /// A recorder at work.
    fn capture(&self, options: &str) -> Program {
        let options = format!("{options} {}", self.file());
        let mut program = Program::start(&mut self.command("jack_capture", &options));
        program.wait_for_line("recording");
        program
    }

    /// Waits until the file has grown to so many frames.
    fn wait_for_frames(&self, n: u64) {
        let deadline = Instant::now() + EVENTUALLY;
        let bytes = 68 + n * 8;
        while fs::metadata(self.file()).map_or(0, |file| file.len()) < bytes {
            assert!(Instant::now() < deadline, "the file does not grow");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// One of JACK's own tools, which can hang.
    fn tool(&self, tool: &str, arguments: &str) {
        let mut command = Command::new("timeout");
        command.args(["5", tool]).args(arguments.split_whitespace());
        let output = command.env("JACK_DEFAULT_SERVER", self.server.name()).output();
        let output = output.expect("timeout is part of every system");
        assert!(output.status.success(), "{tool} {arguments}: {output:?}");
    }
}

fn number(ended: &Ended, label: &str) -> u64 {
    ended.value(label).parse().expect("a number")
}

/// Everything adds up, and the file is whole, as long as the summary says and at least as long as asked.
fn assert_honest(ended: &Ended, file: &str, at_least: usize) {
    let [recorded, offered, silence] =
        ["recorded ", "offered ", "silence "].map(|label| number(ended, label));
    let [ring_lost, jack_lost, not_written] =
        ["ring lost ", "jack lost ", "not written "].map(|label| number(ended, label));
    let frames = frames(file).len();
    assert_eq!(frames as u64, recorded, "{}", ended.stdout);
    assert_eq!(offered, recorded - silence + ring_lost + not_written, "{}", ended.stdout);
    if not_written == 0 {
        assert_eq!(silence, ring_lost + jack_lost, "{}", ended.stdout);
    }
    assert!(frames >= at_least, "{}", ended.stdout);
}

/// The exit code of a recording that ended as asked.
fn code_as_asked(ended: &Ended) -> i32 {
    let jack_late = number(ended, "jack lost ") + number(ended, "xruns ");
    match (number(ended, "ring lost "), jack_late) {
        (0, 0) => 0,
        (0, _) => 3,
        _ => 2,
    }
}

fn had_no_xrun(ended: &Ended) -> bool {
    number(ended, "xruns ") == 0
}

/// Runs a test until no xrun spoils it. Says aloud how often it had to.
fn until_not_void(mut run: impl FnMut() -> bool) {
    for n in 1..=TRIES {
        if run() {
            return;
        }
        said_aloud(&format!("try {n} of {TRIES} is void: JACK reported an xrun"));
    }
    panic!("JACK reported xruns in each of {TRIES} tries: this machine is too busy for this test");
}

#[test]
fn what_is_played_is_recorded_bit_for_bit() {
    const FRAMES: usize = 60_000;
    let Some(turn) = Turn::take(1024) else { return };
    let source = turn.directory.file("ramp.wav");
    write_ramp(&source, RATE, FRAMES);
    until_not_void(|| {
        let capture = turn.capture("-n recorder");
        let play = format!("--port recorder:in_1 --port recorder:in_2 --buffer 0.5 {source}");
        let played = Program::start(&mut turn.command("jack_playback", &play)).end_within(EVENTUALLY);
        capture.signal(Signal::INT);
        let recorded = capture.end_within(NOTICED_WITHIN);
        assert_honest(&recorded, &turn.file(), 0);
        if !had_no_xrun(&played) || !had_no_xrun(&recorded) {
            return false;
        }
        played.assert_code(0);
        recorded.assert_code(0);
        assert_eq!((played.value("played "), played.value("ring missed ")), ("60000", "0"));
        let take = frames(&turn.file());
        let start = take.iter().position(|frame| *frame != [0.0; 2]).expect("something was played");
        let sound = take[start..].iter().take(FRAMES).enumerate();
        assert_eq!(sound.len(), FRAMES);
        for (n, frame) in sound {
            assert_eq!(frame.map(f32::to_bits), [ramp(n, 0), ramp(n, 1)].map(f32::to_bits), "frame {n}");
        }
        assert!(take[start + FRAMES..].iter().all(|frame| *frame == [0.0; 2]));
        true
    });
}

#[test]
fn a_duration_is_met_to_the_frame() {
    let Some(turn) = Turn::take(64) else { return };
    let ended = turn.capture("--duration 1.0001 --buffer 0.1").end_within(EVENTUALLY);
    ended.assert_code(code_as_asked(&ended));
    assert_honest(&ended, &turn.file(), 48_005);
    assert_eq!(ended.value("recorded "), "48005");
}

#[test]
fn a_server_that_is_killed_or_stopped_ends_the_recording_and_the_file_is_whole() {
    for end in [JackServer::kill, JackServer::stop] {
        let Some(mut turn) = Turn::take(64) else { return };
        let capture = turn.capture("--buffer 0.5");
        turn.wait_for_frames(12_000);
        end(&mut turn.server).expect("it runs");
        let ended = capture.end_within(NOTICED_WITHIN);
        ended.assert_code(1);
        assert!(ended.stderr.contains("the JACK server went away"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("Cannot callback the server"), "{}", ended.stderr);
        assert_honest(&ended, &turn.file(), 12_000);
        assert_eq!(ended.value("not written "), "0");
    }
}

#[test]
fn a_server_that_hangs_ends_the_recording_and_the_file_is_whole() {
    let Some(turn) = Turn::take(64) else { return };
    let capture = turn.capture("--buffer 0.5");
    turn.wait_for_frames(12_000);
    turn.server.signal(Signal::STOP).expect("it runs");
    let ended = capture.end_within(EVENTUALLY);
    turn.server.signal(Signal::CONT).expect("it runs");
    ended.assert_code(1);
    assert!(ended.stderr.contains("no callback for a second"), "{}", ended.stderr);
    assert_honest(&ended, &turn.file(), 12_000);
}

#[test]
fn signals_end_a_recording_as_asked_also_when_no_callback_comes_any_more() {
    for (signal, server_hangs) in [(Signal::INT, false), (Signal::TERM, false), (Signal::INT, true)] {
        let Some(turn) = Turn::take(64) else { return };
        let capture = turn.capture("--buffer 0.5");
        turn.wait_for_frames(12_000);
        if server_hangs {
            turn.server.signal(Signal::STOP).expect("it runs");
        }
        capture.signal(signal);
        let ended = capture.end_within(NOTICED_WITHIN);
        turn.server.signal(Signal::CONT).expect("it runs");
        ended.assert_code(code_as_asked(&ended));
        assert_honest(&ended, &turn.file(), 12_000);
    }
}

/// A limit of the file size instead of a full disk: the same path of the program, and no privilege is needed.
#[test]
fn a_file_that_can_grow_no_more_ends_the_recording_and_is_whole() {
    let Some(turn) = Turn::take(64) else { return };
    // Blocks of 512 bytes: some 16,000 frames.
    let limited = "trap '' XFSZ; ulimit -f 250; exec \"$@\"";
    let capture = turn.command("jack_capture", "--buffer 0.2");
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, "sh"]).arg(capture.get_program()).args(capture.get_args()).arg(turn.file());
    shell.env("JACK_DEFAULT_SERVER", turn.server.name());
    let ended = Program::start(&mut shell).end_within(EVENTUALLY);
    ended.assert_code(1);
    assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    assert_honest(&ended, &turn.file(), 4_800);
    assert!(number(&ended, "not written ") > 0);
}

#[test]
fn a_full_disk_ends_the_recording_and_the_file_is_whole() {
    let Some(turn) = Turn::take(64) else { return };
    if !rustix::process::getuid().is_root() {
        skip_without_rights("only root can make a small disk");
        return;
    }
    // A disk of 200 KiB that only this shell sees. What was recorded is copied off it.
    let disk = turn.directory.file("disk");
    fs::create_dir(&disk).expect("a temporary directory");
    let script = "mount -t tmpfs -o size=200k tmpfs \"$1\" || exit 77
        disk=$1; copy=$2; shift 2; \"$@\" \"$disk/take.wav\"; code=$?
        cp \"$disk/take.wav\" \"$copy\"; exit $code";
    let capture = turn.command("jack_capture", "--buffer 0.2");
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", script, "sh", &disk, &turn.file()]);
    shell.arg(capture.get_program()).args(capture.get_args());
    shell.env("JACK_DEFAULT_SERVER", turn.server.name());
    let ended = Program::start(&mut shell).end_within(EVENTUALLY);
    if ended.status.code() == Some(77) {
        skip_without_rights("mounting is not allowed here");
        return;
    }
    ended.assert_code(1);
    assert!(ended.stderr.contains("No space left on device"), "{}", ended.stderr);
    assert_honest(&ended, &turn.file(), 4_800);
    assert!(number(&ended, "not written ") > 0);
}

#[test]
fn a_disk_that_takes_nothing_is_known_before_the_recording() {
    let Some(turn) = Turn::take(64) else { return };
    for (file, reason) in [("/dev/full", "No space left"), ("/nowhere/take.wav", "No such file")] {
        let ended = Program::start(&mut turn.command("jack_capture", file)).end_within(EVENTUALLY);
        ended.assert_code(1);
        assert!(ended.stderr.contains(reason) && ended.stderr.contains(file), "{}", ended.stderr);
        assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    }
}

/// Fault A53.
#[test]
fn the_server_changes_its_period_and_nothing_is_lost() {
    let Some(turn) = Turn::take(64) else { return };
    let capture = turn.capture("--buffer 0.5");
    turn.wait_for_frames(12_000);
    turn.tool("jack_bufsize", "1024");
    turn.wait_for_frames(48_000);
    turn.tool("jack_bufsize", "64");
    turn.wait_for_frames(84_000);
    capture.signal(Signal::INT);
    let ended = capture.end_within(NOTICED_WITHIN);
    ended.assert_code(code_as_asked(&ended));
    assert_honest(&ended, &turn.file(), 84_000);
    assert_eq!(ended.value("ring lost "), "0");
    // A server that stalls reports an xrun.
    assert!(!had_no_xrun(&ended) || ended.value("jack lost ") == "0", "{}", ended.stdout);
}

#[test]
fn a_freewheeling_server_loses_nothing() {
    let Some(turn) = Turn::take(64) else { return };
    let capture = turn.capture("--buffer 0.1");
    turn.wait_for_frames(4_800);
    turn.tool("jack_freewheel", "y");
    // Far more than a second of sound.
    turn.wait_for_frames(480_000);
    turn.tool("jack_freewheel", "n");
    capture.signal(Signal::INT);
    let ended = capture.end_within(NOTICED_WITHIN);
    ended.assert_code(code_as_asked(&ended));
    assert_honest(&ended, &turn.file(), 480_000);
    assert_eq!(ended.value("ring lost "), "0");
}

/// Fault A52, one way round: periods that never fit into the ring.
#[test]
fn what_the_ring_loses_is_not_said_to_be_jacks_fault() {
    let Some(turn) = Turn::take(1024) else { return };
    until_not_void(|| {
        let ended = turn.capture("--buffer 0.01 --duration 1").end_within(EVENTUALLY);
        assert_honest(&ended, &turn.file(), 48_000);
        // 480 of 1,024 frames fit, 46 times; 896 are left for the last time.
        assert!(number(&ended, "ring lost ") >= 46 * (1024 - 480), "{}", ended.stdout);
        ended.assert_code(2);
        let void = !had_no_xrun(&ended);
        assert!(void || ended.value("jack lost ") == "0", "{}", ended.stdout);
        !void
    });
}

/// Fault A52, the other way round: a recorder that was late, and a server that was.
#[test]
fn what_jack_loses_is_not_said_to_be_the_rings_fault() {
    for the_server_is_late in [false, true] {
        let Some(turn) = Turn::take(64) else { return };
        let capture = turn.capture("--buffer 2");
        // The first callbacks have come: the worker has written its first half buffer.
        turn.wait_for_frames(48_000);
        let signal = |signal| match the_server_is_late {
            true => turn.server.signal(signal).expect("it runs"),
            false => capture.signal(signal),
        };
        signal(Signal::STOP);
        // The stall itself: 100 ms are 75 periods.
        thread::sleep(Duration::from_millis(100));
        signal(Signal::CONT);
        turn.wait_for_frames(96_000);
        capture.signal(Signal::INT);
        let ended = capture.end_within(NOTICED_WITHIN);
        ended.assert_code(3);
        assert_honest(&ended, &turn.file(), 96_000);
        assert_eq!(ended.value("ring lost "), "0");
        assert!(number(&ended, "xruns ") > 0);
        // Frame time does not tell of periods that the server itself has left out.
        assert!(the_server_is_late || number(&ended, "jack lost ") >= 2_400, "{}", ended.stdout);
    }
}

/// A named pipe is a disk that stalls when the test says so.
#[test]
fn a_file_that_comes_late_is_played_to_its_end_and_the_ring_says_what_was_late() {
    const FRAMES: usize = 24_000;
    let Some(turn) = Turn::take(64) else { return };
    let source = turn.directory.file("ramp.wav");
    write_ramp(&source, RATE, FRAMES);
    let bytes = fs::read(&source).expect("it was just written");
    let pipe = turn.directory.file("pipe.wav");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is part of every system").success());
    let mut playback = Program::start(&mut turn.command("jack_playback", &format!("--buffer 0.1 {pipe}")));
    let mut end = File::options().write(true).open(&pipe).expect("it is read");
    let (before, after) = bytes.split_at(bytes.len() / 2);
    end.write_all(before).expect("it is read");
    playback.wait_for_line("playing");
    // The stall: what was written so far lasts for a quarter of a second.
    thread::sleep(Duration::from_secs(1));
    end.write_all(after).expect("it is read");
    drop(end);
    let ended = playback.end_within(EVENTUALLY);
    ended.assert_code(2);
    assert_eq!(ended.value("played "), FRAMES.to_string());
    assert!(number(&ended, "ring missed ") > 0, "{}", ended.stdout);
}

#[test]
fn a_file_that_ends_before_its_time_is_said_to() {
    let Some(turn) = Turn::take(64) else { return };
    let source = turn.directory.file("ramp.wav");
    write_ramp(&source, RATE, 48_000);
    let file = File::options().write(true).open(&source).expect("it exists");
    file.set_len(100_000).expect("it is longer");
    let ended = Program::start(&mut turn.command("jack_playback", &source)).end_within(EVENTUALLY);
    ended.assert_code(1);
    assert!(ended.stderr.contains("cannot read"), "{}", ended.stderr);
}

#[test]
fn a_server_that_is_killed_ends_the_playback() {
    let Some(mut turn) = Turn::take(64) else { return };
    let source = turn.directory.file("ramp.wav");
    write_ramp(&source, RATE, 480_000);
    let mut playback = Program::start(&mut turn.command("jack_playback", &format!("--buffer 1 {source}")));
    playback.wait_for_line("playing");
    turn.server.kill().expect("it runs");
    let ended = playback.end_within(NOTICED_WITHIN);
    ended.assert_code(1);
    assert!(ended.stderr.contains("the JACK server went away"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_done_is_one_clear_line_and_exit_code_1() {
    let Some(turn) = Turn::take(64) else { return };
    let slow = turn.directory.file("slow.wav");
    let ramp = turn.directory.file("ramp.wav");
    write_ramp(&slow, 44_100, 100);
    write_ramp(&ramp, RATE, 100);
    let (take, nothing) = (turn.file(), turn.directory.file("nothing.wav"));
    fs::write(&take, "an earlier recording").expect("a writable directory");
    for (program, options, named) in [
        ("jack_capture", format!("--port no:such {take}"), "no:such"),
        ("jack_capture", format!("--port system:playback_1 {take}"), "output port system:playback_1"),
        ("jack_capture", format!("-n {} {take}", turn.server.name()), "cannot be called"),
        ("jack_capture", String::new(), "which file"),
        ("jack_playback", nothing, "nothing.wav"),
        ("jack_playback", slow.clone(), "44100"),
        ("jack_playback", format!("--port system:capture_1 {ramp}"), "input port system:capture_1"),
        ("jack_playback", format!("--duration 1 {slow}"), "--duration"),
    ] {
        let ended = Program::start(&mut turn.command(program, &options)).end_within(EVENTUALLY);
        ended.assert_code(1);
        assert!(ended.stderr.contains(named), "{}", ended.stderr);
        assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    }
    assert_eq!(fs::read_to_string(take).expect("it is still there"), "an earlier recording");
}

#[test]
fn without_a_server_there_is_one_clear_line_and_exit_code_1() {
    let directory = Directory::new();
    let source = directory.file("ramp.wav");
    write_ramp(&source, RATE, 100);
    for (program, file) in [("jack_capture", directory.file("take.wav")), ("jack_playback", source)] {
        let mut command = example(program);
        command.arg(file).env("JACK_DEFAULT_SERVER", NO_SERVER);
        let ended = Program::start(&mut command).end_within(NOTICED_WITHIN);
        ended.assert_code(1);
        assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
        assert!(!fs::exists(directory.file("take.wav")).expect("a readable directory"), "no empty file");
    }
}
