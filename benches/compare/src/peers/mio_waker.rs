//! mio's `Waker`: an edge-triggered `eventfd` in epoll, which nobody needs to read.

use mio::{Events, Poll, Token, Waker};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct MioWaker;
pub(crate) struct Waiter {
    poll: Poll,
    events: Events,
}

impl Mechanism for MioWaker {
    const NAME: &'static str = "mio Waker";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Waker;
    type Waiter = Waiter;

    fn pair() -> Result<(Waker, impl FnOnce() -> Waiter + Send), String> {
        let poll = Poll::new().map_err(|error| format!("no poller: {error}"))?;
        let waker = Waker::new(poll.registry(), Token(0)).map_err(|error| format!("no waker: {error}"))?;
        Ok((waker, || Waiter { poll, events: Events::with_capacity(4) }))
    }
}

impl Notify for Waker {
    fn notify(&self) {
        self.wake().expect("an eventfd that takes 2^64 wake-ups");
    }
}

impl Wait for Waiter {
    fn wait(&mut self) -> u64 {
        loop {
            // An interrupted poll is one that says nothing.
            let _ = self.poll.poll(&mut self.events, None);
            if !self.events.is_empty() {
                return 1;
            }
        }
    }
}
