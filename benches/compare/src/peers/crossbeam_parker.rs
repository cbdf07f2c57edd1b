//! crossbeam's `Parker`: a token of its own, under a mutex.

use crossbeam_utils::sync::{Parker, Unparker};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct CrossbeamParker;

impl Mechanism for CrossbeamParker {
    const NAME: &'static str = "crossbeam Parker";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Unparker;
    type Waiter = Parker;

    fn pair() -> Result<(Unparker, impl FnOnce() -> Parker + Send), String> {
        let parker = Parker::new();
        Ok((parker.unparker().clone(), || parker))
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
