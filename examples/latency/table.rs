//! A comparison as text: a line for each strategy.

use std::fmt::{self, Write};

use super::backend::Tally;
use super::probe::Figures;
use super::report::Report;
use super::rounds::Rounds;
use super::stats::Times;

/// The medians of all rounds that are used.
pub(crate) struct Table<'a> {
    pub(crate) all: &'a [Rounds],
    /// In percent of all CPU time.
    pub(crate) max_steal: u32,
}

type Figure = fn(&Report) -> Option<f64>;

/// A column: its two lines of heading, its figure, and how many decimals of it are shown.
const COLUMNS: [([&str; 2], Figure, usize); 10] = [
    (["", "rings/n"], |report| Some(report.rings_per_notification()), 4),
    (["notify()", "p50"], |report| quantile(&report.figures.notify, 0), 2),
    (["", "p99"], |report| quantile(&report.figures.notify, 1), 2),
    (["wake-up", "p50"], |report| quantile(&report.figures.wake_up, 0), 2),
    (["", "p99"], |report| quantile(&report.figures.wake_up, 1), 1),
    (["", "p99.9"], |report| quantile(&report.figures.wake_up, 2), 1),
    (["worker", "CPU %"], |report| Some(report.worker_cpu() * 100.0), 1),
    (["spin", "hits %"], spin_hits, 1),
    (["margin", "us"], margin, 1),
    (["", "xruns"], |report| Some(count(report.xruns)), 0),
];

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = |line: usize| {
            COLUMNS.iter().fold(String::new(), |mut text, (heading, ..)| {
                // Writing to a string cannot fail.
                let _ = write!(text, " {:>8}", heading[line]);
                text
            })
        };
        writeln!(f, "\n{:<16}{:>7}{:>6}{}", "", "", "", headings(0))?;
        writeln!(f, "{:<16}{:>7}{:>6}{}", "strategy", "rounds", "lost", headings(1))?;
        for rounds in self.all {
            write!(f, "{:<16}{:>7}{:>6}", rounds.strategy, rounds.used.len(), rounds.lost())?;
            for (_, figure, decimals) in COLUMNS {
                match rounds.median(figure) {
                    Some(value) => write!(f, " {value:>8.decimals$}")?,
                    None => write!(f, " {:>8}", "-")?,
                }
            }
            writeln!(f)?;
        }
        let discarded: usize = self.all.iter().map(|rounds| rounds.discarded.len()).sum();
        let total: usize = discarded + self.all.iter().map(|rounds| rounds.used.len()).sum::<usize>();
        writeln!(
            f,
            "\ndiscarded        {discarded} of {total} rounds: above {} % steal, or cut short",
            self.max_steal
        )?;
        writeln!(
            f,
            "Medians of the rounds. rings/n: system calls of notify() per notification. Times in microseconds; those of"
        )?;
        writeln!(f, "notify() contain one reading of the clock; wake-up is from notify() to the worker.")
    }
}

fn quantile(times: &Times, which: usize) -> Option<f64> {
    times.quantiles().map(|quantiles| count(quantiles[which]) / 1_000.0)
}

fn spin_hits(report: &Report) -> Option<f64> {
    match &report.figures {
        Figures { tally: Tally::Exact(stats), waits, .. } if !stats.spinning.is_zero() => {
            Some(100.0 * count(stats.spin_hits) / count((*waits).max(1)))
        }
        _ => None,
    }
}

fn margin(report: &Report) -> Option<f64> {
    match report.figures.tally {
        Tally::Exact(stats) => stats.margin.map(|margin| margin.as_secs_f64() * 1e6),
        Tally::AtMost(_) => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few digits are printed")]
fn count(number: u64) -> f64 {
    number as f64
}
