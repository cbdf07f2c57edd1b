//! An `eventfd` and a waiter that polls it, with nothing in between: a system call for every notification.

use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{dup, read, write};

use super::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct EventfdPoll;
pub(crate) struct Writer(OwnedFd);
pub(crate) struct Reader(OwnedFd);

impl Mechanism for EventfdPoll {
    const NAME: &'static str = "eventfd + poll";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Writer;
    type Waiter = Reader;

    fn pair() -> Result<(Writer, impl FnOnce() -> Reader + Send), String> {
        let reader = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| format!("eventfd: {error}"))?;
        let writer = dup(&reader).map_err(|error| format!("dup: {error}"))?;
        Ok((Writer(writer), || Reader(reader)))
    }
}

impl Notify for Writer {
    fn notify(&self) {
        assert_eq!(write(&self.0, &1u64.to_ne_bytes()), Ok(8));
    }
}

impl Wait for Reader {
    fn wait(&mut self) -> u64 {
        while poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None).is_err() {}
        let mut count = [0; 8];
        read(&self.0, &mut count).expect("a readable eventfd");
        u64::from_ne_bytes(count)
    }
}
