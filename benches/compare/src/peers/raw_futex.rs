//! A count that is a futex, woken at every notification: the protocol that cannot be got wrong, and its price.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire};

use rustix::thread::futex;

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct RawFutex;
pub(crate) struct Handle(Arc<AtomicU32>);

impl Mechanism for RawFutex {
    const NAME: &'static str = "raw futex, always woken";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let count = Arc::new(AtomicU32::new(0));
        let waiter = Handle(Arc::clone(&count));
        Ok((Handle(count), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        // Ordering: Release, pairs with the Acquire in `wait`.
        self.0.fetch_add(1, AcqRel);
        // It fails for a bad address only.
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        loop {
            // Ordering: Acquire, pairs with the Release in `notify`.
            let taken = self.0.swap(0, Acquire);
            if taken > 0 {
                return taken.into();
            }
            // However it ends: another look.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, 0, None);
        }
    }
}
