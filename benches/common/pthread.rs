//! `pthread_mutex_t` and `pthread_cond_t`, as C programs use them.
#![allow(
    unsafe_code,
    reason = "the C library's primitives live at a fixed address and are used through pointers"
)]

use std::cell::UnsafeCell;

/// A mutex and a condition variable at an address that never changes.
pub(crate) struct Monitor(Box<Raw>);

struct Raw {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    condition: UnsafeCell<libc::pthread_cond_t>,
}

// SAFETY: both are made to be used from several threads at once.
unsafe impl Send for Monitor {}
// SAFETY: as above.
unsafe impl Sync for Monitor {}

impl Monitor {
    pub(crate) fn new() -> Self {
        Monitor(Box::new(Raw {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            condition: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
        }))
    }

    #[inline]
    pub(crate) fn lock(&self) {
        // SAFETY: it is initialised, and neither moves nor goes while `self` is borrowed.
        unsafe { libc::pthread_mutex_lock(self.0.mutex.get()) };
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_mutex_trylock(self.0.mutex.get()) == 0 }
    }

    /// The caller has it locked.
    #[inline]
    pub(crate) fn unlock(&self) {
        // SAFETY: as in `lock`. Were it not locked, the call would return an error or unlock another's: no memory is
        // touched but the mutex.
        unsafe { libc::pthread_mutex_unlock(self.0.mutex.get()) };
    }

    #[inline]
    pub(crate) fn signal(&self) {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_cond_signal(self.0.condition.get()) };
    }

    /// The caller has the mutex locked. May return for no reason.
    #[inline]
    pub(crate) fn wait(&self) {
        // SAFETY: as in `lock`; this condition is never used with another mutex.
        unsafe { libc::pthread_cond_wait(self.0.condition.get(), self.0.mutex.get()) };
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // SAFETY: `self` is not borrowed, so nobody waits.
        unsafe { libc::pthread_cond_destroy(self.0.condition.get()) };
        // SAFETY: as above.
        unsafe { libc::pthread_mutex_destroy(self.0.mutex.get()) };
    }
}
