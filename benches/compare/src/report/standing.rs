//! Where a peer is better than the best of ours of its class, and why.

use std::fmt::Write;

use super::show;
use crate::results::{Row, Run, Table, Value};

/// Reasons that are known, by part of the peer's name.
const REASONS: [(&str, &str); 8] = [
    (
        "mio Waker",
        "an edge-triggered descriptor that nobody reads: a system call fewer, but it works in epoll only",
    ),
    (
        "C++20",
        "looks and yields before it sleeps, which pays where the answer comes at once and a CPU is free",
    ),
    (
        "crossbeam",
        "looks and yields before it sleeps, which pays where the answer comes at once and a CPU is free",
    ),
    ("parking_lot", "looks and yields before it sleeps"),
    ("flag, spun", "a plain store instead of an addition: it does not count"),
    ("std park", "a flag that does not count"),
    ("pthread mutex", "adds under a lock that nobody contends for; in a callback it may block"),
    ("std mutex", "adds under a lock that nobody contends for; in a callback it may block"),
];

pub(crate) fn report(run: &Run) -> String {
    let mut text = String::from(
        "By the first column of each table and within a class; better means that the whole interval is below that of \
         the best of ours.\n\n",
    );
    let mut any = false;
    for table in &run.tables {
        for (peer, value, ours, our_value) in better(table) {
            any = true;
            let reason = REASONS.iter().find(|(part, _)| peer.name.contains(part)).map_or("", |(_, why)| why);
            let colon = if reason.is_empty() { "" } else { ": " };
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
    if !any {
        text += "Nowhere.\n";
    }
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
