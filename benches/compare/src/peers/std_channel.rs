//! `std::sync::mpsc`, unbounded: it allocates when it sends.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct StdChannel;

impl Mechanism for StdChannel {
    const NAME: &'static str = "std channel";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Sender<()>;
    type Waiter = Receiver<()>;

    fn pair() -> Result<(Sender<()>, impl FnOnce() -> Receiver<()> + Send), String> {
        let (sender, receiver) = channel();
        Ok((sender, || receiver))
    }
}

impl Notify for Sender<()> {
    fn notify(&self) {
        // A receiver that has gone wants nothing.
        let _ = self.send(());
    }
}

impl Wait for Receiver<()> {
    fn wait(&mut self) -> u64 {
        self.recv().map_or(0, |()| 1)
    }
}
