//! A count under a `pthread_mutex_t`, with a `pthread_cond_t`: "mutex + cond" as C programs have it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::pthread::Monitor;
use super::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct PthreadCondvar;
pub(crate) struct Handle(Arc<(Monitor, AtomicU64)>);

impl Mechanism for PthreadCondvar {
    const NAME: &'static str = "pthread mutex + cond";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let shared = Arc::new((Monitor::new(), AtomicU64::new(0)));
        let waiter = Handle(Arc::clone(&shared));
        Ok((Handle(shared), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        let (monitor, count) = &*self.0;
        monitor.lock();
        // Ordering: Relaxed, a plain load and store; the mutex orders them.
        count.store(count.load(Relaxed) + 1, Relaxed);
        monitor.unlock();
        monitor.signal();
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        let (monitor, count) = &*self.0;
        monitor.lock();
        // Ordering: Relaxed; the mutex orders them.
        while count.load(Relaxed) == 0 {
            monitor.wait();
        }
        let taken = count.load(Relaxed);
        count.store(0, Relaxed);
        monitor.unlock();
        taken
    }
}
