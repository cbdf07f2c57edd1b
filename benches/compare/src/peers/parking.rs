//! The crate `parking`: a token, under a mutex.

use parking::{Parker, Unparker};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct Parking;

impl Mechanism for Parking {
    const NAME: &'static str = "parking";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Unparker;
    type Waiter = Parker;

    fn pair() -> Result<(Unparker, impl FnOnce() -> Parker + Send), String> {
        let (parker, unparker) = parking::pair();
        Ok((unparker, || parker))
    }
}

impl Notify for Unparker {
    fn notify(&self) {
        self.unpark();
    }
}

impl Wait for Parker {
    fn wait(&mut self) -> u64 {
        self.park();
        1
    }
}
