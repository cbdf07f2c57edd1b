//! Phases, and what is looked at between them.

use std::time::{Duration, Instant};

use rt_notify::Notifier;

use crate::args::{Fault, Options};
use crate::lanes;
use crate::live::{self, Live};
use crate::tally::Tally;
use crate::usage::{Growth, Usage};

/// Short, so that memory is looked at often.
const PHASE: Duration = Duration::from_secs(1);

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let start = Instant::now();
    let length = Duration::from_secs(options.seconds);
    let before = Usage::now()?.descriptors;
    // A vector that never grows is no part of the growth that is looked for.
    let mut samples = Vec::with_capacity(usize::try_from(options.seconds).unwrap_or(0) + 2);
    let mut total = Tally::default();
    let mut first = None;
    while start.elapsed() < length {
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(samples.len() as u64);
        total += lanes::run(options, PHASE, seed)?;
        if total.sent != total.arrived {
            return Err(format!("sent {}, but {} arrived", total.sent, total.arrived));
        }
        if options.plant == Some(Fault::Descriptor) {
            std::mem::forget(Notifier::pollable());
        }
        // Blocks of late handles are freed by the next constructor.
        drop(Notifier::new());
        if options.plant == Some(Fault::Memory) {
            std::hint::black_box(Box::leak(Box::new(0_u8)));
        }
        let (live, first) = (Live::now(), *first.get_or_insert(Live::now()));
        if live != first {
            return Err(format!(
                "{first} were allocated after the first second, and {live} after {} s",
                samples.len() + 1
            ));
        }
        live::give_back();
        let now = Usage::now()?;
        if now.descriptors != before {
            return Err(format!("{} descriptors were open at first, and now {}", before, now.descriptors));
        }
        samples.push(now);
    }
    let growth = Growth::of(&samples);
    let memory = match growth {
        Some(Growth { first, last }) => {
            format!("resident {first} pages after warm-up, {last} at the end")
        }
        None => "too short to judge resident memory".to_owned(),
    };
    let allocated = Live::now();
    println!(
        "{} s, seed {}: {} rounds, {} notifications, permits and items, 0 lost; {before} descriptors; {allocated}, as after the first second; {memory}",
        start.elapsed().as_secs(),
        options.seed,
        total.rounds,
        total.sent,
    );
    match growth {
        Some(growth) if !growth.is_flat() => Err(format!("memory is not flat within 1 %: {memory}")),
        _ => Ok(()),
    }
}
