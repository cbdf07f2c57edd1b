//! `std::thread::park`. It may return for no reason and its token belongs to the whole thread, so a flag goes with it.

use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct StdPark;

#[derive(Default)]
struct Shared {
    flag: AtomicBool,
    waiter: OnceLock<Thread>,
}

pub(crate) struct Notifier(Arc<Shared>);
pub(crate) struct Waiter(Arc<Shared>);

impl Mechanism for StdPark {
    const NAME: &'static str = "std park + flag";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let shared = Arc::new(Shared::default());
        let waiting = Arc::clone(&shared);
        let waiter = move || {
            waiting.waiter.get_or_init(thread::current);
            Waiter(waiting)
        };
        Ok((Notifier(shared), waiter))
    }
}

impl Notify for Notifier {
    fn notify(&self) {
        // Ordering: Release, pairs with the Acquire in `wait`.
        self.0.flag.store(true, Release);
        if let Some(waiter) = self.0.waiter.get() {
            waiter.unpark();
        }
    }
}

impl Wait for Waiter {
    fn wait(&mut self) -> u64 {
        // Ordering: Acquire, pairs with the Release in `notify`.
        while !self.0.flag.swap(false, Acquire) {
            thread::park();
        }
        1
    }
}
