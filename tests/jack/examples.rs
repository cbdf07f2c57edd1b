//! The example programs on a JACK server, as a user runs them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{self, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::programs::{EVENTUALLY, Ended, Program, example};
use super::{JackServer, NOTICED_WITHIN, PERIOD, RATE, ServerName, Turn};

/// For a program that has to give up.
const GIVES_UP_WITHIN: Duration = Duration::from_secs(3);
/// A second of silence, half a second for the client to close, and a machine with other work.
const SILENCE_NOTICED_WITHIN: Duration = Duration::from_secs(5);
/// No server has this name.
const NO_SERVER: &str = "rt-notify-none";
/// What `latency` calls the server that it started itself.
const PRIVATE_SERVER: &str = "private JACK server ";

/// What `latency` and `jack_worker` say once their client is active. Their first callbacks may come before.
const MEASURING: &str = "measuring";
const PRESS_ENTER: &str = "Press Enter";

/// A server which the example finds as the running one.
fn start_server() -> JackServer {
    JackServer::start(ServerName::claim().expect("a free name"), RATE, PERIOD)
        .expect("a private server starts")
}

/// An example on a running server.
fn on_server(server: &JackServer, name: &str, options: &str) -> Program {
    let mut command = example(name);
    Program::start(command.args(options.split_whitespace()).env("JACK_DEFAULT_SERVER", server.name()))
}

/// A `latency` that finds no running server.
fn latency_alone(options: &str) -> Command {
    let mut command = example("latency");
    command.args(options.split_whitespace()).env("JACK_DEFAULT_SERVER", NO_SERVER);
    command
}

/// The server that a `latency` has started for itself, from the first line that it prints.
struct PrivateServer(PathBuf);

impl PrivateServer {
    fn of(latency: &mut Program) -> PrivateServer {
        let line = latency.wait_for_line(PRIVATE_SERVER);
        let (_, rest) = line.split_once(PRIVATE_SERVER).expect("it was looked for");
        let name = rest.split(',').next().unwrap_or(rest);
        let is_server = |process: &PathBuf| {
            let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
            let mut arguments = arguments.split(|&byte| byte == 0);
            arguments.next() == Some(b"jackd") && arguments.any(|argument| argument == name.as_bytes())
        };
        let processes = fs::read_dir("/proc").expect("it is mounted").flatten();
        PrivateServer(processes.map(|entry| entry.path()).find(is_server).expect("the server runs"))
    }

    fn runs(&self) -> bool {
        self.0.exists()
    }
}

fn assert_one_line(ended: &Ended) {
    assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
}

#[test]
fn latency_on_a_private_server_loses_nothing_and_stops_the_server() {
    let Some(_turn) = Turn::take() else { return };
    let mut latency = Program::start(&mut latency_alone("--source jack --seconds 1"));
    let server = PrivateServer::of(&mut latency);
    let ended = latency.end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!((ended.value("lost "), ended.value("impossible ")), ("0", "0"));
    assert_eq!(ended.value("counted "), ended.value("callbacks "));
    assert!(!server.runs());
}

#[test]
fn latency_compares_strategies_on_one_private_server_and_loses_nothing() {
    let Some(_turn) = Turn::take() else { return };
    let options = "--source jack --seconds 1 --compare --rounds 1 --max-steal 100";
    let mut latency = Program::start(&mut latency_alone(options));
    let server = PrivateServer::of(&mut latency);
    let ended = latency.end_within(EVENTUALLY);
    ended.assert_code(0);
    for strategy in ["block", "spin:2000", "interval:500", "periodic:learn", "periodic:hint"] {
        let row = ended.stdout.lines().find_map(|line| line.strip_prefix(strategy)).expect(strategy);
        let columns: Vec<&str> = row.split_whitespace().take(2).collect();
        assert_eq!(columns, ["1", "0"], "rounds and lost: {}", ended.stdout);
    }
    assert!(!server.runs());
}

#[test]
fn latency_disturbed_in_mid_run_goes_through_all_spells_and_loses_nothing() {
    let Some(_turn) = Turn::take() else { return };
    let options = "--source jack --seconds 10 --disturb --strategy spin";
    let ended = Program::start(&mut latency_alone(options)).end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!((ended.value("lost "), ended.value("impossible ")), ("0", "0"));
    assert_eq!(ended.value("counted "), ended.value("callbacks "));
    if thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
        // A median or never for each spell but freewheeling, and the xruns.
        let row = ended.stdout.lines().find_map(|line| line.strip_prefix("spin:2000 ")).expect("a row");
        assert!(!row.contains('-'), "{}", ended.stdout);
        let cells = row.replace(" / ", "/");
        assert_eq!(cells.split_whitespace().count(), 7, "{}", ended.stdout);
    }
}

