//! `sem_init` with `pshared`, in memory that processes could share.
#![allow(
    unsafe_code,
    reason = "the C library's semaphore lives at a fixed address and is used through a pointer"
)]

use std::ptr::{NonNull, null_mut};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::common::posix_sem::{Handle, RawSem};
use crate::common::role::{Class, Mechanism, Pending};

const SIZE: usize = size_of::<libc::sem_t>();

pub(crate) struct SharedSem;

pub(crate) struct Sem(NonNull<libc::sem_t>);

// SAFETY: a `sem_t` is made to be used from several threads at once.
unsafe impl Send for Sem {}
// SAFETY: as above.
unsafe impl Sync for Sem {}

impl Sem {
    fn new() -> Result<Self, String> {
        // SAFETY: new memory, wherever the kernel has room.
        let memory =
            unsafe { mmap_anonymous(null_mut(), SIZE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED) };
        let memory = memory.map_err(|error| format!("mmap: {error}"))?;
        let raw = NonNull::new(memory.cast()).ok_or("mmap: no memory")?;
        // SAFETY: the memory is large enough, and aligned to a page.
        unsafe { libc::sem_init(raw.as_ptr(), 1, 0) };
        Ok(Sem(raw))
    }
}

impl Drop for Sem {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and nobody uses it any more.
        unsafe { libc::sem_destroy(self.0.as_ptr()) };
        // SAFETY: `new` mapped just this, and nobody uses it any more. An error would leave it mapped.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), SIZE) };
    }
}

// SAFETY: `new` initialised it, and its memory stays until `self` is dropped.
unsafe impl RawSem for Sem {
    #[inline]
    fn raw(&self) -> *mut libc::sem_t {
        self.0.as_ptr()
    }
}

impl Mechanism for SharedSem {
    const NAME: &'static str = "POSIX sem_t, process-shared";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    type Notifier = Handle<Sem>;
    type Waiter = Handle<Sem>;

    fn pair() -> Result<(Handle<Sem>, impl FnOnce() -> Handle<Sem> + Send), String> {
        Ok(Handle::pair(Sem::new()?))
    }
}
