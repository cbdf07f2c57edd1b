//! `sem_t`: what the reply to the question recommended.
#![allow(
    unsafe_code,
    reason = "the C library's semaphore lives at a fixed address and is used through a pointer"
)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::role::{Class, Mechanism, Notify, Pending, Wait};

/// A `sem_t` at an address that never changes.
pub(crate) struct Sem(Box<UnsafeCell<MaybeUninit<libc::sem_t>>>);

// SAFETY: a `sem_t` is made to be used from several threads at once.
unsafe impl Send for Sem {}
// SAFETY: as above.
unsafe impl Sync for Sem {}

impl Sem {
    pub(crate) fn new() -> Self {
        let sem = Sem(Box::new(UnsafeCell::new(MaybeUninit::uninit())));
        // SAFETY: the pointer is valid, and nobody else has it yet.
        unsafe { libc::sem_init(sem.raw(), 0, 0) };
        sem
    }

    fn raw(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }

    #[inline]
    pub(crate) fn post(&self) {
        // SAFETY: `new` initialised it, and it neither moves nor goes while `self` is borrowed.
        unsafe { libc::sem_post(self.raw()) };
    }

    #[inline]
    pub(crate) fn wait(&self) {
        // SAFETY: as in `post`. A signal may interrupt it: hence the loop.
        while unsafe { libc::sem_wait(self.raw()) } != 0 {}
    }

    #[inline]
    pub(crate) fn try_wait(&self) -> bool {
        // SAFETY: as in `post`.
        unsafe { libc::sem_trywait(self.raw()) == 0 }
    }
}

impl Drop for Sem {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and `self` is not borrowed, so nobody waits.
        unsafe { libc::sem_destroy(self.raw()) };
    }
}

pub(crate) struct PosixSem;
pub(crate) struct Handle(Arc<Sem>);

impl Mechanism for PosixSem {
    const NAME: &'static str = "POSIX sem_t";
    const CLASS: Class = Class::Blocking;
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
        self.0.wait();
        1
    }
}