#[test]
fn latency_disturbs_no_server_but_its_own() {
    let Some(_turn) = Turn::take() else { return };
    let server = start_server();
    let ended = on_server(&server, "latency", "--source jack --seconds 10 --disturb").end_within(EVENTUALLY);
    ended.assert_code(1);
    assert_one_line(&ended);
    assert!(ended.stderr.contains("--disturb needs one of its own"), "{}", ended.stderr);
}

#[test]
fn latency_behind_a_client_of_random_load_loses_nothing_on_any_backend() {
    let Some(_turn) = Turn::take() else { return };
    let server = start_server();
    for backend in ["futex", "pollable", "pipe"] {
        let options = format!("--source jack --seconds 1 --load 20 --backend {backend}");
        let ended = on_server(&server, "latency", &options).end_within(EVENTUALLY);
        ended.assert_code(0);
        assert_eq!(ended.value("lost "), "0");
        assert_eq!(ended.value("counted "), ended.value("callbacks "));
    }
}

#[test]
fn latency_behind_a_client_of_random_load_ends_by_itself_when_the_server_is_killed() {
    let Some(_turn) = Turn::take() else { return };
    let mut server = start_server();
    let mut latency = on_server(&server, "latency", "--seconds 600 --load 20");
    latency.wait_for_line(MEASURING);
    latency.wait_for_sleeps("worker", 20);
    server.kill().expect("it runs");
    let ended = latency.end_within(NOTICED_WITHIN);
    ended.assert_code(1);
    assert!(ended.stderr.contains("the JACK server went away"), "{}", ended.stderr);
    assert_eq!(ended.value("lost "), "0");
}

#[test]
fn latency_joins_a_running_server_and_leaves_it_running() {
    let Some(_turn) = Turn::take() else { return };
    let mut server = start_server();
    let ended = on_server(&server, "latency", "--seconds 1").end_within(EVENTUALLY);
    ended.assert_code(0);
    assert!(ended.stdout.contains("running JACK server, 64 frames at 48000 Hz"), "{}", ended.stdout);
    assert_eq!(ended.value("lost "), "0");
    assert!(server.runs().expect("it is a child of this process"));
}

