//! A byte through a pipe to a waiter that polls: what a JACK client does today that also polls audio descriptors.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{read, write};
use rustix::pipe::{PipeFlags, pipe_with};

use super::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct PipePoll;
pub(crate) struct Writer(OwnedFd);
pub(crate) struct Reader(OwnedFd);

impl Mechanism for PipePoll {
    const NAME: &'static str = "pipe + poll";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Writer;
    type Waiter = Reader;

    fn pair() -> Result<(Writer, impl FnOnce() -> Reader + Send), String> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| format!("pipe2: {error}"))?;
        Ok((Writer(writer), || Reader(reader)))
    }
}

impl Notify for Writer {
    fn notify(&self) {
        assert_eq!(write(&self.0, &[1]), Ok(1));
    }
}

impl Wait for Reader {
    fn wait(&mut self) -> u64 {
        while poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None).is_err() {}
        let mut bytes = [0; 1024];
        read(&self.0, &mut bytes).expect("a readable pipe") as u64
    }
}
