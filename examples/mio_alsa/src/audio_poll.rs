//! The loop: mio says which device has something, ALSA says what.

use std::time::{Duration, Instant};
use std::{fmt, io, mem};

use alsa::poll::{Descriptors, Flags, poll, pollfd};
use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use rt_notify::PollLoop;

use crate::{Step, after_error, decide};

/// Every device has its index as the token of all of its descriptors.
const NOTIFICATIONS: Token = Token(usize::MAX);
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
struct Device<C> {
    capture: C,
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
    stats: Stats,
}

/// Waits for capture devices and notifications together.
///
/// The notifications stay outside of the devices' groups, as a [`PollLoop`] that every [`turn`](AudioPoll::turn) is
/// lent.
#[derive(Debug)]
pub struct AudioPoll<C> {
    poll: Poll,
    events: Events,
    devices: Vec<Device<C>>,
    turns: u64,
}

impl<C: Capture> AudioPoll<C> {
    /// A loop without devices.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(AudioPoll { poll: Poll::new()?, events: Events::with_capacity(64), devices: Vec::new(), turns: 0 })
    }

    /// Adds the notifications to what wakes the loop.
    ///
    /// # Errors
    ///
    /// They are there already.
    pub fn listen_to(&self, notifications: &mut PollLoop<'_>) -> io::Result<()> {
        notifications.register(self.poll.registry(), NOTIFICATIONS, Interest::READABLE)
    }

    /// Adds a device and starts it. Its index is the number of those before it.
    ///
    /// # Errors
    ///
    /// `PermissionDenied`: it has a descriptor that cannot be waited for. Such a device never blocks (`null`, `file`).
    pub fn add(&mut self, capture: C) -> io::Result<()> {
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
        device.register(self.poll.registry(), Token(self.devices.len()))?;
        if let Err(error) = device.capture.restart() {
            device.deregister(self.poll.registry());
            return Err(to_io(error));
        }
        self.devices.push(device);
        Ok(())
    }

    /// Sleeps until something happens or `timeout` has passed, then reads what the devices have.
    ///
    /// Call `try_wait` of the notifications after it. To return early or for nothing is no error, nor is a timeout.
    ///
    /// # Errors
    ///
    /// The system cannot poll. Errors of devices stay theirs: see [`Stats::ended`].
    pub fn turn(&mut self, notifications: &mut PollLoop<'_>, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = self.earliest_of(timeout);
        // The waiter is armed only in here.
        let polled = notifications.poll(timeout, |timeout| self.poll.poll(&mut self.events, timeout));
        self.turns += 1;
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.events.clear(),
            other => other?,
        }

        for event in &self.events {
            // Nothing to note for the notifications: they are asked in any case.
            if let Some(device) = self.devices.get_mut(event.token().0) {
                device.stats.wakes += u64::from(!device.again);
                device.again = true;
            }
        }
        let registry = self.poll.registry();
        let now = Instant::now();
        for (index, device) in self.devices.iter_mut().enumerate() {
            device.attend(registry, Token(index), now);
        }
        Ok(())
    }

    /// Stops all devices, and keeps listening for their end.
    pub fn pause(&mut self) {
        let registry = self.poll.registry();
        for (index, device) in self.devices.iter_mut().enumerate() {
            if device.condition == Condition::Ended {
                continue;
            }
            let resting = device.condition != Condition::Running;
            device.condition = Condition::Paused;
            if let Err(error) = device.capture.pause() {
                device.end(registry, Ended::Failed(error));
            } else if resting {
                device.relisten(registry, Token(index));
            }
        }
    }

    /// How often the loop was woken, for whatever reason.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The devices, in the order of their addition.
    pub fn devices(&self) -> impl Iterator<Item = (&C, Stats)> {
        self.devices.iter().map(|device| (&device.capture, device.stats))
    }

    /// `timeout`, or what is left until the first device is due.
    fn earliest_of(&self, timeout: Option<Duration>) -> Option<Duration> {
        let now = Instant::now();
        let due = self.devices.iter().filter_map(|device| device.due(now)).min();
        due.map(|at| at.saturating_duration_since(now)).into_iter().chain(timeout).min()
    }
}

impl<C: Capture> Device<C> {
    /// When it is to be attended to, whatever its descriptors say.
    fn due(&self, now: Instant) -> Option<Instant> {
        match self.condition {
            Condition::Paused | Condition::Ended => None,
            Condition::Running if self.again => Some(now),
            Condition::Running => Some(self.last_frame + self.capture.longest_silence()),
            Condition::Resting(until) => Some(until.min(self.last_frame + self.capture.longest_silence())),
        }
    }

    fn attend(&mut self, registry: &Registry, token: Token, now: Instant) {
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
