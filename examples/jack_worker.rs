//! A JACK client whose process callback wakes a worker thread: the start of a recorder, a MIDI dump, a loader.
//!
//!     cargo run --release --features jack --example jack_worker
//!
//! Ends when Enter is pressed or the JACK server goes away.

use assert_no_alloc::assert_no_alloc;
use jack::contrib::ClosureProcessHandler;
use rt_notify::{Notifier, Priority, Stopper, Worker};
use std::{error::Error, io, thread};

#[cfg(debug_assertions)] // In debug builds, memory allocated by the callback ends the program at once.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

struct Shutdown(Stopper);

impl jack::NotificationHandler for Shutdown {
    #[allow(unsafe_code, reason = "rust-jack declares it so: this may run like a signal handler")]
    unsafe fn shutdown(&mut self, _: jack::ClientStatus, _: &str) {
        self.0.stop();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // 1. Join the running JACK server.
    let (client, _) = jack::Client::new("jack_worker", jack::ClientOptions::NO_START_SERVER)
        .map_err(|error| format!("cannot join a JACK server: {error}"))?;

    // 2. Make a pair: the callback will notify, the worker will wait.
    let (notifier, waiter) = Notifier::new();

    // 3. Start the worker. It may do all that a callback must not: write files, allocate, lock.
    let worker = Worker::builder().name("worker").priority(Priority::Nice(-20));
    let worker = worker.spawn(waiter, |mut waiter| {
        let mut periods = 0;
        while let Ok(n) = waiter.wait() {
            periods += u64::from(n);
        }
        periods
    })?;

    // 4. Notify in every period. This never blocks.
    let process = ClosureProcessHandler::new(move |_: &jack::Client, _: &jack::ProcessScope| {
        assert_no_alloc(|| notifier.notify());
        jack::Control::Continue
    });
    let client = client.activate_async(Shutdown(worker.stopper()), process)?;
    println!("worker: {}. Press Enter to end.", worker.granted());

    // 5. On Enter, close the client. This drops the notifier, the last one: the worker ends once it has counted all.
    thread::spawn(move || match io::stdin().lines().next() {
        Some(_) => drop(client.deactivate()),
        None => std::mem::forget(client), // There is no Enter to come: only the server's end is left.
    });

    // 6. Wait for that, or for the server's end.
    println!("{} periods", worker.join()?);
    Ok(())
}
