//! End to end: frames of a private JACK server through ALSA's `jack` plugin, and notifications, in one loop.
//!
//! Without `jackd` or the plugin these tests skip and say so. With `RT_NOTIFY_REQUIRE_JACK=1` a skip is a failure.

#![cfg(target_os = "linux")]

mod support;

use std::io;

use support::{DEVICE, EVENTUALLY, JackServer, PERIOD, Program, ServerName};
use support::{can_run, complaints, mio_alsa, number, start_server};

#[test]
fn frames_and_notifications_arrive_and_a_loop_without_both_sleeps() {
    if !can_run() {
        return;
    }
    let server = start_server();
    let arguments = format!("--device {DEVICE} --seconds 3 --idle 2");
    let ended = Program::start(&mut mio_alsa(server.jack.name(), &arguments)).end_within(EVENTUALLY);
    ended.assert_code(0);

    assert_eq!(number(&ended, "notifications:", " lost"), 0);
    assert!(number(&ended, "notifications:", " counted") > 100);
    let frames = number(&ended, DEVICE, " frames");
    // Far more than there are before a descriptor that nobody empties is full: see README.
    assert!(frames > 600 * u64::from(PERIOD), "{frames} frames in 3 s");
    assert_eq!(number(&ended, "idle:", " wake-ups"), 0);
}

#[test]
fn two_devices_are_listened_to_at_once() {
    if !can_run() {
        return;
    }
    let server = start_server();
    let arguments = format!("--device {DEVICE} --device plug:{DEVICE} --seconds 2");
    let ended = Program::start(&mut mio_alsa(server.jack.name(), &arguments)).end_within(EVENTUALLY);
    ended.assert_code(0);
    for device in [DEVICE, &format!("plug:{DEVICE}")] {
        assert!(number(&ended, device, " frames") > 300 * u64::from(PERIOD), "{}", ended.stdout);
    }
}

#[test]
fn a_killed_server_ends_its_device_and_keeps_the_notifier() {
    end_of_server(JackServer::kill);
}

#[test]
fn a_stopped_server_ends_its_device_and_keeps_the_notifier() {
    end_of_server(JackServer::stop);
}

fn end_of_server(end: impl FnOnce(&mut JackServer) -> io::Result<()>) {
    if !can_run() {
        return;
    }
    let mut server = start_server();
    let arguments = format!("--device {DEVICE} --seconds 6");
    let program = Program::start(&mut mio_alsa(server.jack.name(), &arguments));
    program.wait_for_sleeps("audio", 500);
    end(&mut server.jack).expect("the server ends");
    let ended = program.end_within(EVENTUALLY);
    ended.assert_code(1);

    let complaints = complaints(&ended);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains(DEVICE) && complaints[0].contains("ended"), "{complaints:?}");
    // The clock ran on for seconds, and each of its notifications was counted.
    assert_eq!(number(&ended, "notifications:", " lost"), 0);
    let notified = number(&ended, "notifications:", " counted");
    assert!(notified > 1_000, "{}", ended.stdout);
    // It did not spin over the dead device: every turn has its notification or its wake-up.
    let turns = number(&ended, "loop:", " turns");
    let causes = notified + number(&ended, DEVICE, " wakes");
    assert!(turns <= causes + 100, "{}", ended.stdout);
}

#[test]
fn without_a_server_the_program_says_so_in_one_line() {
    if !can_run() {
        return;
    }
    let arguments = format!("--device {DEVICE} --seconds 1");
    // Claimed, but no server is started.
    let name = ServerName::claim().expect("a free name");
    let mut command = mio_alsa(name.as_str(), &arguments);
    let ended = Program::start(&mut command).end_within(EVENTUALLY);
    ended.assert_code(1);
    let complaints = complaints(&ended);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains(DEVICE) && complaints[0].contains("cannot open"), "{complaints:?}");
}
