//! `mio::event::Source`: register for [`Interest::READABLE`], call `try_wait` when the event comes.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::{PollLoop, PollWaiter};

fn fd(source: &impl AsRawFd) -> RawFd {
    source.as_raw_fd()
}

macro_rules! impl_source {
    ($type:ty) => {
        impl Source for $type {
            fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
                SourceFd(&fd(self)).register(registry, token, interests)
            }

            fn reregister(
                &mut self,
                registry: &Registry,
                token: Token,
                interests: Interest,
            ) -> io::Result<()> {
                SourceFd(&fd(self)).reregister(registry, token, interests)
            }

            fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
                SourceFd(&fd(self)).deregister(registry)
            }
        }
    };
}

impl_source!(PollWaiter);
impl_source!(PollLoop<'_>);
