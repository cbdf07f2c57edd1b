//! Where a peer is better than the best of ours of its class, and why.

use std::fmt::Write;

use super::show;
use crate::results::{Row, Run, Table, Value};

/// Reasons that come to mind, from how the peers work: a part of the table's name, a part of the peer's, and why.
const REASONS: [(&str, &str, &str); 19] = [
    (
        "",
        "mio Waker",
        "edge-triggered and never read, a system call fewer; it works in epoll only, and does not count",
    ),
    ("", "flag, spun", "a plain store: it does not count, and its waiter never sleeps"),
    (
        "locks",
        "",
        "whoever comes first takes it; those of the 1990s hand it over, often to a thread that sleeps",
    ),
    ("pairs", "", "less to make: no second count of handles, no list through which the waiter frees"),
    ("period", "", "a wake-up is the scheduler's work, the same for all: chance, or another CPU asleep"),
    ("", "park", "a flag instead of a count: an exchange where ours adds"),
    ("", "Parker", "a flag instead of a count: an exchange where ours adds"),
    (
        "ping-pong",
        "C++20",
        "looks and yields before it sleeps: on one CPU the other side runs at once, and nobody sleeps",
    ),
    ("ping-pong", "crossbeam channel", "looks and yields before it sleeps"),
    ("ping-pong", "System V", "a system call on either side, and no atomic operations besides"),
    (
        "ping-pong",
        "raw futex",
        "an addition and a system call, always; ours looks first whether it is needed",
    ),
    (
        "ping-pong",
        "poll",
        "counts in the kernel only; ours in user space as well, which saves the system call when busy",
    ),
    (
        "waiters",
        "C++20",
        "its waiters look and yield before they sleep, so a post finds fewer of them asleep",
    ),
    ("waiters", "System V", "the kernel itself gives the permit to the sleeper, who need not come for it"),
    (
        "notifiers",
        "C++20",
        "its waiter looks and yields before it sleeps, so notifiers find it asleep less often",
    ),
    ("rings/", "rtrb, spun", "tells nobody: a plain store where ours adds to a counter"),
    (
        "rings/",
        "channel",
        "its two sides copy whole messages, and its reader looks and yields before it sleeps",
    ),
    ("rings-paced", "", "it wakes its reader for every block, so that the CPU never falls asleep deeply"),
    ("notifiers", "", "its two sides meet on one cache line less often than at a counter"),
];

pub(crate) fn report(run: &Run) -> String {
    let mut text = String::from(
        "By the first column of each table and within a class; better means that the whole interval is below that of \
         the best of ours. Why that is so, was not measured: the reasons given are likely ones, from how the peers \
         work.\n\n",
    );
    let mut found = 0;
    for table in &run.tables {
        for (peer, value, ours, our_value) in better(table) {
            found += 1;
            let fits =
                |(id, part, _): &&(&str, &str, &str)| table.id.contains(id) && peer.name.contains(part);
            let reason = REASONS.iter().find(fits).map_or("", |(_, _, why)| why);
            let colon = if reason.is_empty() { "" } else { "; likely: " };
            let _ = writeln!(
                text,
                "- {}: {} {} against {} of {}{colon}{reason}",
                table.id,
                peer.name,
                show(value.median),
                show(our_value.median),
                ours.name,
            );
        }
    }
    let compared: usize =
        run.tables.iter().map(|table| table.ranking().iter().filter(|(row, _)| !row.ours).count()).sum();
    let _ = writeln!(text, "\n{found} of {compared} comparisons.");
    text
}

fn better(table: &Table) -> Vec<(&Row, Value, &Row, Value)> {
    let ranking = table.ranking();
    let best_of_ours = |class: &str| ranking.iter().find(|(row, _)| row.ours && row.class == class).copied();
    let compare = |&(peer, value): &_| {
        let peer: &Row = peer;
        let value: Value = value;
        let (ours, our_value) = best_of_ours(&peer.class)?;
        (!peer.ours && value.is_surely_below(our_value)).then_some((peer, value, ours, our_value))
    };
    ranking.iter().filter_map(compare).collect()
}
