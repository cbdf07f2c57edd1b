//! The result as text.

use std::fmt;

use super::probe::Figures;
use super::stats::Times;

/// All that a run found out.
#[derive(Debug)]
pub(crate) struct Report {
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
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { waits, sleeps, unmeasured, wake_up, from_due, notify } = &self.figures;
        let coalesced = self.counted.saturating_sub(*waits);
        writeln!(f, "audio thread     {}", self.audio_thread)?;
        writeln!(f, "worker           {}", self.worker)?;
        writeln!(f, "callbacks        {}", self.callbacks)?;
        writeln!(f, "counted          {} notifications", self.counted)?;
        writeln!(f, "lost             {}", self.lost())?;
        writeln!(f, "coalesced        {coalesced} (returned by the same wait as an earlier one)")?;
        writeln!(f, "missed periods   {} (left out by the source, or a period or more late)", self.missed)?;
        writeln!(f, "xruns            {}", self.xruns)?;
        // One notifier rings at most once per sleep; the kernel's own count takes strace.
        let rings = ratio(*sleeps, self.counted);
        writeln!(f, "sleeps           {sleeps}: at most {rings:.4} rings (system calls) per notification")?;
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

fn row(f: &mut fmt::Formatter<'_>, name: &str, times: &Times) -> fmt::Result {
    let Some(quantiles) = times.quantiles() else { return Ok(()) };
    write!(f, "{name:<16}")?;
    for nanos in quantiles {
        // Whole microseconds and tenths, without a detour through floating point.
        write!(f, " {:>8}.{}", nanos / 1_000, nanos % 1_000 / 100)?;
    }
    writeln!(f)
}

#[allow(clippy::cast_precision_loss, reason = "four digits are printed")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
