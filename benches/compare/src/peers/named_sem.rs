//! `sem_open`: a `sem_t` with a name, for unrelated processes.
#![allow(unsafe_code, reason = "rustix has no named semaphores")]

use std::ffi::CString;
use std::io;
use std::ptr::NonNull;

use super::unique_name;
use crate::common::posix_sem::{Handle, RawSem};
use crate::common::role::{Class, Mechanism, Pending};

pub(crate) struct NamedSem;

pub(crate) struct Sem(NonNull<libc::sem_t>);

// SAFETY: a `sem_t` is made to be used from several threads at once.
unsafe impl Send for Sem {}
// SAFETY: as above.
unsafe impl Sync for Sem {}

impl Sem {
    fn new() -> Result<Self, String> {
        let name = CString::new(unique_name()).expect("no NUL");
        let (flags, mode, value) = (libc::O_CREAT | libc::O_EXCL, 0o600, 0);
        // SAFETY: the name is a C string, and `O_CREAT` wants just these two further arguments.
        let raw = unsafe { libc::sem_open(name.as_ptr(), flags, mode, value) };
        if raw == libc::SEM_FAILED {
            return Err(format!("sem_open: {}", io::Error::last_os_error()));
        }
        // SAFETY: the name is a C string. The semaphore stays until it is closed.
        unsafe { libc::sem_unlink(name.as_ptr()) };
        NonNull::new(raw).map(Sem).ok_or_else(|| "sem_open: no semaphore".into())
    }
}

impl Drop for Sem {
    fn drop(&mut self) {
        // SAFETY: `new` opened it, and nobody uses it any more.
        unsafe { libc::sem_close(self.0.as_ptr()) };
    }
}

// SAFETY: `new` opened it, and it is closed when `self` is dropped.
unsafe impl RawSem for Sem {
    #[inline]
    fn raw(&self) -> *mut libc::sem_t {
        self.0.as_ptr()
    }
}

impl Mechanism for NamedSem {
    const NAME: &'static str = "POSIX sem_t, named";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Handle<Sem>;
    type Waiter = Handle<Sem>;

    fn pair() -> Result<(Handle<Sem>, impl FnOnce() -> Handle<Sem> + Send), String> {
        Ok(Handle::pair(Sem::new()?))
    }
}
