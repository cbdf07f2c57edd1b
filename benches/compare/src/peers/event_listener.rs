//! The crate `event-listener`, with the flag and the second look that its documentation prescribes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

use event_listener::{Event, Listener};

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct EventListener;
pub(crate) struct Handle(Arc<(AtomicBool, Event)>);

impl Mechanism for EventListener {
    const NAME: &'static str = "event-listener + flag";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let shared = Arc::new((AtomicBool::new(false), Event::new()));
        let waiter = Handle(Arc::clone(&shared));
        Ok((Handle(shared), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        let (flag, event) = &*self.0;
        // Ordering: Release, pairs with the Acquire in `wait`.
        flag.store(true, Release);
        event.notify(1);
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        let (flag, event) = &*self.0;
        loop {
            // Ordering: Acquire, here and below, pairs with the Release in `notify`.
            if flag.swap(false, Acquire) {
                return 1;
            }
            let listener = event.listen();
            if flag.swap(false, Acquire) {
                return 1;
            }
            listener.wait();
        }
    }
}
