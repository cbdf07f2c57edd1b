//! The command line: what may be asked for, and one clear line for everything else.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use rt_notify::Priority;

use super::choices::{Backend, Strategy};

pub(crate) const HELP: &str = "\
Measures how fast a worker reacts to notify() from an audio callback, and that no notification is lost.

cargo run --release [--features jack,mio] --example latency -- [OPTIONS]

  --source auto|jack|clock  auto: a running JACK server; else a private one without a sound card, if jackd is
                            installed; else the built-in clock. jack: the same, but never the clock. [auto]
  --seconds N               how long to measure, each time [5]
  --period FRAMES           frames per callback [64]  } the clock's and the private server's;
  --rate HZ                 frames per second [48000] } a running server has its own
  --priority P              the worker's: nice:-20, fifo:60, rr:10 or inherit [nice:-20]
  --cpu N                   keep the worker to this CPU, and the clock's thread to another one
  --load PERCENT            other work, for a random time from 0 to twice that share of a period: on JACK, a client
                            in front of ours does it in each cycle; beside the clock, a thread with nice 0 does it
                            once per period, on any CPU. 1 to 50 [none]
  --awake                   keep all CPUs from falling asleep, by threads that run only while no other wants to: for
                            virtual machines, where waking a CPU takes longer than what is measured
  --disturb                 on a private JACK server: in mid-run the callback takes 60 % of the period for a while, the
                            period is 16 times as long for another, and then the server freewheels. Says how many
                            notifications it took to find the rest while spinning again. Needs --source jack

  --backend B               what the worker sleeps on [futex]:
      futex                 a Waiter
      pollable              a PollWaiter, by its own waits: eventfd
      pipe                  the same with the library's other descriptor: a pipe
      mio                   a PollLoop in a loop around mio::Poll (--features mio)
  --strategy S[,S...]       how a Waiter waits, so for --backend futex [block]; several are compared:
      block                 sleep until notified
      spin[:MICROS]         look for so long, then sleep [2000]; with a realtime priority the kernel may take the CPU
                            away from it for 50 ms of each second
      interval[:MICROS]     look every so often, and never ask to be woken [500]
      periodic[:learn]      wake just before the next notification, which is learnt from those before
      periodic:hint         the same, but announced by the source, from JACK's cycle times or the clock's schedule
      periodic:MICROS       the same, but with this period at first
      bare                  no wait, but a loop around try_wait: the floor, and not for realtime priorities
  --compare                 compare block, spin, interval, periodic:learn and periodic:hint, or those of --strategy:
                            all in turn, in each round; one table of the medians
  --rounds N                rounds of a comparison [3]
  --max-steal PERCENT       rounds from which the hypervisor took more are not used [1]

  --json FILE               write all numbers; times in nanoseconds
  --svg FILE                draw the distribution of times; of a comparison, that of the wake-up by each strategy
  --help

Exit code 0: all was as asked (or ended by Ctrl-C), and nothing was lost. 1: anything else.
";

const SECONDS: RangeInclusive<u32> = 1..=86_400;
const PERIOD: RangeInclusive<u32> = 1..=8_192;
const RATE: RangeInclusive<u32> = 8_000..=384_000;
const NICE: RangeInclusive<i8> = -20..=19;
const REALTIME: RangeInclusive<u8> = 1..=99;
const ROUNDS: RangeInclusive<u32> = 1..=1_000;
const CPU: RangeInclusive<usize> = 0..=1_023;
/// Twice as much is a whole period.
const LOAD: RangeInclusive<u32> = 1..=50;
/// For more than 50 of the long periods.
const DISTURBED_SECONDS: u32 = 10;
/// 16 times as much is the longest that JACK knows.
const DISTURBED_PERIOD: u32 = 512;
const STEAL: RangeInclusive<u32> = 0..=100;

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
    pub(crate) cpu: Option<usize>,
    /// A share of the period in percent.
    pub(crate) load: Option<u32>,
    /// No CPU is to fall asleep.
    pub(crate) awake: bool,
    pub(crate) disturb: bool,
    pub(crate) backend: Backend,
    /// At least one.
    pub(crate) strategies: Vec<Strategy>,
    /// Several rounds and one table, in place of one run and its report.
    pub(crate) compare: bool,
    pub(crate) rounds: u32,
    /// In percent of all CPU time.
    pub(crate) max_steal: u32,
    pub(crate) json: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            source: SourceChoice::Auto,
            seconds: 5,
            period: 64,
            rate: 48_000,
            priority: Priority::Nice(-20),
            cpu: None,
            load: None,
            awake: false,
            disturb: false,
            backend: Backend::Futex,
            strategies: Vec::new(),
            compare: false,
            rounds: 3,
            max_steal: 1,
            json: None,
            svg: None,
        }
    }
}

