//! Where callbacks come from: what every source can do, and which one is taken.

use super::args::{Options, SourceChoice};
use super::backend::Stop;
use super::clock::Clock;
use super::probe::Probe;

/// A source that is ready to start, as often as one likes.
pub(crate) trait Source {
    /// One line for the head of the report.
    fn describe(&self) -> String;

    /// The realtime priority that the audio thread will have, if it will have one.
    fn audio_priority(&self) -> Option<u8>;

    /// Starts the callbacks. A callback that panics stops the worker through `stop_worker`.
    fn start(&mut self, probe: Probe, stop_worker: Stop) -> Result<Box<dyn Running>, String>;
}

/// A source that makes callbacks. Dropping it ends them as well as it can.
pub(crate) trait Running {
    /// To be asked once every [`LOOK_EVERY`](super::run::LOOK_EVERY).
    fn end(&mut self) -> Option<End>;

    /// Ends the callbacks. `false` if that is not certain.
    fn close(self: Box<Self>) -> bool;
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It has run as long as was asked.
    Complete,
    /// By Ctrl-C or SIGTERM.
    Interrupted,
    /// The JACK server shut down, or was killed.
    #[cfg_attr(not(feature = "jack"), allow(dead_code, reason = "only a server can be gone"))]
    ServerGone,
    /// The JACK server makes no callbacks any more.
    #[cfg_attr(not(feature = "jack"), allow(dead_code, reason = "only a server can fall silent"))]
    Silent,
    /// The worker has ended before its time: a callback or the worker itself panicked.
    Panicked,
}

impl End {
    /// What to tell the user; `None` for a run as it should be.
    pub(crate) fn message(self) -> Option<&'static str> {
        match self {
            End::Complete => None,
            End::Interrupted => Some("interrupted: these are the numbers so far"),
            End::ServerGone => Some("the JACK server went away: these are the numbers so far"),
            End::Silent => Some(
                "no callback for a second, the JACK server is gone or hangs: these are the numbers so far",
            ),
            End::Panicked => Some("a callback or the worker panicked: these are the numbers so far"),
        }
    }

    pub(crate) fn is_success(self) -> bool {
        matches!(self, End::Complete | End::Interrupted)
    }
}

/// Opens the source that was asked for. The error is the line to print.
pub(crate) fn open(options: &Options) -> Result<Box<dyn Source>, String> {
    if options.source == SourceChoice::Clock {
        return Ok(Box::new(Clock::new(options)));
    }
    match open_jack(options) {
        Ok(source) => Ok(source),
        Err(reason) if options.source == SourceChoice::Jack => Err(reason),
        Err(reason) => {
            eprintln!("latency: the built-in clock makes the callbacks: {reason}");
            Ok(Box::new(Clock::new(options)))
        }
    }
}

/// For reasons that this would remove.
pub(crate) const HOW_TO_GET_JACK: &str =
    "for JACK: apt-get install jackd2 libjack-jackd2-dev, and run with --features jack";

#[cfg(feature = "jack")]
fn open_jack(options: &Options) -> Result<Box<dyn Source>, String> {
    Ok(Box::new(super::jack_source::JackSource::open(options)?))
}

#[cfg(not(feature = "jack"))]
fn open_jack(_: &Options) -> Result<Box<dyn Source>, String> {
    Err(format!("built without the feature \"jack\"; {HOW_TO_GET_JACK}"))
}
