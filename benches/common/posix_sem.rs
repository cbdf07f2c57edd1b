//! `sem_t`: what the reply to the question recommended.
#![allow(
    unsafe_code,
    reason = "the C library's semaphore lives at a fixed address and is used through a pointer"
)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::role::{Class, Mechanism, Notify, Pending, Wait};

/// A `sem_t` of whatever origin.
///
/// # Safety
///
/// `raw` returns the same initialised semaphore until `self` is dropped.
pub(crate) unsafe trait RawSem: Send + Sync {
    fn raw(&self) -> *mut libc::sem_t;

    #[inline]
    fn post(&self) {
        // SAFETY: the trait promises an initialised semaphore.
        unsafe { libc::sem_post(self.raw()) };
    }

    #[inline]
    fn wait(&self) {
        // SAFETY: the trait promises an initialised semaphore. A signal may interrupt it: hence the loop.
        while unsafe { libc::sem_wait(self.raw()) } != 0 {}
    }

    #[inline]
    fn try_wait(&self) -> bool {
        // SAFETY: the trait promises an initialised semaphore.
        unsafe { libc::sem_trywait(self.raw()) == 0 }
    }
}

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
}

// SAFETY: `new` initialised it, and it is in a box of its own.
unsafe impl RawSem for Sem {
    #[inline]
    fn raw(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

impl Drop for Sem {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and `self` is not borrowed, so nobody waits.
        unsafe { libc::sem_destroy(self.raw()) };
    }
}

/// Both ends of a semaphore that is waited for by `sem_wait`.
pub(crate) struct Handle<S>(Arc<S>);

impl<S: RawSem> Handle<S> {
    pub(crate) fn pair(sem: S) -> (Handle<S>, impl FnOnce() -> Handle<S> + Send) {
        let sem = Arc::new(sem);
        let waiter = Handle(Arc::clone(&sem));
        (Handle(sem), || waiter)
    }
}

impl<S: RawSem> Notify for Handle<S> {
    fn notify(&self) {
        self.0.post();
    }
}

impl<S: RawSem> Wait for Handle<S> {
    fn wait(&mut self) -> u64 {
        self.0.wait();
        1
    }
}

pub(crate) struct PosixSem;

impl Mechanism for PosixSem {
    const NAME: &'static str = "POSIX sem_t";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Handle<Sem>;
    type Waiter = Handle<Sem>;

    fn pair() -> Result<(Handle<Sem>, impl FnOnce() -> Handle<Sem> + Send), String> {
        Ok(Handle::pair(Sem::new()))
    }
}
