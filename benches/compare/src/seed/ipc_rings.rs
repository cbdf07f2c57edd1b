//! The messages of the `ipc` preset within one process, through rings and channels. Nobody has published that: it tells
//! what two processes cost.

use super::ipc::N;
use super::{Options, RUNS, lines, scaled, table};
use crate::common::cpu;
use crate::rings::full_speed::Plan;
use crate::rings::registry;

/// Of a ring, in messages: the 128 kB are twice what a pipe holds.
const CAPACITY: usize = 64;

pub(super) fn run(options: Options) -> String {
    let messages = scaled(N, options);
    let (cpus, place) = match cpu::allowed()[..] {
        [first, .., last] if !options.unpinned => ([Some(first), Some(last)], "each on a CPU"),
        _ => ([None; 2], "placed by the scheduler"),
    };
    let plan = Plan { messages, capacity: CAPACITY, wanted: CAPACITY / 2, cpus };
    let rings = registry::all();
    let names: Vec<(&str, Option<f64>)> = rings.iter().map(|ring| (ring.name, None)).collect();
    let lines = lines(&names, RUNS, |name| {
        let ring = rings.iter().find(|ring| ring.name == name).ok_or("no such ring")?;
        Ok((ring.letters)(plan)?.ns * f64::from(N) / 1e9)
    });
    format!(
        "The same in one process, two threads, {place}, rings of {CAPACITY} messages\n\n{}",
        table(&lines, "rt-notify ring")
    )
}
