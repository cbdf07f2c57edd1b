//! The command line.

use std::str::FromStr;

pub(crate) const HELP: &str = "\
Uses everything at random, and checks that nothing is lost and nothing is left behind.

cargo run --release --features ring --example soak -- [OPTIONS]

  --seconds N     how long [60]
  --seed N        what is done, and in which order [1]; threads still meet as they like
  --lanes N       how many things are done at once [4]
  --patience N    after how many seconds a round counts as asleep for ever [60]
  --plant FAULT   do something wrong, to see that it is found: descriptor (keeps one open), memory (keeps a byte),
                  count (adds one that was not sent), wake (waits for what never comes)
  --help

Exit code 0: all totals are exact; descriptors, and what is allocated, are to the byte what they were after the first
second; and resident memory is flat. 1: anything else, and one line says what.

Resident memory is judged from a minute on, by halves of the run: until then stacks and heaps may grow to their size. That
of glibc's heaps, one per thread, and of the stacks it keeps for later depends on which threads met, and grows for hours:
GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.pthread.stack_cache_size=0 spares one the doubt.
";

/// What may be wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Descriptor,
    Count,
    Wake,
    Memory,
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
                        "memory" => Fault::Memory,
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
