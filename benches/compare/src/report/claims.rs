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
    /// Why it may not hold, on some machines.
    unless: &'static str,
}

const PIPE: &str =
    "beside the two switches, which both have, a futex call costs little less than a write or a poll";
const UNLOCKED: &str =
    "signalled after unlocking, and without contention, it makes no more system calls than ours";
const CHEAP_CALLS: &str =
    "where a system call costs less than 0.1 µs, two of them are less than 100 atomic additions";

const fn claim(table: &'static str, ours: &'static str, times: f64, other: &'static str) -> Claim {
    Claim { table, ours, other, times, within: false, unless: "" }
}

const fn no_worse(table: &'static str, ours: &'static str, other: &'static str) -> Claim {
    Claim { table, ours, other, times: 1.0, within: true, unless: "" }
}

impl Claim {
    const fn unless(self, unless: &'static str) -> Claim {
        Claim { unless, ..self }
    }
}

const CLAIMS: [Claim; 9] = [
    no_worse("ping-pong/one-cpu", WAITER, POSIX),
    claim("ping-pong/one-cpu", WAITER, 0.65, "pipe + poll").unless(PIPE),
    claim("ping-pong/one-cpu", WAITER, 0.55, "pthread mutex + cond").unless(UNLOCKED),
    claim("ping-pong/one-cpu", WAITER, 0.55, "pthread mutex + cond, signalled locked"),
    claim("ping-pong/one-cpu", WAITER, 1.6, "sched_yield in turn"),
    no_worse("uncontended", SEMAPHORE, POSIX),
    no_worse("uncontended", WAITER, POSIX),
    claim("uncontended", SEMAPHORE, 0.01, SYSTEM_V).unless(CHEAP_CALLS),
    claim("uncontended", WAITER, 0.01, SYSTEM_V).unless(CHEAP_CALLS),
];

/// A claim, and what the run says to it.
pub(crate) struct Checked<'a> {
    claim: &'a Claim,
    found: Option<(Value, Value)>,
}

impl Checked<'_> {
    fn verdict(&self) -> Verdict {
        let Some((ours, other)) = self.found else { return Verdict::NotMeasured };
        let times = self.claim.times;
        if !self.claim.within && ours.median <= other.median * times {
            Verdict::Holds
        } else if ours.low <= other.high * times {
            Verdict::Within
        } else {
            Verdict::Fails
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Holds,
    /// As far as the intervals can tell.
    Within,
    Fails,
    NotMeasured,
}

impl fmt::Display for Checked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Claim { table, ours, other, times, within, unless } = self.claim;
        let verdict = self.verdict();
        let times = if *within { String::new() } else { format!("{times} × ") };
        write!(f, "{table}: {ours} ≤ {times}{other}: ")?;
        match verdict {
            Verdict::Holds => write!(f, "holds")?,
            Verdict::Within => write!(f, "holds within the intervals")?,
            Verdict::Fails => write!(f, "DOES NOT HOLD")?,
            Verdict::NotMeasured => write!(f, "not measured")?,
        }
        if let Some((ours, other)) = self.found {
            let ratio = ours.median / other.median;
            let (low, high) = (ours.low / other.high, ours.high / other.low);
            let (ours, other) = (show(ours.median), show(other.median));
            write!(f, " ({ours} against {other}: {ratio:.3} × [{low:.3}…{high:.3}])")?;
        }
        if verdict == Verdict::Fails && !unless.is_empty() {
            write!(f, "; likely: {unless}")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(claim: &'static Claim, ours: [f64; 3], other: [f64; 3]) -> Verdict {
        let value = |[low, median, high]: [f64; 3]| Value { median, low, high, n: 15 };
        Checked { claim, found: Some((value(ours), value(other))) }.verdict()
    }

    #[test]
    fn a_claim_is_judged_by_medians_and_then_by_intervals() {
        const HALF: Claim = claim("", WAITER, 0.5, POSIX);
        assert_eq!(verdict(&HALF, [0.9, 1.0, 1.1], [1.9, 2.0, 2.1]), Verdict::Holds);
        assert_eq!(verdict(&HALF, [1.0, 1.1, 1.2], [1.9, 2.0, 2.1]), Verdict::Within);
        assert_eq!(verdict(&HALF, [1.1, 1.2, 1.3], [1.9, 2.0, 2.1]), Verdict::Fails);
    }

    #[test]
    fn to_be_no_worse_is_judged_by_intervals_only() {
        const NO_WORSE: Claim = no_worse("", WAITER, POSIX);
        assert_eq!(verdict(&NO_WORSE, [0.9, 1.05, 1.1], [0.9, 1.0, 1.1]), Verdict::Within);
        assert_eq!(verdict(&NO_WORSE, [1.2, 1.3, 1.4], [0.9, 1.0, 1.1]), Verdict::Fails);
    }
}