/// `None` asks for the help text. The error is the line to print.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        match (name, &value) {
            ("--help" | "-h", None) => return Ok(None),
            ("--compare", None) => {
                options.compare = true;
                continue;
            }
            ("--awake", None) => {
                options.awake = true;
                continue;
            }
            ("--disturb", None) => {
                options.disturb = true;
                continue;
            }
            _ => {}
        }
        let mut value = || {
            value.clone().or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value, see --help"))
        };
        match name {
            "--source" => options.source = source(&value()?)?,
            "--seconds" => options.seconds = number(name, &value()?, SECONDS)?,
            "--period" => options.period = number(name, &value()?, PERIOD)?,
            "--rate" => options.rate = number(name, &value()?, RATE)?,
            "--priority" => options.priority = priority(&value()?)?,
            "--cpu" => options.cpu = Some(number(name, &value()?, CPU)?),
            "--load" => options.load = Some(number(name, &value()?, LOAD)?),
            "--backend" => options.backend = value()?.parse()?,
            "--strategy" => options.strategies = strategies(&value()?)?,
            "--rounds" => options.rounds = number(name, &value()?, ROUNDS)?,
            "--max-steal" => options.max_steal = number(name, &value()?, STEAL)?,
            "--json" => options.json = Some(value()?.into()),
            "--svg" => options.svg = Some(value()?.into()),
            _ => return Err(format!("unknown option {arg}, see --help")),
        }
    }
    complete(options).map(Some)
}

/// Fills in what follows from the rest, and refuses what contradicts it.
fn complete(mut options: Options) -> Result<Options, String> {
    let default = if options.compare { Strategy::COMPARED.to_vec() } else { vec![Strategy::Block] };
    let waits_by_choice = options.compare || !options.strategies.is_empty();
    if waits_by_choice && options.backend != Backend::Futex {
        return Err(format!("--strategy and --compare need --backend futex, not {}", options.backend));
    }
    if options.disturb && options.source != SourceChoice::Jack {
        return Err("--disturb needs --source jack".into());
    }
    if options.disturb && options.seconds < DISTURBED_SECONDS {
        return Err(format!("--disturb needs --seconds {DISTURBED_SECONDS} or more"));
    }
    if options.disturb && options.period > DISTURBED_PERIOD {
        return Err(format!("--disturb needs --period {DISTURBED_PERIOD} or less"));
    }
    if options.strategies.is_empty() {
        options.strategies = default;
    }
    options.compare |= options.strategies.len() > 1;
    if options.strategies.contains(&Strategy::Bare)
        && matches!(options.priority, Priority::Fifo(_) | Priority::RoundRobin(_))
    {
        return Err("--strategy bare never sleeps: not with a realtime --priority".into());
    }
    Ok(options)
}

fn strategies(value: &str) -> Result<Vec<Strategy>, String> {
    value.split(',').map(str::parse).collect()
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
    use std::time::Duration;

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
        let line = "--cpu 1 --load=30 --backend pipe --rounds 5 --max-steal=7 --json a.json --svg=b.svg";
        let options = parse_words(line).unwrap().unwrap();
        assert_eq!((options.cpu, options.load, options.backend), (Some(1), Some(30), Backend::Pipe));
        assert_eq!((options.rounds, options.max_steal), (5, 7));
        assert_eq!((options.json, options.svg), (Some("a.json".into()), Some("b.svg".into())));
    }

    #[test]
    fn a_comparison_is_of_all_strategies_or_of_those_that_are_named() {
        let options = |line| parse_words(line).unwrap().unwrap();
        let alone = options("--strategy spin:70");
        assert_eq!(alone.strategies, [Strategy::Spin(Duration::from_micros(70))]);
        assert!(!alone.compare && !options("").compare);
        assert_eq!(options("").strategies, [Strategy::Block]);
        assert_eq!(options("--compare").strategies, Strategy::COMPARED);
        let two = options("--strategy block,bare");
        assert!(two.compare);
        assert_eq!(two.strategies, [Strategy::Block, Strategy::Bare]);
        assert!(options("--compare --strategy block").compare);
    }

    #[test]
    fn a_run_is_disturbed_if_that_is_asked_for() {
        assert!(parse_words("--source jack --disturb --seconds 10").unwrap().unwrap().disturb);
        assert!(!parse_words("--source jack --seconds 10").unwrap().unwrap().disturb);
    }

    #[test]
    fn cpus_are_kept_awake_if_that_is_asked_for() {
        assert!(parse_words("--awake").unwrap().unwrap().awake);
        assert!(!parse_words("").unwrap().unwrap().awake);
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
            ("--cpu x", "--cpu"),
            ("--load 0", "--load"),
            ("--load 51", "--load"),
            ("--backend epoll", "epoll"),
            ("--backend mio --strategy spin", "--backend futex"),
            ("--backend pipe --compare", "--backend futex"),
            ("--strategy nap", "nap"),
            ("--strategy block,spin:x", "spin:x"),
            ("--strategy bare --priority fifo:60", "bare"),
            ("--compare=yes", "--compare=yes"),
            ("--rounds 0", "--rounds"),
            ("--max-steal 101", "--max-steal"),
            ("--json", "--json"),
            ("--disturb --seconds 10", "--source jack"),
            ("--source jack --disturb", "--seconds"),
            ("--source jack --disturb --seconds 10 --period 1024", "--period"),
            ("--disturb=yes", "--disturb=yes"),
            ("--awake=1", "--awake=1"),
        ] {
            let message = parse_words(line).unwrap_err();
            assert!(message.contains(named) && message.lines().count() == 1, "{line}: {message}");
        }
    }
}
