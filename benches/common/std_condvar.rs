//! A count under a `std` mutex, with its condition variable.

use std::sync::{Arc, Condvar, Mutex};

use super::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct StdCondvar;
pub(crate) struct Handle(Arc<(Mutex<u64>, Condvar)>);

impl Mechanism for StdCondvar {
    const NAME: &'static str = "std mutex + condvar";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiter = Handle(Arc::clone(&shared));
        Ok((Handle(shared), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        let (count, condvar) = &*self.0;
        // The guard is gone before the signal, so that the waiter does not wake only to block on the mutex.
        *count.lock().expect("nothing panics under it") += 1;
        condvar.notify_one();
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        let (count, condvar) = &*self.0;
        let count = count.lock().expect("nothing panics under it");
        let mut count = condvar.wait_while(count, |count| *count == 0).expect("nothing panics under it");
        std::mem::take(&mut count)
    }
}
