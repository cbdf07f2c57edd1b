//! The loop: mio says which device has something, ALSA says what.

use std::io;
use std::time::{Duration, Instant};

use mio::event::Source;
use mio::{Events, Interest, Poll, Token};
use rt_notify::PollLoop;

use crate::device::Device;
use crate::{Capture, Stats};

/// Every device has its index as the token of all of its descriptors.
const NOTIFICATIONS: Token = Token(usize::MAX);
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
        let token = Token(self.devices.len());
        let device = Device::start(capture, self.poll.registry(), token)?;
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
                device.wake();
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
            device.pause(registry, Token(index));
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
