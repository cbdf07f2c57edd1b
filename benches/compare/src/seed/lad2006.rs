//! The question that started it: a list for audio developers, 2006. A million ping-pongs each.

use super::{Options, RUNS, lines, ping_pongs, placement_text, table};

const N: u32 = 1_000_000;

pub(super) fn run(options: Options) -> Result<String, String> {
    let names = [
        ("pipe + poll", Some(5.7)),
        ("pthread mutex + cond", Some(5.7)),
        ("pthread mutex + cond, signalled locked", None),
        ("POSIX sem_t", Some(2.0)),
        ("rt-notify Waiter", None),
        ("rt-notify Semaphore", None),
        ("rt-notify PollWaiter, eventfd", None),
        ("rt-notify PollWaiter, pipe", None),
    ];
    let lines = lines(&names, RUNS, |name| ping_pongs(name, N, options));
    let place = placement_text(options);
    Ok(format!(
        "1,000,000 ping-pongs, {place}. Whether the published cond was signalled with the mutex locked is not known.\n\n{}",
        table(&lines, "POSIX sem_t")
    ))
}
