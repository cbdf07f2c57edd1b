//! `sem_trywait` until it succeeds.

use std::hint::spin_loop;
use std::sync::Arc;

use crate::common::posix_sem::{RawSem, Sem};
use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct SemTrywait;
pub(crate) struct Handle(Arc<Sem>);

impl Mechanism for SemTrywait {
    const NAME: &'static str = "POSIX sem_trywait, spun";
    const CLASS: Class = Class::Spinning;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let sem = Arc::new(Sem::new());
        let waiter = Handle(Arc::clone(&sem));
        Ok((Handle(sem), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        self.0.post();
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        while !self.0.try_wait() {
            spin_loop();
        }
        1
    }
}
