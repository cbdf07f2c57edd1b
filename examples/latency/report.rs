//! The result of one measurement as text.

use std::fmt;

use rt_notify::WaitStats;

use super::backend::Tally;
use super::choices::{Backend, Strategy};
use super::probe::{Figures, Spent};
use super::stats::Times;

/// All that a run found out.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) strategy: Strategy,
    pub(crate) backend: Backend,
    pub(crate) callbacks: u64,
    pub(crate) counted: u64,
    pub(crate) missed: u64,
    pub(crate) xruns: u64,
    pub(crate) audio_thread: String,
    pub(crate) worker: String,
    /// Seconds that the hypervisor withheld, and seconds of all CPUs together.
    pub(crate) steal: Option<(f64, f64)>,
    pub(crate) figures: Figures,
}

impl Report {
    /// Notifications that the worker was never told of.
    pub(crate) fn lost(&self) -> u64 {
        self.callbacks.saturating_sub(self.counted)
    }

    pub(crate) fn rings_per_notification(&self) -> f64 {
        ratio(self.figures.tally.rings(), self.counted)
    }

    /// The share of one CPU that the worker's thread used.
    pub(crate) fn worker_cpu(&self) -> f64 {
        let Spent { total, cpu } = self.figures.time;
        ratio(cpu, total)
    }

    /// Whether the worker's strategy ever looks without sleeping.
    pub(crate) fn spins(&self) -> bool {
        matches!(self.figures.tally, Tally::Exact(stats) if !stats.spinning.is_zero())
    }

    /// The share of all CPU time that the hypervisor withheld; 0 where the kernel does not tell.
    pub(crate) fn steal_share(&self) -> f64 {
        self.steal.map_or(0.0, |(steal, total)| if total > 0.0 { steal / total } else { 0.0 })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { waits, unmeasured, wake_up, from_due, notify, tally, time, relock: _ } = &self.figures;
        let coalesced = self.counted.saturating_sub(*waits);
        writeln!(f, "audio thread     {}", self.audio_thread)?;
        writeln!(f, "worker           {}", self.worker)?;
        match self.backend {
            Backend::Futex => writeln!(f, "waits by         futex, {}", self.strategy)?,
            other => writeln!(f, "waits by         {other}")?,
        }
        writeln!(f, "callbacks        {}", self.callbacks)?;
        writeln!(f, "counted          {} notifications", self.counted)?;
        writeln!(f, "lost             {}", self.lost())?;
        writeln!(f, "coalesced        {coalesced} (returned by the same wait as an earlier one)")?;
        writeln!(f, "missed periods   {} (left out by the source, or a period or more late)", self.missed)?;
        writeln!(f, "xruns            {}", self.xruns)?;
        let each = self.rings_per_notification();
        match tally {
            Tally::Exact(stats) => {
                writeln!(f, "rings            {}: {each:.4} system calls per notification", stats.rings)?;
                waited(f, stats, time)?;
            }
            // The kernel's own count takes strace.
            Tally::AtMost(rings) => {
                writeln!(f, "rings            at most {rings}: {each:.4} system calls per notification")?;
            }
        }
        writeln!(f, "worker's CPU     {:.1} %", self.worker_cpu() * 100.0)?;
        if let Some((steal, total)) = self.steal {
            writeln!(f, "steal            {steal:.2} s of {total:.1} CPU seconds")?;
        }
        let impossible = wake_up.impossible() + from_due.impossible();
        writeln!(f, "impossible       {impossible} negative times, not in the table")?;
        if *unmeasured > 0 {
            writeln!(f, "unmeasured       {unmeasured} counted, but their stamps were overwritten")?;
        }
        writeln!(f, "\nmicroseconds            p50        p99      p99.9        max")?;
        row(f, "notify()", notify)?;
        row(f, "wake-up", wake_up)?;
        row(f, "wake-up from due", from_due)?;
        writeln!(
            f,
            "\nnotify(): with one reading of the clock. wake-up: from notify() to the worker. From due: from when the"
        )?;
        writeln!(
            f,
            "clock's schedule asked for the callback, also if it came late; JACK only has its missed periods."
        )
    }
}

/// What a waiter says of its waits, as far as it applies.
fn waited(f: &mut fmt::Formatter<'_>, stats: &WaitStats, time: &Spent) -> fmt::Result {
    writeln!(f, "sleeps           {}, {} waits found it pending", stats.sleeps, stats.pending)?;
    if stats.spinning.is_zero() {
        return Ok(());
    }
    let share = 100.0 * stats.spinning.as_secs_f64() / (time.total.max(1) as f64 * 1e-9);
    writeln!(f, "spin hits        {}, {share:.1} % of the time spent spinning", stats.spin_hits)?;
    if let Some(margin) = stats.margin {
        let period = stats
            .period
            .map_or("none at the end".to_owned(), |period| format!("{:.1} us", period.as_secs_f64() * 1e6));
        writeln!(f, "period           {period}, margin {:.1} us", margin.as_secs_f64() * 1e6)?;
        let WaitStats { early, late, over_budget, .. } = stats;
        writeln!(f, "mispredicted     {early} early, {late} late, {over_budget} over the CPU budget")?;
    }
    Ok(())
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, times: &Times) -> fmt::Result {
    let Some(quantiles) = times.quantiles() else { return Ok(()) };
    write!(f, "{name:<16}")?;
    for nanos in quantiles {
        // Whole microseconds and hundredths, without a detour through floating point.
        write!(f, " {:>7}.{:02}", nanos / 1_000, nanos % 1_000 / 10)?;
    }
    writeln!(f)
}

#[allow(clippy::cast_precision_loss, reason = "four digits are printed")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
