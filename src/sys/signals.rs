//! Keeping the application's signals away from a new thread, on Linux.
#![allow(unsafe_code, reason = "signal masks are a C interface")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// What the thread brings upon itself. Blocked, these would kill the process without the application's handler.
const OWN_FAULTS: [libc::c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];

/// While this lives, the calling thread, and every thread it starts, has all asynchronous signals blocked. Its drop
/// restores the mask of the calling thread only.
pub(crate) struct SignalsBlocked {
    before: libc::sigset_t,
    /// The mask belongs to the thread that made this, so it must not leave it.
    _not_send: PhantomData<*const ()>,
}

impl SignalsBlocked {
    pub(crate) fn new() -> Self {
        let mut all = MaybeUninit::uninit();
        // SAFETY: `all` has room for a sigset_t.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        // SAFETY: sigfillset initialises the whole set and does not fail on a valid pointer.
        let mut blocked = unsafe { all.assume_init() };
        for signal in OWN_FAULTS {
            // SAFETY: `blocked` is an initialised set of our own.
            unsafe { libc::sigdelset(&raw mut blocked, signal) };
        }
        let mut before = MaybeUninit::uninit();
        // SAFETY: both point to a sigset_t, the first one initialised.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const blocked, before.as_mut_ptr()) };
        // SAFETY: pthread_sigmask fails only on a wrong first argument, so it has stored the old mask.
        let before = unsafe { before.assume_init() };
        SignalsBlocked { before, _not_send: PhantomData }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask this thread had; the old mask may be left out.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}
