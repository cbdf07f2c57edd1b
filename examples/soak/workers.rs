//! Workers with priorities that end in every way.

use std::sync::{Arc, Mutex};

use rt_notify::{Notifier, Priority, Worker};

use crate::pairs::{fork, notify, strategy, wait};
use crate::random::Random;
use crate::tally::Tally;

pub(crate) fn workers(random: &mut Random) -> Result<Tally, String> {
    let (notifier, waiter) = Notifier::new();
    let waiter = waiter.with_strategy(strategy(random));
    // Not realtime: for hours that would be a burden to whatever else runs here.
    let priority = [Priority::Inherit, Priority::Nice(5), Priority::Nice(-20)][random.below(3)];
    let arrived = Arc::new(Mutex::new(0));
    let (counting, mut choosing) = (Arc::clone(&arrived), fork(random));
    let worker = Worker::builder().name("worker").priority(priority).spawn(waiter, move |mut waiter| {
        while let Some(n) = wait(&mut waiter, &mut choosing) {
            *counting.lock().expect("nobody panics with the lock") += n;
        }
    });
    let worker = worker.map_err(|error| format!("no worker: {error}"))?;
    let late = notifier.clone();
    let sent = notify(notifier, random);
    match random.below(3) {
        0 => {
            drop(late);
            worker.join().map_err(|panic| panic.to_string())?;
        }
        1 => {
            worker.stop().map_err(|panic| panic.to_string())?;
            late.notify();
        }
        _ => drop(worker),
    }
    // Exact also where it was stopped: that comes after all was sent, and what is pending is still handed out.
    let arrived = *arrived.lock().expect("nobody panics with the lock");
    Tally::exact(sent, arrived)
}
