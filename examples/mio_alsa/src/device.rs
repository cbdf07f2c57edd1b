//! One capture device in the loop: what is done when it wakes us, or does not.

use std::time::{Duration, Instant};
use std::{fmt, io, mem};

use alsa::poll::{Descriptors, Flags, poll, pollfd};
use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::{Step, after_error, decide};

/// A device that always has more gets this much of a turn; then it is the notifications' turn.
const ROUNDS_PER_TURN: u32 = 8;
const READS_PER_ROUND: u32 = 8;
/// So many wake-ups in a row may be for nothing: plugins wake us for reasons of their own.
const PATIENCE: u32 = 64;
/// For so long a device that only wastes our time is left alone.
const REST: Duration = Duration::from_millis(500);

/// A capture device, as the loop needs it. `revents` always gets the whole group, in the order of `fill`.
pub trait Capture: Descriptors {
    /// Reads frames, and returns how many.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if there are none; see [`after_error`] for others.
    fn read(&mut self) -> alsa::Result<usize>;

    /// Starts it, in whatever state it is.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if it cannot start yet.
    fn restart(&mut self) -> alsa::Result<()>;

    /// Stops it.
    ///
    /// # Errors
    ///
    /// It cannot, or is gone.
    fn pause(&mut self) -> alsa::Result<()>;

    /// If it runs for so long without a frame, it has stopped and failed to say so: it is restarted, and the second
    /// time given up. That is what the `jack` plugin does when its server dies.
    fn longest_silence(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// Why a device is no longer listened to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ended {
    /// ALSA reported these flags.
    Gone(Flags),
    /// It runs, it says, but has had no frames for a while, also after a restart.
    Silent,
    /// An error that cannot be recovered from.
    Failed(alsa::Error),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Gone(flags) if flags.contains(Flags::NVAL) => f.write_str("its descriptor is invalid"),
            Ended::Gone(_) => f.write_str("the device is gone"),
            Ended::Silent => f.write_str("it delivers no frames any more"),
            Ended::Failed(error) => error.fmt(f),
        }
    }
}

/// What happened with a device so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Frames read.
    pub frames: u64,
    /// Wake-ups by its descriptors.
    pub wakes: u64,
    /// How often it had stopped, was started again, and then had frames.
    pub recovered: u64,
    /// Why it is no longer listened to, if it is not.
    pub ended: Option<Ended>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Running,
    /// Not listened to until then.
    Resting(Instant),
    Paused,
    Ended,
}

#[derive(Debug)]
pub(crate) struct Device<C> {
    pub(crate) capture: C,
    /// All of its descriptors, in its order, for it alone.
    group: Vec<pollfd>,
    condition: Condition,
    /// There may be more, but its edge is used up: look again without an event.
    again: bool,
    /// It was restarted, and has not had a frame since.
    in_vain: bool,
    /// It was restarted because it was silent, and is silent still.
    silent: bool,
    /// Wake-ups for nothing, in a row.
    wasted: u32,
    last_frame: Instant,
    pub(crate) stats: Stats,
}

impl<C: Capture> Device<C> {
    /// Listens to a device and starts it.
    pub(crate) fn start(capture: C, registry: &Registry, token: Token) -> io::Result<Self> {
        let mut device = Device {
            capture,
            group: Vec::new(),
            condition: Condition::Running,
            again: false,
            in_vain: false,
            silent: false,
            wasted: 0,
            last_frame: Instant::now(),
            stats: Stats::default(),
        };
        let started = device.register(registry, token).and_then(|()| device.capture.restart().map_err(to_io));
        if let Err(error) = started {
            device.deregister(registry);
            return Err(error);
        }
        Ok(device)
    }

    /// Notes that one of its descriptors woke us.
    pub(crate) fn wake(&mut self) {
        self.stats.wakes += u64::from(!self.again);
        self.again = true;
    }

    /// Stops it, and listens for nothing but its end.
    pub(crate) fn pause(&mut self, registry: &Registry, token: Token) {
        let before = self.condition;
        if matches!(before, Condition::Paused | Condition::Ended) {
            return;
        }
        self.condition = Condition::Paused;
        if let Err(error) = self.capture.pause() {
            self.end(registry, Ended::Failed(error));
        } else if before != Condition::Running {
            self.relisten(registry, token);
        }
    }

