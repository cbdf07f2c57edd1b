//! The command line: what may be asked for, and one clear line for everything else.

use std::ops::RangeInclusive;
use std::str::FromStr;

use rt_notify::Priority;

pub(crate) const HELP: &str = "\
Measures how fast a worker reacts to notify() from an audio callback, and that no notification is lost.

cargo run --release [--features jack] --example latency -- [OPTIONS]

  --source auto|jack|clock  auto: a running JACK server; else a private one without a sound card, if jackd is
                            installed; else the built-in clock. jack: the same, but never the clock. [auto]
  --seconds N               how long to measure [5]
  --period FRAMES           frames per callback [64]  } the clock's and the private server's;
  --rate HZ                 frames per second [48000] } a running server has its own
  --priority P              the worker's: nice:-20, fifo:60, rr:10 or inherit [nice:-20]
  --help

Exit code 0: the run was as asked (or ended by Ctrl-C), and nothing was lost. 1: anything else.
";

const SECONDS: RangeInclusive<u32> = 1..=86_400;
const PERIOD: RangeInclusive<u32> = 1..=8_192;
const RATE: RangeInclusive<u32> = 8_000..=384_000;
const NICE: RangeInclusive<i8> = -20..=19;
const REALTIME: RangeInclusive<u8> = 1..=99;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceChoice {
    Auto,
    Jack,
    Clock,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) source: SourceChoice,
    pub(crate) seconds: u32,
    pub(crate) period: u32,
    pub(crate) rate: u32,
    pub(crate) priority: Priority,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            source: SourceChoice::Auto,
            seconds: 5,
            period: 64,
            rate: 48_000,
            priority: Priority::Nice(-20),
        }
    }
}

/// `None` asks for the help text. The error is the line to print.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(None);
        }
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut value = || {
            value.clone().or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value, see --help"))
        };
        match name {
            "--source" => options.source = source(&value()?)?,
            "--seconds" => options.seconds = number(name, &value()?, SECONDS)?,
            "--period" => options.period = number(name, &value()?, PERIOD)?,
            "--rate" => options.rate = number(name, &value()?, RATE)?,
            "--priority" => options.priority = priority(&value()?)?,
            _ => return Err(format!("unknown option {arg}, see --help")),
        }
    }
    Ok(Some(options))
}

fn source(value: &str) -> Result<SourceChoice, String> {
    match value {
        "auto" => Ok(SourceChoice::Auto),
        "jack" => Ok(SourceChoice::Jack),
        "clock" => Ok(SourceChoice::Clock),
        _ => Err(format!("--source is auto, jack or clock, not {value}")),
    }
}

fn priority(value: &str) -> Result<Priority, String> {
    match value.split_once(':') {
        None if value == "inherit" => Ok(Priority::Inherit),
        Some(("nice", n)) => number("--priority nice", n, NICE).map(Priority::Nice),
        Some(("fifo", n)) => number("--priority fifo", n, REALTIME).map(Priority::Fifo),
        Some(("rr", n)) => number("--priority rr", n, REALTIME).map(Priority::RoundRobin),
        _ => Err(format!("--priority is nice:N, fifo:N, rr:N or inherit, not {value}")),
    }
}

fn number<N>(name: &str, value: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: FromStr + PartialOrd + std::fmt::Display,
{
    match value.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("{name} is a number from {} to {}, not {value}", range.start(), range.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Result<Option<Options>, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_option_is_understood_with_a_space_or_an_equals_sign() {
        let line = "--source=clock --seconds 2 --period=48 --rate 44100 --priority fifo:60";
        let options = parse_words(line).unwrap().unwrap();
        assert_eq!(options.source, SourceChoice::Clock);
        assert_eq!((options.seconds, options.period, options.rate), (2, 48, 44_100));
        assert!(matches!(options.priority, Priority::Fifo(60)));
    }

    #[test]
    fn every_kind_of_priority_is_understood() {
        let priority = |value| parse_words(&format!("--priority {value}")).unwrap().unwrap().priority;
        assert!(matches!(priority("nice:-20"), Priority::Nice(-20)));
        assert!(matches!(priority("rr:10"), Priority::RoundRobin(10)));
        assert!(matches!(priority("inherit"), Priority::Inherit));
    }

    #[test]
    fn help_wins_over_what_follows_it() {
        assert!(parse_words("--seconds 3 --help --nonsense").unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_one_line_that_names_it() {
        for (line, named) in [
            ("--nonsense", "--nonsense"),
            ("17", "17"),
            ("--seconds", "--seconds"),
            ("--seconds 0", "--seconds"),
            ("--seconds -1", "--seconds"),
            ("--seconds 1.5", "--seconds"),
            ("--period 0", "--period"),
            ("--rate 99999999999", "--rate"),
            ("--source alsa", "alsa"),
            ("--priority 5", "--priority"),
            ("--priority nice:-21", "nice"),
            ("--priority fifo:0", "fifo"),
            ("--priority fifo:100", "fifo"),
        ] {
            let message = parse_words(line).unwrap_err();
            assert!(message.contains(named) && message.lines().count() == 1, "{line}: {message}");
        }
    }
}
