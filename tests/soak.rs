//! The program `soak`, for a moment, and with faults that it must find.

#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the other tests need the rest")]
#[path = "support/programs.rs"]
mod programs;
// The unit tests of this module run here: `cargo test` runs none of an example.
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/soak/usage.rs"]
mod usage;

use std::time::Duration;

use programs::{Ended, Program, example};

const EVENTUALLY: Duration = Duration::from_secs(120);

fn soak(options: &str) -> Ended {
    Program::start(example("soak").args(options.split_whitespace())).end_within(EVENTUALLY)
}

/// Checks that the program failed with one line that says `what`.
#[track_caller]
fn assert_found(ended: &Ended, what: &str) {
    ended.assert_code(1);
    assert!(ended.stderr.contains(what) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
}

#[test]
fn a_soak_of_two_seconds_loses_nothing_and_says_so() {
    let ended = soak("--seconds 2 --seed 3");
    ended.assert_code(0);
    assert_eq!(ended.stderr, "");
    assert!(ended.stdout.contains(" 0 lost;"), "{}", ended.stdout);
}

#[test]
fn a_descriptor_that_is_left_open_is_found() {
    assert_found(&soak("--seconds 20 --plant descriptor"), "descriptors were open");
}

#[test]
fn a_byte_that_is_never_freed_is_found() {
    assert_found(&soak("--seconds 20 --plant memory"), "were allocated after the first second");
}

#[test]
fn a_count_that_is_not_exact_is_found() {
    assert_found(&soak("--seconds 20 --plant count"), "sent");
}

#[test]
fn a_wake_that_never_comes_is_found() {
    assert_found(&soak("--seconds 20 --patience 5 --plant wake"), "wake-up was lost");
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line_that_names_it() {
    for (line, named) in
        [("--nonsense 1", "--nonsense"), ("--seconds x", "--seconds"), ("--plant tree", "tree")]
    {
        assert_found(&soak(line), named);
    }
}
