//! The command line.

use std::str::FromStr;

pub(crate) const HELP: &str = "\
Uses everything at random, and checks that nothing is lost and nothing is left behind.

cargo run --release --features ring --example soak -- [OPTIONS]

  --seconds N     how long [60]
  --seed N        what is done, and in which order [1]; threads still meet as they like
  --lanes N       how many things are done at once [4]
  --patience N    after how many seconds a round counts as asleep for ever [60]
  --plant FAULT   do something wrong, to see that it is found: descriptor (keeps one open), count (adds one that was not
                  sent), wake (waits for what never comes)
  --help

Exit code 0: all totals are exact, and descriptors and memory are flat. 1: anything else, and one line says what. Memory
is judged from a minute on: until then allocators and stacks may grow to their size. With MALLOC_ARENA_MAX=1 glibc has one
heap, which reaches its size soon; with one per thread that takes many minutes.
";

/// What may be wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Descriptor,
    Count,
    Wake,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) lanes: u64,
    pub(crate) patience: u64,
    pub(crate) plant: Option<Fault>,
}

impl Options {
    /// `None` asks for the help text. The error is the line to print.
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
        let mut options = Options { seconds: 60, seed: 1, lanes: 4, patience: 60, plant: None };
        let mut args = args.into_iter();
        while let Some(option) = args.next() {
            if option == "--help" {
                return Ok(None);
            }
            let value = args.next().ok_or(format!("{option} is unknown or needs a value, see --help"))?;
            match option.as_str() {
                "--seconds" => options.seconds = number(&option, &value)?,
                "--seed" => options.seed = number(&option, &value)?,
                "--lanes" => options.lanes = number(&option, &value)?,
                "--patience" => options.patience = number(&option, &value)?,
                "--plant" => {
                    options.plant = Some(match value.as_str() {
                        "descriptor" => Fault::Descriptor,
                        "count" => Fault::Count,
                        "wake" => Fault::Wake,
                        _ => return Err(format!("no fault is called {value}, see --help")),
                    });
                }
                _ => return Err(format!("unknown option {option}, see --help")),
            }
        }
        Ok(Some(options))
    }
}

fn number<N: FromStr>(option: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("{option} is a number, not {value}"))
}
