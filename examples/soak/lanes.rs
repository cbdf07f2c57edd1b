//! What runs at once: each lane does one thing after the other, chosen at random.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rt_notify::Notifier;

use crate::args::{Fault, Options};
use crate::random::Random;
use crate::tally::Tally;
use crate::{pairs, rings, semaphores, workers};

type Round = fn(&mut Random) -> Result<Tally, String>;

pub(crate) const ROUNDS: [(&str, Round); 8] = [
    ("a pair on the futex", pairs::on_a_futex),
    ("a pair on a descriptor", pairs::on_a_descriptor),
    ("a poll loop", pairs::in_a_poll_loop),
    ("a worker", workers::workers),
    ("a semaphore", semaphores::semaphores),
    ("a capture ring", rings::captured),
    ("a pollable capture ring", rings::captured_pollably),
    ("a playback ring", rings::played),
];

/// Runs that many lanes for that long. All their threads are gone afterwards.
pub(crate) fn run(options: &Options, length: Duration, seed: u64) -> Result<Tally, String> {
    let (sender, receiver) = mpsc::channel();
    let end = Instant::now() + length;
    let threads = (0..options.lanes).map(|lane| {
        let sender = sender.clone();
        let random = Random::new(seed.wrapping_mul(1_000).wrapping_add(lane));
        let plant = options.plant.filter(|_| lane == 0);
        thread::spawn(move || live(random, end, plant, &sender))
    });
    let threads: Vec<_> = threads.collect();
    drop(sender);
    let tally = collect(&receiver, end + Duration::from_secs(options.patience))?;
    for thread in threads {
        join(thread)?;
    }
    Ok(tally)
}

/// Everybody's rounds. The channel ends with the last lane.
fn collect(receiver: &Receiver<Result<Tally, String>>, deadline: Instant) -> Result<Tally, String> {
    let mut total = Tally::default();
    loop {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(tally) => total += tally?,
            Err(RecvTimeoutError::Disconnected) => return Ok(total),
            Err(RecvTimeoutError::Timeout) => {
                return Err("a round does not end: a wake-up was lost".to_owned());
            }
        }
    }
}

fn join(thread: JoinHandle<()>) -> Result<(), String> {
    thread.join().map_err(|_| "a lane panicked".to_owned())
}

/// One lane. Its total comes at the end, an error at once.
fn live(mut random: Random, end: Instant, plant: Option<Fault>, sender: &Sender<Result<Tally, String>>) {
    let mut total = Tally::default();
    while Instant::now() < end {
        let (name, round) = ROUNDS[random.below(ROUNDS.len())];
        match round(&mut random) {
            Ok(tally) => total += tally,
            Err(message) => {
                // Nobody listens after another lane's error.
                let _ = sender.send(Err(format!("{name}: {message}")));
                return;
            }
        }
    }
    match plant {
        Some(Fault::Count) => total.arrived += 1,
        Some(Fault::Wake) => {
            let (notifier, mut waiter) = Notifier::new();
            let _ = waiter.wait();
            drop(notifier);
        }
        Some(Fault::Descriptor | Fault::Memory) | None => {}
    }
    let _ = sender.send(Ok(total));
}
