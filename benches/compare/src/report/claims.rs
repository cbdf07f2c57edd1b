//! What the project promises of its own results, and whether they keep it.

use std::fmt;

use super::show;
use crate::results::{Run, Value};

const WAITER: &str = "rt-notify Waiter";
const SEMAPHORE: &str = "rt-notify Semaphore";
const POSIX: &str = "POSIX sem_t";
const SYSTEM_V: &str = "System V semaphore";

/// Ours is at most so many times the other, in that table. With `within` the intervals may overlap.
struct Claim {
    table: &'static str,
    ours: &'static str,
    other: &'static str,
    times: f64,
    within: bool,
}

const fn claim(table: &'static str, ours: &'static str, times: f64, other: &'static str) -> Claim {
    Claim { table, ours, other, times, within: false }
}

const fn no_worse(table: &'static str, ours: &'static str, other: &'static str) -> Claim {
    Claim { table, ours, other, times: 1.0, within: true }
}

const CLAIMS: [Claim; 9] = [
    no_worse("ping-pong/one-cpu", WAITER, POSIX),
    claim("ping-pong/one-cpu", WAITER, 0.65, "pipe + poll"),
    claim("ping-pong/one-cpu", WAITER, 0.55, "pthread mutex + cond"),
    claim("ping-pong/one-cpu", WAITER, 0.55, "pthread mutex + cond, signalled locked"),
    claim("ping-pong/one-cpu", WAITER, 1.6, "sched_yield in turn"),
    no_worse("uncontended", SEMAPHORE, POSIX),
    no_worse("uncontended", WAITER, POSIX),
    claim("uncontended", SEMAPHORE, 0.01, SYSTEM_V),
    claim("uncontended", WAITER, 0.01, SYSTEM_V),
];

/// A claim, and what the run says to it.
pub(crate) struct Checked<'a> {
    claim: &'a Claim,
    found: Option<(Value, Value)>,
}

impl Checked<'_> {
    fn holds(&self) -> Option<bool> {
        let (ours, other) = self.found?;
        let bound = if self.claim.within { other.high } else { other.median * self.claim.times };
        let ours = if self.claim.within { ours.low } else { ours.median };
        Some(ours <= bound)
    }
}

impl fmt::Display for Checked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Claim { table, ours, other, times, within } = self.claim;
        let verdict = match self.holds() {
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
            None => "not measured",
        };
        let times = if *within { String::new() } else { format!("{times} × ") };
        let within = if *within { ", within intervals" } else { "" };
        write!(f, "{table}: {ours} ≤ {times}{other}{within}: {verdict}")?;
        if let Some((ours, other)) = self.found {
            let ratio = ours.median / other.median;
            write!(f, " ({} against {}, {ratio:.3} ×)", show(ours.median), show(other.median))?;
        }
        Ok(())
    }
}

pub(crate) fn check(run: &Run) -> Vec<Checked<'static>> {
    let found = |claim: &Claim| {
        let table = run.table(claim.table)?;
        Some((table.main_value(claim.ours)?, table.main_value(claim.other)?))
    };
    CLAIMS.iter().map(|claim| Checked { claim, found: found(claim) }).collect()
}
