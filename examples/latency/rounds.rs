//! Several strategies, in turn, for several rounds.

use std::sync::atomic::AtomicBool;

use super::args::Options;
use super::choices::Strategy;
use super::report::Report;
use super::run::measure;
use super::source::{End, Source};

/// The rounds of one strategy.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) strategy: Strategy,
    pub(crate) used: Vec<Report>,
    /// In which the hypervisor took too much. Only what they lost counts.
    pub(crate) discarded: Vec<Report>,
}

impl Rounds {
    /// A run that was complete, or the only one.
    pub(crate) fn of(report: Report) -> Self {
        Rounds { strategy: report.strategy, used: vec![report], discarded: Vec::new() }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Report> {
        self.used.iter().chain(&self.discarded)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.all().map(Report::lost).sum()
    }

    /// The median of a figure over the rounds that are used; `None` without one.
    pub(crate) fn median(&self, figure: impl Fn(&Report) -> Option<f64>) -> Option<f64> {
        median(self.used.iter().filter_map(figure).collect())
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Measures all rounds. Tells besides whether everything was as it should be; what was not is already said.
pub(crate) fn compare(
    options: &Options,
    source: &mut dyn Source,
    interrupted: &AtomicBool,
) -> Result<(Vec<Rounds>, bool), String> {
    let empty = |&strategy| Rounds { strategy, used: Vec::new(), discarded: Vec::new() };
    let mut all: Vec<Rounds> = options.strategies.iter().map(empty).collect();
    let mut success = true;
    for round in 1..=options.rounds {
        for rounds in &mut all {
            let label = format!("round {round} of {}, {}: ", options.rounds, rounds.strategy);
            let outcome = measure(options, rounds.strategy, source, interrupted, &label, || ())?;
            outcome.complain();
            success &= outcome.is_success();
            // What was cut short is not comparable, but what it lost is lost.
            let usable = outcome.end == End::Complete
                && outcome.report.steal_share() * 100.0 <= f64::from(options.max_steal);
            let ended = outcome.end;
            if usable { &mut rounds.used } else { &mut rounds.discarded }.push(outcome.report);
            if ended != End::Complete {
                return Ok((all, success));
            }
        }
    }
    Ok((all, success))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }
}
