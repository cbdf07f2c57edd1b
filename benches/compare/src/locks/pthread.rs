//! `pthread_mutex_t`.

use super::Lock;
use crate::common::pthread::Monitor;

pub(crate) struct Pthread(Monitor);

impl Lock for Pthread {
    const NAME: &'static str = "pthread mutex";

    fn new() -> Self {
        Pthread(Monitor::new())
    }

    #[inline]
    fn locked(&self, critical: impl FnOnce()) {
        self.0.lock();
        critical();
        self.0.unlock();
    }
}
