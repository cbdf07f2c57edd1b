//! `pthread_cond` with `trylock`, as in JACK's capture client: the callback may not block on the mutex, so where it
//! cannot have it, it does not signal. The waiter holds the mutex whenever it does not sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::pthread::Monitor;
use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct CondTrylock;

struct Shared {
    monitor: Monitor,
    lost: AtomicU64,
}

pub(crate) struct Notifier(Arc<Shared>);
pub(crate) struct Waiter(Arc<Shared>);

impl Mechanism for CondTrylock {
    const NAME: &'static str = "pthread cond, trylock as in JACK's capture client";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::MayBeLost;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let shared = Arc::new(Shared { monitor: Monitor::new(), lost: AtomicU64::new(0) });
        let waiting = Arc::clone(&shared);
        let waiter = || {
            waiting.monitor.lock();
            Waiter(waiting)
        };
        Ok((Notifier(shared), waiter))
    }
}

impl Notify for Notifier {
    fn notify(&self) {
        if self.0.monitor.try_lock() {
            self.0.monitor.signal();
            self.0.monitor.unlock();
        } else {
            // Ordering: Relaxed; a statistic.
            self.0.lost.fetch_add(1, Relaxed);
        }
    }

    fn lost(&self) -> u64 {
        // Ordering: Relaxed; as above.
        self.0.lost.load(Relaxed)
    }
}

impl Wait for Waiter {
    fn wait(&mut self) -> u64 {
        self.0.monitor.wait();
        1
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.monitor.unlock();
    }
}
