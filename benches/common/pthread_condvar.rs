//! A count under a `pthread_mutex_t`, with a `pthread_cond_t`: "mutex + cond" as C programs have it. Some signal while
//! they have the mutex, as POSIX advises for realtime; then the waiter may wake only to block on the mutex.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::pthread::Monitor;
use super::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct PthreadCondvar<const LOCKED: bool>;
pub(crate) struct Handle<const LOCKED: bool>(Arc<(Monitor, AtomicU64)>);

impl<const LOCKED: bool> Mechanism for PthreadCondvar<LOCKED> {
    const NAME: &'static str =
        if LOCKED { "pthread mutex + cond, signalled locked" } else { "pthread mutex + cond" };
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Handle<LOCKED>;
    type Waiter = Handle<LOCKED>;

    fn pair() -> Result<(Handle<LOCKED>, impl FnOnce() -> Handle<LOCKED> + Send), String> {
        let shared = Arc::new((Monitor::new(), AtomicU64::new(0)));
        let waiter = Handle(Arc::clone(&shared));
        Ok((Handle(shared), || waiter))
    }
}

impl<const LOCKED: bool> Notify for Handle<LOCKED> {
    fn notify(&self) {
        let (monitor, count) = &*self.0;
        monitor.lock();
        // Ordering: Relaxed, a plain load and store; the mutex orders them.
        count.store(count.load(Relaxed) + 1, Relaxed);
        if LOCKED {
            monitor.signal();
        }
        monitor.unlock();
        if !LOCKED {
            monitor.signal();
        }
    }
}

impl<const LOCKED: bool> Wait for Handle<LOCKED> {
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