    /// When it is to be attended to, whatever its descriptors say.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        match self.condition {
            Condition::Paused | Condition::Ended => None,
            Condition::Running if self.again => Some(now),
            Condition::Running => Some(self.last_frame + self.capture.longest_silence()),
            Condition::Resting(until) => Some(until.min(self.last_frame + self.capture.longest_silence())),
        }
    }

    /// Does what is due.
    pub(crate) fn attend(&mut self, registry: &Registry, token: Token, now: Instant) {
        let woken = mem::take(&mut self.again);
        match self.condition {
            Condition::Ended => return,
            Condition::Resting(until) if until > now => {}
            Condition::Resting(_) if self.in_vain => self.restart(registry, token),
            Condition::Resting(_) => self.relisten(registry, token),
            Condition::Running | Condition::Paused if woken => self.serve(registry, token),
            Condition::Running | Condition::Paused => {}
        }
        let silent = now.saturating_duration_since(self.last_frame) >= self.capture.longest_silence();
        if silent && matches!(self.condition, Condition::Running | Condition::Resting(_)) {
            if mem::replace(&mut self.silent, true) {
                self.end(registry, Ended::Silent);
            } else {
                self.last_frame = now;
                self.restart(registry, token);
            }
        }
    }

    /// Does what it asks for, until it asks for nothing.
    fn serve(&mut self, registry: &Registry, token: Token) {
        let frames_before = self.stats.frames;
        let paused = self.condition == Condition::Paused;
        for round in 1.. {
            let (mut step, mut ended) = match self.ask() {
                Ok(revents) => (decide(revents, paused), Ended::Gone(revents)),
                Err(error) => (after_error(error, paused), Ended::Failed(error)),
            };
            if step == Step::Read {
                match self.drain() {
                    // Ask *once more*: the `jack` plugin empties its descriptor only when it is asked while it has
                    // nothing. If it is not, the descriptor fills up, and then there is never an edge again.
                    Ok(1..) if round < ROUNDS_PER_TURN => continue,
                    Ok(1..) => self.again = true,
                    Ok(0) => {}
                    Err(error) => (step, ended) = (after_error(error, paused), Ended::Failed(error)),
                }
            }
            match step {
                Step::Nothing | Step::Read => break,
                Step::Recover => return self.recover(registry, token),
                Step::End => return self.end(registry, ended),
            }
        }
        if self.stats.frames > frames_before {
            self.wasted = 0;
        } else if !paused {
            self.wasted = self.wasted.saturating_add(1);
            if self.wasted > PATIENCE {
                self.rest(registry);
            }
        }
    }

    /// What it wants now. mio only said that it wants something, and that once (it is edge-triggered): `poll` says
    /// which of its descriptors have which flags, ALSA what that means.
    fn ask(&mut self) -> alsa::Result<Flags> {
        poll(&mut self.group, 0)?;
        self.capture.revents(&self.group)
    }

    /// Reads until it has nothing more, and returns how many frames that were.
    fn drain(&mut self) -> alsa::Result<usize> {
        let mut total = 0;
        for _ in 0..READS_PER_ROUND {
            match self.capture.read() {
                Ok(frames) => {
                    total += frames;
                    self.count(frames);
                }
                Err(error) if after_error(error, false) == Step::Nothing => break,
                Err(error) => return Err(error),
            }
        }
        Ok(total)
    }

    fn count(&mut self, frames: usize) {
        if frames > 0 {
            self.stats.frames += frames as u64;
            self.stats.recovered += u64::from(mem::take(&mut self.in_vain));
            self.silent = false;
            self.last_frame = Instant::now();
        }
    }

    /// At once; but if the last time brought nothing, only after a rest.
    fn recover(&mut self, registry: &Registry, token: Token) {
        if self.in_vain {
            self.rest(registry);
        } else {
            self.restart(registry, token);
        }
    }

    fn restart(&mut self, registry: &Registry, token: Token) {
        self.in_vain = true;
        match self.capture.restart() {
            Ok(()) => self.relisten(registry, token),
            Err(error) if after_error(error, false) == Step::Nothing => {
                // Not yet: the bus is still waking up.
                self.last_frame = Instant::now();
                self.rest(registry);
            }
            Err(error) => self.end(registry, Ended::Failed(error)),
        }
    }

    fn rest(&mut self, registry: &Registry) {
        self.deregister(registry);
        self.condition = Condition::Resting(Instant::now() + REST);
    }

    fn end(&mut self, registry: &Registry, why: Ended) {
        self.deregister(registry);
        self.condition = Condition::Ended;
        self.stats.ended = Some(why);
    }

    /// Listens to its descriptors anew: they may be others, and those that are ready say so again.
    fn relisten(&mut self, registry: &Registry, token: Token) {
        self.deregister(registry);
        if self.condition != Condition::Paused {
            self.condition = Condition::Running;
        }
        if let Err(error) = self.register(registry, token) {
            let code = error.raw_os_error().unwrap_or(libc::EIO);
            self.end(registry, Ended::Failed(alsa::Error::new("epoll_ctl", code)));
        }
    }

    fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.group = self.capture.get().map_err(to_io)?;
        if self.group.is_empty() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        for pollfd in &self.group {
            SourceFd(&pollfd.fd).register(registry, token, interest(pollfd))?;
        }
        Ok(())
    }

    fn deregister(&self, registry: &Registry) {
        for pollfd in &self.group {
            // It need not be registered, or even exist: what counts is that it does not wake us.
            let _ = SourceFd(&pollfd.fd).deregister(registry);
        }
    }
}

/// Errors and hang-ups are always reported.
fn interest(pollfd: &pollfd) -> Interest {
    let events = Flags::from_bits_truncate(pollfd.events);
    match (events.contains(Flags::IN), events.contains(Flags::OUT)) {
        (true, true) => Interest::READABLE | Interest::WRITABLE,
        (false, true) => Interest::WRITABLE,
        (_, false) => Interest::READABLE,
    }
}

fn to_io(error: alsa::Error) -> io::Error {
    io::Error::from_raw_os_error(error.errno().abs())
}
