//! Distributions as curves in an SVG file.

use std::path::Path;

use super::args::Options;
use super::curves::{Curve, draw};
use super::report::Report;
use super::rounds::Rounds;
use super::stats::Times;

/// Draws the one run, or the wake-ups of all strategies that are compared.
pub(crate) fn write(path: &Path, options: &Options, source: &str, all: &[Rounds]) -> Result<(), String> {
    let (what, curves) = match all {
        [rounds] if !options.compare => ("Times", rounds.used.iter().flat_map(of_run).collect()),
        _ => ("From notify() to the worker", all.iter().map(of_rounds).collect::<Result<Vec<_>, _>>()?),
    };
    let title = format!("{what}: {source}");
    draw(path, &title, "microseconds", &curves).map_err(|error| format!("{}: {error}", path.display()))
}

fn of_run(report: &Report) -> Vec<Curve> {
    let figures = &report.figures;
    let curve =
        |label: &str, times: &Times, strong| Curve { label: label.into(), points: times.curve(), strong };
    vec![
        curve("notify()", &figures.notify, false),
        curve("wake-up", &figures.wake_up, true),
        curve("wake-up, from when it was due", &figures.from_due, false),
    ]
}

/// All rounds that are used, as one sample.
fn of_rounds(rounds: &Rounds) -> Result<Curve, String> {
    let mut times = Times::new()?;
    for report in &rounds.used {
        times.merge(&report.figures.wake_up)?;
    }
    Ok(Curve { label: rounds.strategy.to_string(), points: times.curve(), strong: false })
}
