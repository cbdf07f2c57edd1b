//! What the worker may wait on, and how.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rt_notify::{Periodic, WaitStrategy};

/// What the worker sleeps on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// A `Waiter`.
    Futex,
    /// A `PollWaiter`, by its own waits.
    Pollable,
    /// The same, of the library built with its pipe in place of the eventfd.
    Pipe,
    /// A `PollLoop` in a loop around `mio::Poll`.
    Mio,
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(value: &str) -> Result<Self, String> {
        match value {
            "futex" => Ok(Backend::Futex),
            "pollable" => Ok(Backend::Pollable),
            "pipe" => Ok(Backend::Pipe),
            "mio" => Ok(Backend::Mio),
            _ => Err(format!("--backend is futex, pollable, pipe or mio, not {value}")),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Backend::Futex => "futex",
            Backend::Pollable => "pollable",
            Backend::Pipe => "pipe",
            Backend::Mio => "mio",
        })
    }
}

/// How a `Waiter` waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    Block,
    Spin(Duration),
    Interval(Duration),
    Periodic(Expect),
    /// No wait at all, but a loop around `try_wait`: nothing reacts faster.
    Bare,
}

/// How a periodic waiter knows when the next notification comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// From those before.
    Learn,
    /// From `expect_next`: the source knows.
    Hint,
    /// The period is told, the phase is learnt.
    Every(Duration),
}

/// Longer than most periods: between two callbacks the worker does not sleep.
const SPIN: Duration = Duration::from_micros(2_000);
const INTERVAL: Duration = Duration::from_micros(500);
const MOST_MICROS: u64 = 1_000_000;

impl Strategy {
    /// All that a comparison compares unless it is told otherwise.
    pub(crate) const COMPARED: [Strategy; 5] = [
        Strategy::Block,
        Strategy::Spin(SPIN),
        Strategy::Interval(INTERVAL),
        Strategy::Periodic(Expect::Learn),
        Strategy::Periodic(Expect::Hint),
    ];

    /// What the waiter is told. `None` if it never waits.
    pub(crate) fn of_waiter(self) -> Option<WaitStrategy> {
        Some(match self {
            Strategy::Block => WaitStrategy::Block,
            Strategy::Spin(long) => WaitStrategy::Spin(long),
            Strategy::Interval(every) => WaitStrategy::Interval(every),
            Strategy::Periodic(Expect::Learn | Expect::Hint) => WaitStrategy::Periodic(Periodic::learn()),
            Strategy::Periodic(Expect::Every(period)) => WaitStrategy::Periodic(Periodic::every(period)),
            Strategy::Bare => return None,
        })
    }

    /// Whether the source is to announce the next notification.
    pub(crate) fn takes_hints(self) -> bool {
        self == Strategy::Periodic(Expect::Hint)
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(value: &str) -> Result<Self, String> {
        let (name, detail) = match value.split_once(':') {
            Some((name, detail)) => (name, Some(detail)),
            None => (value, None),
        };
        match (name, detail) {
            ("block", None) => Ok(Strategy::Block),
            ("bare", None) => Ok(Strategy::Bare),
            ("spin", None) => Ok(Strategy::Spin(SPIN)),
            ("spin", Some(long)) => micros(value, long).map(Strategy::Spin),
            ("interval", None) => Ok(Strategy::Interval(INTERVAL)),
            ("interval", Some(every)) => micros(value, every).map(Strategy::Interval),
            ("periodic", None | Some("learn")) => Ok(Strategy::Periodic(Expect::Learn)),
            ("periodic", Some("hint")) => Ok(Strategy::Periodic(Expect::Hint)),
            ("periodic", Some(period)) => {
                micros(value, period).map(|period| Strategy::Periodic(Expect::Every(period)))
            }
            _ => Err(format!("--strategy is block, spin, interval, periodic or bare, not {value}")),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Strategy::Block => "block".to_owned(),
            Strategy::Spin(long) => format!("spin:{}", long.as_micros()),
            Strategy::Interval(every) => format!("interval:{}", every.as_micros()),
            Strategy::Periodic(Expect::Learn) => "periodic:learn".to_owned(),
            Strategy::Periodic(Expect::Hint) => "periodic:hint".to_owned(),
            Strategy::Periodic(Expect::Every(period)) => format!("periodic:{}", period.as_micros()),
            Strategy::Bare => "bare".to_owned(),
        })
    }
}

fn micros(whole: &str, value: &str) -> Result<Duration, String> {
    match value.parse() {
        Ok(micros) if (1..=MOST_MICROS).contains(&micros) => Ok(Duration::from_micros(micros)),
        _ => Err(format!("--strategy {whole}: {value} is no number of microseconds from 1 to {MOST_MICROS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_understood_as_it_is_shown() {
        for backend in [Backend::Futex, Backend::Pollable, Backend::Pipe, Backend::Mio] {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        let every = Strategy::Periodic(Expect::Every(Duration::from_micros(1_333)));
        for strategy in Strategy::COMPARED.into_iter().chain([Strategy::Bare, every]) {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        assert_eq!("spin".parse(), Ok(Strategy::Spin(SPIN)));
        assert_eq!("interval".parse(), Ok(Strategy::Interval(INTERVAL)));
        assert_eq!("periodic".parse(), Ok(Strategy::Periodic(Expect::Learn)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_one_line_that_names_it() {
        for value in ["", "nap", "block:1", "spin:", "spin:0", "interval:1.5", "periodic:9999999", "bare:1"] {
            let message = value.parse::<Strategy>().unwrap_err();
            assert!(message.contains(value) && message.lines().count() == 1, "{value}: {message}");
        }
        assert!("epoll".parse::<Backend>().unwrap_err().contains("epoll"));
    }
}
