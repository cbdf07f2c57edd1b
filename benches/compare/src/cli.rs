//! The command line.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::experiments::{self, Context, Size};
use crate::rounds::{Random, Rounds};
use crate::seed;

pub(crate) const HELP: &str = "\
rt-notify-compare: rt-notify beside the other ways to wake a thread

  list                          the mechanisms, experiments and presets
  run [options]                 measure, and print the tables
  report --out DIR [options]    measure, and write tables and plots
  report --out DIR --from FILE  write them from an earlier run
  compare OLD.json NEW.json     two runs side by side
  --seed NAME [--scale X] [--unpinned]
                                a measurement that others published, again

options:
  --quick             all of it in less than a minute: to see that it works
  --only A,B          these experiments
  --mechanism A,B     mechanisms with these parts in their names
  --rounds N          how many rounds (15)
  --steal PERCENT     rounds with more steal are not used (1)
  --random N          draws the order of the rounds
  --json FILE         writes the results as well
";

pub(crate) enum Command {
    Help,
    List,
    Run(Measure),
    Report {
        out: String,
        from: Option<String>,
        measure: Measure,
    },
    Compare {
        old: String,
        new: String,
    },
    Seed {
        name: String,
        options: seed::Options,
    },
    /// Of the `ipc` preset.
    Receive {
        kind: String,
        place: String,
        n: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Measure {
    pub(crate) quick: bool,
    pub(crate) only: Vec<String>,
    pub(crate) mechanisms: Vec<String>,
    pub(crate) rounds: Option<usize>,
    pub(crate) steal_limit: f64,
    pub(crate) random: u64,
    pub(crate) json: Option<String>,
}

impl Measure {
    pub(crate) fn context(&self) -> Context {
        let wanted = self.rounds.unwrap_or(if self.quick { 2 } else { 15 });
        let rounds = Rounds { wanted, steal_limit: self.steal_limit };
        let size = if self.quick {
            Size {
                rounds,
                trips: 100,
                loops: 2000,
                notifications: 30,
                periods: 10,
                contended: 1000,
                critical_sections: 5000,
                all_numbers: false,
            }
        } else {
            Size {
                rounds,
                trips: 2000,
                loops: 20_000,
                notifications: 300,
                periods: 100,
                contended: 10_000,
                critical_sections: 200_000,
                all_numbers: true,
            }
        };
        Context { size, random: Random::new(self.random), mechanisms: self.mechanisms.clone() }
    }
}

pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut words = Vec::new();
    let mut given = Given::default();
    let mut args = args;
    while let Some(arg) = args.next() {
        if arg.starts_with("--") { given.take(&arg, &mut args)? } else { words.push(arg) }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(name) = given.seed.take() {
        return match words[..] {
            [] => Ok(Command::Seed { name, options: given.seed_options() }),
            [word, ..] => Err(format!("`{word}` besides --seed")),
        };
    }
    match words[..] {
        _ if given.help => Ok(Command::Help),
        ["list"] => Ok(Command::List),
        ["run"] => Ok(Command::Run(given.measure()?)),
        ["report"] => {
            let out = given.out.take().ok_or("report needs --out DIR")?;
            Ok(Command::Report { out, from: given.from.take(), measure: given.measure()? })
        }
        ["compare", old, new] => Ok(Command::Compare { old: old.into(), new: new.into() }),
        ["compare", ..] => Err("compare needs two files".into()),
        ["ipc-receive", kind, place, n] => {
            Ok(Command::Receive { kind: kind.into(), place: place.into(), n: number("n", n)? })
        }
        [] => Err("nothing to do; --help tells what there is".into()),
        [word, ..] => Err(format!("no command `{word}`; --help tells what there is")),
    }
}

/// The options as they stand.
#[derive(Default)]
struct Given {
    help: bool,
    quick: bool,
    unpinned: bool,
    out: Option<String>,
    from: Option<String>,
    json: Option<String>,
    seed: Option<String>,
    only: Vec<String>,
    mechanisms: Vec<String>,
    rounds: Option<usize>,
    random: Option<u64>,
    steal: Option<f64>,
    scale: Option<f64>,
}

impl Given {
    fn take(&mut self, name: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), String> {
        let mut value = || rest.next().ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--help" => self.help = true,
            "--quick" => self.quick = true,
            "--unpinned" => self.unpinned = true,
            "--out" => self.out = Some(value()?),
            "--from" => self.from = Some(value()?),
            "--json" => self.json = Some(value()?),
            "--seed" => self.seed = Some(value()?),
            "--only" => self.only = list(&value()?),
            "--mechanism" => self.mechanisms = list(&value()?),
            "--rounds" => self.rounds = Some(number(name, &value()?)?),
            "--random" => self.random = Some(number(name, &value()?)?),
            "--steal" => self.steal = Some(number(name, &value()?)?),
            "--scale" => self.scale = Some(number(name, &value()?)?),
            _ => return Err(format!("no option `{name}`; --help tells what there is")),
        }
        if self.rounds == Some(0) {
            return Err("--rounds: at least 1".into());
        }
        if self.scale.is_some_and(|scale| !(scale > 0.0 && scale <= 1.0)) {
            return Err("--scale: above 0, and 1 at most".into());
        }
        if self.steal.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            return Err("--steal: between 0 and 100".into());
        }
        Ok(())
    }

    fn measure(self) -> Result<Measure, String> {
        let known =
            |name: &&String| experiments::ALL.iter().any(|experiment| experiment.name == name.as_str());
        if let Some(name) = self.only.iter().find(|name| !known(name)) {
            return Err(format!("no experiment `{name}`; list tells what there is"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
        Ok(Measure {
            quick: self.quick,
            only: self.only,
            mechanisms: self.mechanisms,
            rounds: self.rounds,
            steal_limit: self.steal.unwrap_or(1.0) / 100.0,
            random: self.random.unwrap_or(now),
            json: self.json,
        })
    }

    fn seed_options(&self) -> seed::Options {
        seed::Options { scale: self.scale.unwrap_or(1.0), unpinned: self.unpinned }
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

fn number<N: std::str::FromStr>(name: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{name}: `{text}` is not a number it can be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        parse(line.split_whitespace().map(str::to_owned)).err().unwrap_or_default()
    }

    #[test]
    fn bad_input_is_named() {
        assert!(error("").contains("--help"));
        assert!(error("frobnicate").contains("`frobnicate`"));
        assert!(error("run --only nothing").contains("`nothing`"));
        assert!(error("run --rounds many").contains("`many`"));
        assert!(error("run --rounds 0").contains("at least 1"));
        assert!(error("run --json").contains("needs a value"));
        assert!(error("report").contains("--out"));
        assert!(error("compare one.json").contains("two files"));
        assert!(error("--seed pv --scale 2").contains("--scale"));
        assert!(error("--seed pv run").contains("`run`"));
    }

    #[test]
    fn good_input_is_taken() {
        for line in
            ["list", "run --quick --only locks", "report --out x --from y", "compare a b", "--seed pv"]
        {
            assert_eq!(error(line), "", "{line}");
        }
    }
}
