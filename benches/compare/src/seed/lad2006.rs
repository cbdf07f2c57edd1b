//! The question that started it: a list for audio developers, 2006. A million ping-pongs each.

use super::{Line, Options, ping_pongs, placement_text, table};

const N: u32 = 1_000_000;

pub(super) fn run(options: Options) -> Result<String, String> {
    let line = |(name, published)| Line {
        name: String::from(name),
        published,
        today: ping_pongs(name, N, options).map(|seconds| vec![seconds]),
    };
    let lines = [
        ("pipe + poll", Some(5.7)),
        ("pthread mutex + cond", Some(5.7)),
        ("pthread mutex + cond, signalled locked", None),
        ("POSIX sem_t", Some(2.0)),
        ("rt-notify Waiter", None),
        ("rt-notify Semaphore", None),
        ("rt-notify PollWaiter, eventfd", None),
        ("rt-notify PollWaiter, pipe", None),
    ];
    let lines: Vec<Line> = lines.into_iter().map(line).collect();
    let place = placement_text(options);
    Ok(format!(
        "1,000,000 ping-pongs, {place}. Whether the published cond was signalled with the mutex locked is not known.\n\n{}",
        table(&lines, "POSIX sem_t")
    ))
}
