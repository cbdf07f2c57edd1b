//! calloop's `ping`: an `eventfd` in an event loop, with a callback.

use calloop::EventLoop;
use calloop::ping::{Ping, make_ping};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct CalloopPing;
pub(crate) struct Waiter(EventLoop<'static, u64>);

impl Mechanism for CalloopPing {
    const NAME: &'static str = "calloop ping";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Ping;
    type Waiter = Waiter;

    fn pair() -> Result<(Ping, impl FnOnce() -> Waiter + Send), String> {
        let (ping, source) = make_ping().map_err(|error| format!("no ping: {error}"))?;
        let waiter = || {
            let event_loop = EventLoop::try_new().expect("an event loop");
            let inserted = event_loop.handle().insert_source(source, |(), (), pings| *pings += 1);
            inserted.expect("a source that was not inserted before");
            Waiter(event_loop)
        };
        Ok((ping, waiter))
    }
}

impl Notify for Ping {
    fn notify(&self) {
        self.ping();
    }
}

impl Wait for Waiter {
    fn wait(&mut self) -> u64 {
        let mut pings = 0;
        while pings == 0 {
            self.0.dispatch(None, &mut pings).expect("a loop that is sound");
        }
        pings
    }
}
