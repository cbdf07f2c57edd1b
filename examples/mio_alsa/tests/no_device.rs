//! What needs neither a sound card nor a server: devices that there are not, or that cannot be waited for.

#![cfg(target_os = "linux")]

mod support;

use support::{EVENTUALLY, Ended, Program, mio_alsa};

/// Runs the program, which is to fail with exactly one line.
#[track_caller]
fn failure(arguments: &str) -> String {
    let ended = Program::start(&mut mio_alsa("rt-notify-none", arguments)).end_within(EVENTUALLY);
    ended.assert_code(1);
    let Ended { stderr, .. } = ended;
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

#[test]
fn a_device_that_epoll_refuses_is_refused_in_one_line() {
    let line = failure("--device null");
    assert!(line.contains("null") && line.contains("epoll"), "{line}");
}

#[test]
fn a_device_that_does_not_exist_is_refused_in_one_line() {
    let line = failure("--device no_such_device");
    assert!(line.contains("no_such_device") && line.contains("cannot open"), "{line}");
}

#[test]
fn what_a_device_cannot_do_is_refused_in_one_line() {
    let line = failure("--device hw:63");
    assert!(line.contains("hw:63") && line.contains("cannot open"), "{line}");
}

#[test]
fn a_wrong_option_is_refused_in_one_line() {
    let line = failure("--seconds never");
    assert!(line.contains("--seconds") && line.contains("never"), "{line}");
}

#[test]
fn help_is_printed_and_no_failure() {
    let ended = Program::start(&mut mio_alsa("rt-notify-none", "--help")).end_within(EVENTUALLY);
    ended.assert_code(0);
    assert!(ended.stdout.contains("--device NAME"));
}
