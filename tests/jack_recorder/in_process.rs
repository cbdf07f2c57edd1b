//! A recorder that panics, which the program has no option for.

use std::cell::Cell;
use std::env;
use std::sync::Arc;

use assert_no_alloc::permit_alloc;
use jack::{AudioIn, Client, Control, ProcessScope};
use rt_notify::{Worker, ring};

use super::disk::save;
use super::files::{CHANNELS, Directory, frames};
use super::jack_client::{Guarded, activate, open};
use super::jack_session::{End, Gate, Session, register_ports};
use super::on_a_server::Turn;
use super::recorder::{Recorder, Tally};
use super::wav::Recording;

/// Fault A45.
#[test]
fn a_callback_that_panics_ends_the_recording_and_the_file_is_whole() {
    let Some(turn) = Turn::take(64) else { return };
    choose_server(turn.server_name());
    let directory = Directory::new();
    let path = directory.file("take.wav");
    let mut session = Session::begin().expect("signals can be caught");
    let client = open("panicking").expect("the server is ready");
    let (ports, _) = register_ports(&client, "in", AudioIn::default(), 2).expect("the server has ports");
    let (producer, reader) = ring::capture(48_000);
    let tally = Arc::new(Tally::default());
    let mut recorder = Recorder::new(2, producer, u64::MAX, Arc::clone(&tally));
    let file = Recording::create(&path, CHANNELS, 48_000).expect("a temporary file");
    let worker = Worker::builder().spawn(reader, |reader| save(reader, file)).expect("a thread");
    let (mut gate, reads) = (Gate::new(session.signs()), Cell::new(0));
    let process = move |_: &Client, scope: &ProcessScope| {
        if gate.is_open() {
            recorder.period(scope.last_frame_time(), scope.n_frames(), |channel| {
                reads.set(reads.get() + 1);
                if reads.get() == 200 {
                    permit_alloc(|| panic!("on purpose"));
                }
                ports[channel].as_slice(scope)
            });
        }
        Control::Continue
    };
    let process = Guarded::new(session.ender().stopper(), process);
    let client = activate(client, session.events(), process).expect("the server is ready");
    let client = session.connect(client, Vec::new()).expect("there is nothing to connect");
    let end = session.wait();
    assert_eq!((end, end.exit_code(0, 0)), (End::Panicked, 1));
    session.close("test", client);
    let saved = worker.stop().expect("the worker does not panic");
    // Both channels of 99 periods, and one of the hundredth.
    assert_eq!((saved.error, saved.frames - saved.silence), (None, 99 * 64));
    assert_eq!(frames(&path).len() as u64, saved.frames);
}

#[allow(unsafe_code, reason = "rust-jack has no other way to name a server, and std has no safe one")]
fn choose_server(name: &str) {
    // SAFETY: no code of JACK runs in this process yet, and the test harness reads variables only through std, which
    // locks.
    unsafe { env::set_var("JACK_DEFAULT_SERVER", name) };
}
