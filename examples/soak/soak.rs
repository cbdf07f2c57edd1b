//! Phases, and what is looked at between them.

use std::time::{Duration, Instant};

use rt_notify::Notifier;

use crate::args::{Fault, Options};
use crate::lanes;
use crate::tally::Tally;
use crate::usage::{Usage, median};

/// Short, so that memory is looked at often.
const PHASE: Duration = Duration::from_secs(1);

/// Of the phases, the first so many tenths: allocators and stacks reach their size.
const WARM_UP: usize = 3;

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let start = Instant::now();
    let length = Duration::from_secs(options.seconds);
    let before = Usage::now()?.descriptors;
    // A vector that never grows is no part of the growth that is looked for.
    let mut samples = Vec::with_capacity(usize::try_from(options.seconds).unwrap_or(0) + 2);
    let mut total = Tally::default();
    let mut kept = Vec::new();
    while start.elapsed() < length {
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(samples.len() as u64);
        total += lanes::run(options.lanes, PHASE, seed, options.plant)?;
        if total.sent != total.arrived {
            return Err(format!("sent {}, but {} arrived", total.sent, total.arrived));
        }
        match options.plant {
            Some(Fault::Descriptor) => std::mem::forget(Notifier::pollable()),
            Some(Fault::Memory) => kept.push(vec![1_u8; 100_000]),
            Some(Fault::Count | Fault::Wake) | None => {}
        }
        // Blocks of late handles are freed by the next constructor.
        drop(Notifier::new());
        let now = Usage::now()?;
        if now.descriptors != before {
            return Err(format!("{} descriptors were open at first, and now {}", before, now.descriptors));
        }
        samples.push(now);
    }
    let warm = &samples[samples.len() * WARM_UP / 10..];
    let third = warm.len().div_ceil(3);
    let (first, last) = (median(&warm[..third]), median(&warm[warm.len() - third..]));
    println!(
        "{} s, seed {}: {} rounds, {} notifications, permits and items, 0 lost; {} descriptors; resident memory {} pages \
         after warm-up, {} at the end",
        start.elapsed().as_secs(),
        options.seed,
        total.rounds,
        total.sent,
        before,
        first,
        last
    );
    if first.abs_diff(last) * 100 > first {
        return Err(format!("resident memory went from {first} to {last} pages, which is more than 1 %"));
    }
    Ok(())
}
