//! A byte through a socket pair to a waiter that polls.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct Socketpair;
pub(crate) struct Writer(UnixStream);
pub(crate) struct Reader(UnixStream);

impl Mechanism for Socketpair {
    const NAME: &'static str = "socketpair + poll";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    /// Every byte is a buffer of its own, and the kernel's default has room for some 270.
    const CAPACITY: u32 = 200;
    type Notifier = Writer;
    type Waiter = Reader;

    fn pair() -> Result<(Writer, impl FnOnce() -> Reader + Send), String> {
        let (reader, writer) = UnixStream::pair().map_err(|error| format!("socketpair: {error}"))?;
        Ok((Writer(writer), || Reader(reader)))
    }
}

impl Notify for Writer {
    fn notify(&self) {
        assert_eq!((&self.0).write(&[1]).ok(), Some(1));
    }
}

impl Wait for Reader {
    fn wait(&mut self) -> u64 {
        while poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None).is_err() {}
        let mut bytes = [0; 1024];
        self.0.read(&mut bytes).expect("a readable socket") as u64
    }
}
