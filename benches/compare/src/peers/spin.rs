//! A flag that the waiter looks at until it is set: nothing is faster, and nothing wastes more.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct Spin;
pub(crate) struct Handle(Arc<AtomicBool>);

impl Mechanism for Spin {
    const NAME: &'static str = "flag, spun";
    const CLASS: Class = Class::Spinning;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = Handle(Arc::clone(&flag));
        Ok((Handle(flag), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        // Ordering: Release, pairs with the Acquire in `wait`.
        self.0.store(true, Release);
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        // Ordering: Acquire, pairs with the Release in `notify`.
        while !self.0.load(Acquire) {
            spin_loop();
        }
        // Ordering: Relaxed; the next notification is an answer to what follows.
        self.0.store(false, Relaxed);
        1
    }
}
