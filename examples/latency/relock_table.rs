//! A disturbed comparison as text: how soon each strategy found the notifications again.

use std::fmt;

use super::relock::Spell;
use super::report::Report;
use super::rounds::Rounds;

pub(crate) struct RelockTable<'a>(pub(crate) &'a [Rounds]);

impl fmt::Display for RelockTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{:<16}", "locked after")?;
        for (_, spell) in shown() {
            write!(f, " {spell:>11}")?;
        }
        writeln!(f, " {:>11}", "xruns")?;
        for rounds in self.0 {
            write!(f, "{:<16}", rounds.strategy)?;
            for (number, _) in shown() {
                write!(f, " {:>11}", cell(rounds, number))?;
            }
            let xruns: u64 = rounds.used.iter().map(|report| report.xruns).sum();
            writeln!(f, " {xruns:>11}")?;
        }
        writeln!(
            f,
            "\nNotifications of each spell before the first ten in a row that were met while spinning: median and most of"
        )?;
        writeln!(f, "the rounds; never, if there was a round without. Xruns of all rounds together.")
    }
}

/// With their numbers; but while freewheeling there is nothing to find.
fn shown() -> impl Iterator<Item = (usize, Spell)> {
    Spell::ALL.into_iter().enumerate().filter(|(_, spell)| *spell != Spell::Freewheel)
}

fn cell(rounds: &Rounds, spell: usize) -> String {
    let after = |report: &Report| report.figures.relock.after().get(spell).copied();
    // A strategy that does not spin, or a round that was cut short.
    let Some(after) =
        rounds.used.iter().filter(|report| report.spins()).map(after).collect::<Option<Vec<_>>>()
    else {
        return "-".into();
    };
    let Some(mut after) = after.into_iter().collect::<Option<Vec<u64>>>() else { return "never".into() };
    after.sort_unstable();
    match (after.get(after.len() / 2), after.last()) {
        (Some(median), Some(most)) => format!("{median} / {most}"),
        _ => "-".into(),
    }
}
