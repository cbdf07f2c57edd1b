//! What the project promises of its ring, and whether a run keeps it.

use super::tables::PACED_COLUMNS;
use crate::common::period::PERIOD;
use crate::report::show;
use crate::results::{Run, Table, Value};

const RING: &str = "rt-notify ring";
const CHANNELS: [&str; 3] = ["std sync_channel", "crossbeam channel, bounded", "flume, bounded"];

pub(crate) fn check(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(table) = run.table("rings/blocks") {
        lines.push(at_most(table, 1.0 / 0.9, "rtrb, spun"));
        lines.extend(CHANNELS.map(|channel| at_most(table, 1.0, channel)));
    }
    if let Some(table) = run.table("rings-paced/idle") {
        lines.push(bound(table, PACED_COLUMNS[4], 1.0 / 60.0));
        lines.push(bound(table, PACED_COLUMNS[1], PERIOD as f64 / 1000.0));
    }
    lines
}

/// Time per message, of which less than `times` the other's is as good as `1 / times` of its speed.
fn at_most(table: &Table, times: f64, other: &str) -> String {
    let values = table.main_value(RING).zip(table.main_value(other));
    let limit = values.map(|(ours, other)| (ours, other.median * times));
    format!("{}: {RING} ≤ {} × {other}: {}", table.id, show(times), verdict(limit))
}

fn bound(table: &Table, column: &str, limit: f64) -> String {
    let value = table.row(RING).and_then(|row| row.value(column));
    let limit = value.map(|value| (value, limit));
    format!("{}: {RING}, {column}: {}", table.id, verdict(limit))
}

fn verdict(found: Option<(Value, f64)>) -> String {
    let Some((Value { median, low, high, .. }, limit)) = found else { return "not measured".into() };
    let verdict = match () {
        () if high <= limit => "holds",
        () if low > limit => "DOES NOT HOLD",
        () if median <= limit => "holds, but for the interval's upper end",
        () => "does not hold, but for the interval's lower end",
    };
    format!("{verdict} ({}, {}…{} against {})", show(median), show(low), show(high), show(limit))
}
