//! crossbeam's channel, unbounded. It spins and yields before it sleeps.

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct CrossbeamChannel;

impl Mechanism for CrossbeamChannel {
    const NAME: &'static str = "crossbeam channel";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Sender<()>;
    type Waiter = Receiver<()>;

    fn pair() -> Result<(Sender<()>, impl FnOnce() -> Receiver<()> + Send), String> {
        let (sender, receiver) = unbounded();
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
