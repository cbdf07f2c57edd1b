//! The worker's end in a loop around `mio::Poll`.

use std::io;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use rt_notify::{PollLoop, PollWaiter, TryWaitError};

use super::backend::{Ear, Tally};

const NOTIFIED: Token = Token(0);

/// A poller that knows the waiter's descriptor.
pub(crate) struct Poller {
    poll: Poll,
    events: Events,
}

impl Poller {
    pub(crate) fn new(waiter: &mut PollWaiter) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(waiter, NOTIFIED, Interest::READABLE)?;
        // One source makes one event.
        Ok(Poller { poll, events: Events::with_capacity(1) })
    }

    pub(crate) fn listen_to(self, poll_loop: PollLoop<'_>) -> MioEar<'_> {
        MioEar { poller: self, poll_loop, armed: 0 }
    }
}

pub(crate) struct MioEar<'w> {
    poller: Poller,
    poll_loop: PollLoop<'w>,
    /// Polls for which the waiter was armed.
    armed: u64,
}

impl Ear for MioEar<'_> {
    fn wait(&mut self) -> Option<u32> {
        loop {
            let Poller { poll, events } = &mut self.poller;
            let armed = &mut self.armed;
            let polled = self.poll_loop.poll(None, |timeout| {
                *armed += u64::from(timeout != Some(Duration::ZERO));
                poll.poll(events, timeout)
            });
            // An interrupted poll is one that says nothing. After any other error what still comes counts as lost.
            if polled.is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
                return None;
            }
            match self.poll_loop.try_wait() {
                Err(TryWaitError::Empty) => {}
                taken => return taken.ok(),
            }
        }
    }

    fn tally(&self) -> Tally {
        Tally::AtMost(self.armed)
    }
}
