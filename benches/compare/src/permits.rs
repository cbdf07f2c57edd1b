//! Semaphores for which several threads wait.

use std::sync::{Condvar, Mutex};

use rt_notify::Semaphore;

use crate::common::posix_sem::{RawSem, Sem};
use crate::peers::sysv_sem;

/// A counting semaphore.
pub(crate) trait Permits: Send + Sync + Sized + 'static {
    const NAME: &'static str;
    const OURS: bool = false;

    fn new() -> Result<Self, String>;
    fn post(&self);
    fn wait(&self);
}

impl Permits for Semaphore {
    const NAME: &'static str = "rt-notify Semaphore";
    const OURS: bool = true;

    fn new() -> Result<Self, String> {
        Ok(Semaphore::new(0))
    }

    fn post(&self) {
        self.post();
    }

    fn wait(&self) {
        self.wait();
    }
}

impl Permits for Sem {
    const NAME: &'static str = "POSIX sem_t";

    fn new() -> Result<Self, String> {
        Ok(Sem::new())
    }

    fn post(&self) {
        RawSem::post(self);
    }

    fn wait(&self) {
        RawSem::wait(self);
    }
}

impl Permits for sysv_sem::Sem<false> {
    const NAME: &'static str = "System V semaphore";

    fn new() -> Result<Self, String> {
        sysv_sem::Sem::new()
    }

    fn post(&self) {
        self.post();
    }

    fn wait(&self) {
        self.wait();
    }
}

/// A count under a mutex.
#[derive(Default)]
pub(crate) struct Monitor {
    count: Mutex<u64>,
    condition: Condvar,
}

impl Permits for Monitor {
    const NAME: &'static str = "std mutex + condvar";

    fn new() -> Result<Self, String> {
        Ok(Monitor::default())
    }

    fn post(&self) {
        *self.count.lock().expect("nothing panics under it") += 1;
        self.condition.notify_one();
    }

    fn wait(&self) {
        let count = self.count.lock().expect("nothing panics under it");
        *self.condition.wait_while(count, |count| *count == 0).expect("nothing panics under it") -= 1;
    }
}

#[cfg(not(no_cpp20))]
impl Permits for crate::peers::cpp20::Object<crate::peers::cpp20::CountingSemaphore> {
    const NAME: &'static str = "C++20 counting_semaphore";

    fn new() -> Result<Self, String> {
        Self::new()
    }

    fn post(&self) {
        self.notify();
    }

    fn wait(&self) {
        self.wait();
    }
}
