//! The command line: what may be asked for, and one clear line for everything else.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use rt_notify_mio_alsa::Shape;

pub(crate) const HELP: &str = "\
Captures from ALSA devices and listens to notifications, in one mio loop.

cargo run --release -p rt-notify-mio-alsa -- [OPTIONS]

  --device NAME     the ALSA device; may be given several times [default]
  --seconds N       how long to capture [5]
  --channels N      [2]
  --rate HZ         [48000]
  --period FRAMES   frames per wake-up [64]
  --periods N       periods that the device can hold until they are read [16]
  --notify-hz N     notifications per second by another thread; 0: none [1000]
  --idle N          then stop the notifications, pause the devices, and count wake-ups for N seconds [0]
  --help

Exit code 0: all went well. 1: no notification or device to listen to, a device ended, a notification was lost, or
the loop was woken while it had nothing to do.
";

const SECONDS: RangeInclusive<u32> = 1..=86_400;
const IDLE: RangeInclusive<u32> = 0..=86_400;
const CHANNELS: RangeInclusive<u32> = 1..=256;
const RATE: RangeInclusive<u32> = 1_000..=768_000;
const PERIOD: RangeInclusive<u32> = 1..=65_536;
const PERIODS: RangeInclusive<u32> = 2..=1_024;
const NOTIFY_HZ: RangeInclusive<u32> = 0..=100_000;

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) devices: Vec<String>,
    pub(crate) seconds: u32,
    pub(crate) shape: Shape,
    pub(crate) notify_hz: u32,
    pub(crate) idle: u32,
}

/// `None` asks for the help text. The error is the line to print.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        devices: Vec::new(),
        seconds: 5,
        shape: Shape { channels: 2, rate: 48_000, period: 64, buffer: 0 },
        notify_hz: 1_000,
        idle: 0,
    };
    let mut periods = 16;
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
            "--device" => options.devices.push(value()?),
            "--seconds" => options.seconds = number(name, &value()?, SECONDS)?,
            "--channels" => options.shape.channels = number(name, &value()?, CHANNELS)?,
            "--rate" => options.shape.rate = number(name, &value()?, RATE)?,
            "--period" => options.shape.period = number(name, &value()?, PERIOD)?,
            "--periods" => periods = number(name, &value()?, PERIODS)?,
            "--notify-hz" => options.notify_hz = number(name, &value()?, NOTIFY_HZ)?,
            "--idle" => options.idle = number(name, &value()?, IDLE)?,
            _ => return Err(format!("unknown option {arg}, see --help")),
        }
    }
    if options.devices.is_empty() {
        options.devices.push("default".to_owned());
    }
    options.shape.buffer = options.shape.period * periods;
    Ok(Some(options))
}

fn number<N>(name: &str, value: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: FromStr + PartialOrd + Display,
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
        let line = "--device=a --device b --seconds 2 --channels=1 --rate 44100 --period=128 --periods 4 \
                    --notify-hz=0 --idle 3";
        let options = parse_words(line).unwrap().unwrap();
        assert_eq!(options.devices, ["a", "b"]);
        assert_eq!((options.seconds, options.notify_hz, options.idle), (2, 0, 3));
        let Shape { channels, rate, period, buffer } = options.shape;
        assert_eq!((channels, rate, period, buffer), (1, 44_100, 128, 512));
    }

    #[test]
    fn help_wins_over_what_follows_it() {
        assert!(parse_words("--seconds 3 --help --nonsense").unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_one_line_that_names_it() {
        for (line, named) in [
            ("--nonsense", "--nonsense"),
            ("hw:0", "hw:0"),
            ("--device", "--device"),
            ("--seconds 0", "--seconds"),
            ("--seconds 1.5", "--seconds"),
            ("--period -1", "--period"),
            ("--periods 1", "--periods"),
            ("--rate 99999999999", "--rate"),
        ] {
            let message = parse_words(line).unwrap_err();
            assert!(message.contains(named) && message.lines().count() == 1, "{line}: {message}");
        }
    }
}