#[test]
fn latency_ends_by_itself_with_its_numbers_when_the_server_is_killed_or_stopped() {
    let Some(_turn) = Turn::take() else { return };
    for end in [JackServer::kill, JackServer::stop] {
        let mut server = start_server();
        let mut latency = on_server(&server, "latency", "--seconds 600");
        latency.wait_for_line(MEASURING);
        latency.wait_for_sleeps("worker", 20);
        end(&mut server).expect("it runs");
        let ended = latency.end_within(NOTICED_WITHIN);
        ended.assert_code(1);
        assert!(ended.stderr.contains("the JACK server went away"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("Cannot callback the server"), "{}", ended.stderr);
        assert_eq!(ended.value("lost "), "0");
        assert_eq!(ended.value("counted "), ended.value("callbacks "));
    }
}

#[test]
fn latency_ends_by_itself_when_the_server_hangs() {
    let Some(_turn) = Turn::take() else { return };
    let server = start_server();
    let mut latency = on_server(&server, "latency", "--seconds 600");
    latency.wait_for_line(MEASURING);
    latency.wait_for_sleeps("worker", 20);
    server.signal(Signal::STOP).expect("it runs");
    let ended = latency.end_within(SILENCE_NOTICED_WITHIN);
    server.signal(Signal::CONT).expect("it runs");
    ended.assert_code(1);
    assert!(ended.stderr.contains("no callback for a second"), "{}", ended.stderr);
    assert_eq!(ended.value("lost "), "0");
}

#[test]
fn latency_stops_its_private_server_when_it_is_interrupted() {
    let Some(_turn) = Turn::take() else { return };
    for signal in [Signal::INT, Signal::TERM] {
        let mut latency = Program::start(&mut latency_alone("--source jack --seconds 600"));
        let server = PrivateServer::of(&mut latency);
        latency.signal(signal);
        let ended = latency.end_within(EVENTUALLY);
        ended.assert_code(0);
        assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
        assert!(!server.runs());
    }
}

#[test]
fn a_private_server_does_not_outlive_a_killed_latency() {
    let Some(_turn) = Turn::take() else { return };
    let mut latency = Program::start(&mut latency_alone("--source jack --seconds 600"));
    let server = PrivateServer::of(&mut latency);
    drop(latency);
    let deadline = Instant::now() + EVENTUALLY;
    while server.runs() {
        assert!(Instant::now() < deadline, "the server still runs");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn latency_without_server_and_jackd_is_one_clear_line_and_exit_code_1() {
    let ended = Program::start(latency_alone("--source jack").env("PATH", "")).end_within(GIVES_UP_WITHIN);
    ended.assert_code(1);
    assert_one_line(&ended);
    assert!(ended.stderr.contains("apt-get install jackd2"), "{}", ended.stderr);
}

#[test]
fn latency_without_server_and_jackd_falls_back_to_the_clock_and_says_so_in_one_line() {
    let ended = Program::start(latency_alone("--seconds 1").env("PATH", "")).end_within(EVENTUALLY);
    ended.assert_code(0);
    assert!(ended.stdout.contains("built-in clock"), "{}", ended.stdout);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("apt-get install jackd2"), "{}", ended.stderr);
    assert_eq!(ended.value("lost "), "0");
}

#[test]
fn latency_on_a_server_that_does_not_answer_is_one_clear_line_and_exit_code_1() {
    let Some(_turn) = Turn::take() else { return };
    let server = start_server();
    server.signal(Signal::STOP).expect("it runs");
    let ended = on_server(&server, "latency", "--source jack").end_within(EVENTUALLY);
    server.signal(Signal::CONT).expect("it runs");
    ended.assert_code(1);
    assert_one_line(&ended);
    assert!(ended.stderr.contains("does not answer"), "{}", ended.stderr);
}

#[test]
fn latency_without_the_jack_library_is_one_clear_line_and_exit_code_1() {
    // A file of that name which is no library: the loader stops at it.
    let directory = env::temp_dir().join(format!("rt-notify-no-jack-{}", process::id()));
    fs::create_dir_all(&directory).expect("a temporary directory");
    fs::write(directory.join("libjack.so.0"), "not a library").expect("a temporary file");
    let run = |name: &str, options: &str| {
        let mut command = example(name);
        command.args(options.split_whitespace()).env("LD_LIBRARY_PATH", &directory);
        Program::start(&mut command).end_within(GIVES_UP_WITHIN)
    };
    let ended = [run("latency", "--source jack"), run("jack_worker", "")];
    fs::remove_dir_all(&directory).expect("it was created above");
    for ended in ended {
        ended.assert_code(1);
        assert_one_line(&ended);
        assert!(ended.stderr.contains("libjack.so.0"), "{}", ended.stderr);
    }
}

#[test]
fn jack_worker_without_a_server_is_one_clear_line_and_exit_code_1() {
    let Some(_turn) = Turn::take() else { return };
    let mut command = example("jack_worker");
    let command = command.env("JACK_DEFAULT_SERVER", NO_SERVER);
    let ended = Program::start(command).end_within(GIVES_UP_WITHIN);
    ended.assert_code(1);
    assert_one_line(&ended);
}

#[test]
fn jack_worker_ends_by_itself_when_the_server_is_killed_or_stopped() {
    let Some(_turn) = Turn::take() else { return };
    for end in [JackServer::kill, JackServer::stop] {
        let mut server = start_server();
        let mut program = on_server(&server, "jack_worker", "");
        program.wait_for_line(PRESS_ENTER);
        program.wait_for_sleeps("worker", 20);
        end(&mut server).expect("it runs");
        let ended = program.end_within(NOTICED_WITHIN);
        ended.assert_code(0);
        assert!(ended.stdout.contains("periods"), "{}", ended.stdout);
        assert!(!ended.stderr.contains("Cannot callback the server"), "{}", ended.stderr);
    }
}

#[test]
fn jack_worker_ends_on_enter() {
    let Some(_turn) = Turn::take() else { return };
    let server = start_server();
    let mut program = on_server(&server, "jack_worker", "");
    program.wait_for_line(PRESS_ENTER);
    program.wait_for_sleeps("worker", 20);
    program.press_enter();
    program.end_within(EVENTUALLY).assert_code(0);
}
