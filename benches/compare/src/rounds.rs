//! Rounds: every case once in each, in an order drawn anew, so that what changes on the machine hits all alike.

use std::collections::BTreeMap;

use crate::common::stats::{Estimate, Sorted};
use crate::machine::Spent;
use crate::results::{Row, Table};
use crate::watchdog;

/// What one round of one case has found.
#[derive(Default)]
pub(crate) struct Sample {
    /// By column.
    pub(crate) values: Vec<(&'static str, f64)>,
    /// Single times in nanoseconds, to be put together with those of the other rounds.
    pub(crate) times: Vec<(&'static str, Vec<u64>)>,
}

impl Sample {
    pub(crate) fn of(column: &'static str, value: f64) -> Self {
        Sample { values: vec![(column, value)], times: Vec::new() }
    }
}

/// Something to measure.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) ours: bool,
    pub(crate) run: Box<dyn FnMut() -> Result<Sample, String> + 'a>,
}

/// What is measured, for the head of the table.
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) columns: &'static [&'static str],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// How many good ones are wanted. There are half as many again at most.
    pub(crate) wanted: usize,
    /// Those with a larger share of steal are not used.
    pub(crate) steal_limit: f64,
}

/// What has been found for a case so far.
#[derive(Default)]
struct Found {
    values: BTreeMap<&'static str, Vec<f64>>,
    times: BTreeMap<&'static str, Vec<u64>>,
    good: usize,
    discarded: usize,
    missing: Option<String>,
}

pub(crate) fn take(head: Head, mut cases: Vec<Case<'_>>, rounds: Rounds, random: &mut Random) -> Table {
    let mut found: Vec<Found> = cases.iter().map(|_| Found::default()).collect();
    let start = Spent::so_far();
    for _ in 0..rounds.wanted + rounds.wanted / 2 {
        let open = |found: &Found| found.missing.is_none() && found.good < rounds.wanted;
        let mut order: Vec<usize> = (0..cases.len()).filter(|&i| open(&found[i])).collect();
        random.shuffle(&mut order);
        for i in order {
            let case = &mut cases[i];
            let before = Spent::so_far();
            let sample = watchdog::watch(format!("{}: {}", head.id, case.name), &mut case.run);
            let stolen = Spent::so_far().since(before).stolen;
            found[i].add(sample, stolen > rounds.steal_limit);
        }
    }
    let shares = Spent::so_far().since(start);
    Table {
        id: head.id,
        title: head.title,
        note: head.note,
        columns: head.columns.iter().map(|&column| column.to_owned()).collect(),
        rounds: rounds.wanted,
        steal: shares.stolen,
        others: shares.others,
        rows: cases.iter().zip(found).map(|(case, found)| found.row(case)).collect(),
    }
}

impl Found {
    fn add(&mut self, sample: Result<Sample, String>, stolen: bool) {
        match sample {
            Err(reason) => self.missing = Some(reason),
            Ok(_) if stolen => self.discarded += 1,
            Ok(sample) => {
                self.good += 1;
                for (column, value) in sample.values {
                    self.values.entry(column).or_default().push(value);
                }
                for (name, times) in sample.times {
                    self.times.entry(name).or_default().extend(times);
                }
            }
        }
    }

    fn row(self, case: &Case<'_>) -> Row {
        let values = self.values.into_iter();
        let curves =
            self.times.into_iter().map(|(name, times)| (name.to_owned(), Sorted::new(times).curve()));
        let estimates =
            values.filter_map(|(column, values)| Some((column.to_owned(), Estimate::of(&values)?.into())));
        let all_stolen = self.good == 0 && self.discarded > 0;
        let stolen = || format!("all {} rounds lost to steal", self.discarded);
        Row {
            name: case.name.clone(),
            class: case.class.to_owned(),
            ours: case.ours,
            values: estimates.collect(),
            curves: curves.collect(),
            discarded: self.discarded,
            missing: self.missing.or_else(|| all_stolen.then(stolen)),
        }
    }
}

/// Marsaglia's xorshift: enough to shuffle with.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for i in (1..items.len()).rev() {
            let n = u64::try_from(i).expect("a small number") + 1;
            let j = usize::try_from(self.next() % n).expect("smaller than i + 1");
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case<'a>(name: &str, run: impl FnMut() -> Result<Sample, String> + 'a) -> Case<'a> {
        Case { name: name.into(), class: "test", ours: false, run: Box::new(run) }
    }

    fn run(cases: Vec<Case<'_>>, steal_limit: f64) -> Table {
        let head = Head { id: "t".into(), title: String::new(), note: String::new(), columns: &["ns"] };
        take(head, cases, Rounds { wanted: 8, steal_limit }, &mut Random::new(1))
    }

    #[test]
    fn every_case_runs_once_a_round() {
        let order = std::cell::RefCell::new(Vec::new());
        let note = |name| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(Sample::of("ns", 1.0))
            }
        };
        let table = run(vec![case("a", note(0)), case("b", note(1)), case("c", note(2))], 1.0);
        let order = order.into_inner();
        assert_eq!(order.len(), 24);
        assert!(order.chunks(3).all(|round| round.iter().sum::<u32>() == 3));
        assert!(order.chunks(3).any(|round| round != [0, 1, 2]));
        assert_eq!(table.main_value("b").unwrap().n, 8);
    }

    #[test]
    fn stolen_rounds_are_counted_and_not_used() {
        // Any steal is more than a negative share.
        let table = run(vec![case("a", || Ok(Sample::of("ns", 1.0)))], -1.0);
        assert_eq!(table.rows[0].discarded, 12);
        assert!(table.main_value("a").is_none());
        assert!(table.rows[0].missing.is_some());
    }

    #[test]
    fn a_case_that_fails_is_not_run_again() {
        let mut runs = 0;
        let table = run(
            vec![case("a", || {
                runs += 1;
                Err("no such thing".into())
            })],
            1.0,
        );
        assert_eq!(table.rows[0].missing.as_deref(), Some("no such thing"));
        assert_eq!(runs, 1);
    }
}
