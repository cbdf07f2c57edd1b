//! The System V semaphore, with and without `SEM_UNDO`.
#![allow(unsafe_code, reason = "rustix has no System V semaphores")]

use std::io;
use std::sync::Arc;

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

/// A set of one semaphore. `UNDO`: the kernel takes the operations back when the process ends.
pub(crate) struct Sem<const UNDO: bool>(i32);

impl<const UNDO: bool> Sem<UNDO> {
    pub(crate) fn new() -> Result<Self, String> {
        // SAFETY: the call touches no memory of ours. A new set's value is 0 on Linux.
        match unsafe { libc::semget(libc::IPC_PRIVATE, 1, libc::IPC_CREAT | 0o600) } {
            -1 => Err(format!("semget: {}", io::Error::last_os_error())),
            id => Ok(Sem(id)),
        }
    }

    fn add(&self, n: i16) {
        let sem_flg = if UNDO { i16::try_from(libc::SEM_UNDO).expect("a small flag") } else { 0 };
        let mut operation = libc::sembuf { sem_num: 0, sem_op: n, sem_flg };
        // SAFETY: one operation, and it outlives the call. A signal may interrupt it: hence the loop.
        while unsafe { libc::semop(self.0, &raw mut operation, 1) } != 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "semop: {error}");
        }
    }

    pub(crate) fn post(&self) {
        self.add(1);
    }

    pub(crate) fn wait(&self) {
        self.add(-1);
    }
}

impl<const UNDO: bool> Drop for Sem<UNDO> {
    fn drop(&mut self) {
        // SAFETY: the call touches no memory of ours.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

pub(crate) struct SysvSem<const UNDO: bool>;
pub(crate) struct Handle<const UNDO: bool>(Arc<Sem<UNDO>>);

impl<const UNDO: bool> Mechanism for SysvSem<UNDO> {
    const NAME: &'static str = if UNDO { "System V semaphore, SEM_UNDO" } else { "System V semaphore" };
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    /// `SEMVMX`.
    const CAPACITY: u32 = 32_767;
    type Notifier = Handle<UNDO>;
    type Waiter = Handle<UNDO>;

    fn pair() -> Result<(Handle<UNDO>, impl FnOnce() -> Handle<UNDO> + Send), String> {
        let sem = Arc::new(Sem::new()?);
        let waiter = Handle(Arc::clone(&sem));
        Ok((Handle(sem), || waiter))
    }
}

impl<const UNDO: bool> Notify for Handle<UNDO> {
    fn notify(&self) {
        self.0.post();
    }
}

impl<const UNDO: bool> Wait for Handle<UNDO> {
    fn wait(&mut self) -> u64 {
        self.0.wait();
        1
    }
}
