//! The command line of `jack_capture` and `jack_playback`, and one clear line for what it cannot mean.

use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::str::FromStr;

use super::output::print;

/// Seconds of sound; a day at most, so that no conversion to frames overflows.
const SECONDS: RangeInclusive<f64> = 0.001..=86_400.0;
const BUFFER: RangeInclusive<f64> = 0.001..=600.0;
const CHANNELS: RangeInclusive<u16> = 1..=32;

/// A program: reads the command line, does what it asks for, and says why if that is impossible. The `body` returns
/// the exit code.
pub(crate) fn run(
    program: &str,
    help: &str,
    known: &[&str],
    body: impl FnOnce(&Options) -> Result<u8, String>,
) -> ExitCode {
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let done = match Options::parse(program, known, args) {
        Ok(Some(options)) => body(&options),
        Ok(None) => print(help).map(|()| 0),
        Err(message) => Err(message),
    };
    done.map_or_else(
        |message| {
            eprintln!("{program}: {message}");
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}

/// What may be asked for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) file: String,
    /// The ports to connect with, in the order of the channels.
    pub(crate) ports: Vec<String>,
    channels: Option<u16>,
    /// The client's name.
    pub(crate) name: String,
    /// Seconds that the ring holds.
    pub(crate) buffer: f64,
    pub(crate) duration: Option<f64>,
}

#[allow(dead_code, reason = "each program uses a part of it")]
impl Options {
    /// Parses the command line of `program`, which knows the options in `known`. `None` asks for the help text. The
    /// error is the line to print.
    pub(crate) fn parse(
        program: &str,
        known: &[&str],
        args: impl IntoIterator<Item = String>,
    ) -> Result<Option<Options>, String> {
        let mut file = None;
        let mut options = Options {
            file: String::new(),
            ports: Vec::new(),
            channels: None,
            name: program.to_owned(),
            buffer: 5.0,
            duration: None,
        };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            if arg == "--help" || arg == "-h" {
                return Ok(None);
            }
            if !arg.starts_with('-') {
                if file.replace(arg).is_some() {
                    return Err("one file at a time, see --help".to_owned());
                }
                continue;
            }
            let (option, value) = match arg.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            if !known.contains(&option) {
                return Err(format!("unknown option {arg}, see --help"));
            }
            let value = value.or_else(|| args.next()).ok_or(format!("{option} needs a value, see --help"))?;
            match option {
                "--duration" => options.duration = Some(number(option, &value, SECONDS)?),
                "--buffer" => options.buffer = number(option, &value, BUFFER)?,
                "--channels" => options.channels = Some(number(option, &value, CHANNELS)?),
                "--port" => options.ports.push(value),
                _ => options.name = value,
            }
        }
        options.file = file.ok_or("which file? see --help")?;
        options.check_name()?;
        let (ports, channels) = (options.ports.len(), options.channels());
        if ports > channels.into() {
            return Err(format!("{ports} ports are more than {channels} channels"));
        }
        Ok(Some(options))
    }

    /// A client of the server's name would replace the server's socket with its own.
    fn check_name(&self) -> Result<(), String> {
        let server = std::env::var("JACK_DEFAULT_SERVER").unwrap_or_else(|_| "default".to_owned());
        if self.name.is_empty() || self.name.contains(':') || self.name == server {
            return Err(format!("a client cannot be called {:?}", self.name));
        }
        Ok(())
    }

    pub(crate) fn channels(&self) -> u16 {
        let ports = u16::try_from(self.ports.len()).unwrap_or(u16::MAX);
        self.channels.unwrap_or(if ports == 0 { 2 } else { ports })
    }

    /// The ring's size in frames at `rate` frames per second.
    pub(crate) fn buffer_frames(&self, rate: u32) -> usize {
        usize::try_from(frames(self.buffer, rate)).unwrap_or(usize::MAX).max(2)
    }
}

/// How many frames `seconds` seconds are.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and a day at most")]
pub(crate) fn frames(seconds: f64, rate: u32) -> u64 {
    (seconds * f64::from(rate)).round() as u64
}

/// How many seconds `frames` frames are.
#[allow(clippy::cast_precision_loss, reason = "three decimals are printed")]
pub(crate) fn seconds(frames: u64, rate: u32) -> f64 {
    frames as f64 / f64::from(rate)
}

fn number<N>(option: &str, value: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: FromStr + PartialOrd + std::fmt::Display,
{
    match value.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("{option} is a number from {} to {}, not {value}", range.start(), range.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = ["--duration", "--channels", "--port", "-n", "--buffer"];

    fn parse_words(line: &str) -> Result<Option<Options>, String> {
        Options::parse("program", &KNOWN, line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_option_is_understood_with_a_space_or_an_equals_sign() {
        let line = "--duration 1.5 --channels=3 --port a:b --port=c:d -n me --buffer 0.5 take.wav";
        let options = parse_words(line).unwrap().unwrap();
        assert_eq!((options.duration, options.channels(), options.buffer), (Some(1.5), 3, 0.5));
        assert_eq!(options.ports, ["a:b", "c:d"]);
        assert_eq!((options.name.as_str(), options.file.as_str()), ("me", "take.wav"));
    }

    #[test]
    fn there_are_as_many_channels_as_ports_or_two() {
        let channels = |line| parse_words(line).unwrap().unwrap().channels();
        assert_eq!(channels("take.wav"), 2);
        assert_eq!(channels("--port a:b take.wav"), 1);
        assert_eq!(channels("--channels 3 --port a:b take.wav"), 3);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_one_line_that_names_it() {
        for (line, named) in [
            ("", "file"),
            ("a.wav b.wav", "file"),
            ("--nonsense a.wav", "--nonsense"),
            ("a.wav --buffer", "--buffer"),
            ("--buffer 0 a.wav", "--buffer"),
            ("--buffer NaN a.wav", "--buffer"),
            ("--duration -1 a.wav", "--duration"),
            ("--channels 0 a.wav", "--channels"),
            ("--channels 1.5 a.wav", "--channels"),
            ("--channels 1 --port a:b --port c:d a.wav", "ports"),
            ("-n a:b a.wav", "a:b"),
        ] {
            let message = parse_words(line).unwrap_err();
            assert!(message.contains(named) && message.lines().count() == 1, "{line}: {message}");
        }
    }
}
