//! The `latency` and `signal_handler` programs, as far as they need no JACK.

#![cfg(target_os = "linux")]

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

// The unit tests of these modules run here: `cargo test` runs none of an example.
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/args.rs"]
mod args;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/stats.rs"]
mod stats;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/system.rs"]
mod system;

#[allow(dead_code, reason = "the other tests need the rest")]
#[path = "support/programs.rs"]
mod programs;

use programs::{EVENTUALLY, Ended, Program, example};

fn latency(options: &str) -> Program {
    Program::start(example("latency").args(options.split_whitespace()))
}

/// One of the quantiles in the table, in microseconds.
#[track_caller]
fn quantile(ended: &Ended, row: &str, column: usize) -> f64 {
    let line = ended.stdout.lines().find_map(|line| line.strip_prefix(row)).expect(row);
    line.split_whitespace().nth(column).expect("a column").parse().expect("a number")
}

#[test]
fn the_clock_makes_every_callback_and_none_is_lost() {
    let ended = latency("--source clock --seconds 1").end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!(ended.stderr, "");
    assert_eq!(ended.value("callbacks "), "750");
    assert_eq!(ended.value("counted "), "750");
    assert_eq!(ended.value("lost "), "0");
    assert_eq!(ended.value("impossible "), "0");
}

#[test]
fn any_priority_runs_and_what_was_granted_is_shown() {
    for (asked, granted) in [("nice:5", "nice"), ("inherit", "nice")] {
        let ended = latency(&format!("--source clock --seconds 1 --priority {asked}")).end_within(EVENTUALLY);
        ended.assert_code(0);
        assert_eq!(ended.value("worker "), granted, "{asked}");
    }
    // Above the audio thread's: lowered or denied, but said.
    let ended = latency("--source clock --seconds 1 --priority fifo:99").end_within(EVENTUALLY);
    ended.assert_code(0);
    let worker = ended.stdout.lines().find(|line| line.starts_with("worker ")).expect("a worker");
    assert!(worker.contains('(') && !worker.contains("SCHED_FIFO 99 ("), "{worker}");
}

#[test]
fn a_bad_option_is_one_clear_line_and_exit_code_1() {
    for options in
        ["--nonsense", "--seconds", "--seconds never", "--period 0", "--priority fast", "--source alsa"]
    {
        let ended = latency(options).end_within(EVENTUALLY);
        ended.assert_code(1);
        assert_eq!(
            (ended.stderr.lines().count(), ended.stdout.as_str()),
            (1, ""),
            "{options}: {}",
            ended.stderr
        );
        assert!(ended.stderr.starts_with("latency: "), "{}", ended.stderr);
    }
}

#[test]
fn help_names_every_option_and_exits_with_0() {
    let ended = latency("--help").end_within(EVENTUALLY);
    ended.assert_code(0);
    for option in ["--source", "--seconds", "--period", "--rate", "--priority", "--help"] {
        assert!(ended.stdout.contains(option), "{option}");
    }
}

#[cfg(not(feature = "jack"))]
#[test]
fn without_the_feature_jack_is_refused_and_auto_falls_back_to_the_clock() {
    let ended = latency("--source jack").end_within(Duration::from_secs(3));
    ended.assert_code(1);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("--features jack"), "{}", ended.stderr);

    let ended = latency("--seconds 1").end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("apt-get install") && ended.stderr.contains("--features jack"));
    assert!(ended.stdout.contains("built-in clock"), "{}", ended.stdout);
}

#[test]
fn an_interrupt_ends_the_run_with_the_numbers_so_far() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut latency = latency("--source clock --seconds 600");
        latency.wait_for_line("source ");
        latency.signal(signal);
        let ended = latency.end_within(EVENTUALLY);
        ended.assert_code(0);
        assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
        assert_eq!(ended.value("lost "), "0");
    }
}

#[test]
fn a_stall_of_a_second_shows_as_many_samples_spread_over_it() {
    // 1 kHz for 2 s, of which the program is stopped for one.
    let latency = latency("--source clock --seconds 2 --period 48");
    // The clock sleeps before each callback: its schedule has begun.
    latency.wait_for_sleeps("clock", 10);
    latency.signal(Signal::STOP);
    thread::sleep(Duration::from_secs(1));
    latency.signal(Signal::CONT);
    let ended = latency.end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!((ended.value("callbacks "), ended.value("lost ")), ("2000", "0"));
    // Half of the 2000 samples were due while it was stopped. A single late sample would leave p99 untouched.
    assert!(quantile(&ended, "wake-up from due", 1) > 500_000.0, "{}", ended.stdout);
    assert!(quantile(&ended, "wake-up from due", 3) > 900_000.0, "{}", ended.stdout);
    let missed: u64 = ended.value("missed periods ").parse().expect("a number");
    assert!(missed > 900, "{}", ended.stdout);
}

#[test]
fn the_signal_handler_example_sees_every_signal() {
    Program::start(&mut example("signal_handler")).end_within(EVENTUALLY).assert_code(0);
}
