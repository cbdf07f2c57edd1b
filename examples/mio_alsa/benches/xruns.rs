//! A measurement: does the server have more xruns beside `mio_alsa` than beside a client with an empty callback?
//!
//!     cargo bench -p rt-notify-mio-alsa --bench xruns
//!
//! Each round has a server of its own with two clients: one that counts the server's xruns, and one that takes the same
//! two ports and does nothing with them, or `mio_alsa`. Foreign load only adds xruns: the best rounds are compared.

#![cfg(target_os = "linux")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jack::{AudioIn, Client, ClientOptions, Control, NotificationHandler, ProcessScope};
use support::{DEVICE, EVENTUALLY, Program, RATE, Server, can_run, mio_alsa, number, start_server};

const SECONDS: u32 = 10;
const ROUNDS: usize = 3;

struct CountXruns(Arc<AtomicU64>);

impl NotificationHandler for CountXruns {
    fn xrun(&mut self, _: &Client) -> Control {
        // Ordering: Relaxed; a counter that is read after the client is closed.
        self.0.fetch_add(1, Ordering::Relaxed);
        Control::Continue
    }
}

/// The server's xruns while `beside` runs.
fn xruns(beside: impl FnOnce(&Server)) -> u64 {
    let server = start_server();
    #[allow(unsafe_code, reason = "rust-jack has no other way to name a server")]
    // SAFETY: this binary has one test, and no client is open: nobody else reads variables now.
    unsafe {
        env::set_var("JACK_DEFAULT_SERVER", server.jack.name());
    }
    let (client, _) = Client::new("counter", ClientOptions::NO_START_SERVER).unwrap();
    let xruns = Arc::new(AtomicU64::new(0));
    let client = client.activate_async(CountXruns(Arc::clone(&xruns)), ()).unwrap();
    beside(&server);
    client.deactivate().unwrap();
    // Ordering: Relaxed; the client is closed.
    xruns.load(Ordering::Relaxed)
}

fn empty_callback(_: &Server) {
    let (client, _) = Client::new("empty", ClientOptions::NO_START_SERVER).unwrap();
    let names = [1, 2].map(|channel| {
        let port = client.register_port(&format!("in_{channel}"), AudioIn::default()).unwrap();
        (format!("system:capture_{channel}"), port.name().unwrap())
    });
    let process = |_: &Client, _: &ProcessScope| Control::Continue;
    let client = client.activate_async((), jack::contrib::ClosureProcessHandler::new(process)).unwrap();
    for (from, to) in names {
        client.as_client().connect_ports_by_name(&from, &to).unwrap();
    }
    thread::sleep(Duration::from_secs(SECONDS.into()));
    client.deactivate().unwrap();
}

fn worker_loop(server: &Server) {
    let arguments = format!("--device {DEVICE} --seconds {SECONDS}");
    let ended = Program::start(&mut mio_alsa(server.jack.name(), &arguments))
        .end_within(EVENTUALLY + Duration::from_secs(SECONDS.into()));
    print!("{}", ended.stdout);
    ended.assert_code(0);
    assert_eq!(number(&ended, "notifications:", " lost"), 0);
    let frames = number(&ended, DEVICE, " frames");
    assert!(frames > u64::from(SECONDS * RATE / 2), "{frames} frames");
}

fn main() {
    if !can_run() {
        return;
    }
    let rounds: Vec<(u64, u64)> = (0..ROUNDS)
        .map(|_| (xruns(empty_callback), xruns(worker_loop)))
        .inspect(|(empty, mio_alsa)| println!("xruns in {SECONDS} s: empty {empty}, mio_alsa {mio_alsa}"))
        .collect();
    let empty = rounds.iter().map(|(empty, _)| empty).min();
    let mio_alsa = rounds.iter().map(|(_, mio_alsa)| mio_alsa).min();
    assert!(mio_alsa <= empty, "(empty, mio_alsa): {rounds:?}");
}
