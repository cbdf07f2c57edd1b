//! A System V message queue, with a byte for a message.
#![allow(unsafe_code, reason = "rustix has no message queues")]

use std::ffi::c_long;
use std::io;
use std::sync::Arc;

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

/// A queue of messages of `SIZE` bytes.
pub(crate) struct Queue<const SIZE: usize>(i32);

#[repr(C)]
struct Message<const SIZE: usize> {
    kind: c_long,
    bytes: [u8; SIZE],
}

impl<const SIZE: usize> Queue<SIZE> {
    pub(crate) fn new() -> Result<Self, String> {
        // SAFETY: the call touches no memory of ours.
        match unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) } {
            -1 => Err(format!("msgget: {}", io::Error::last_os_error())),
            id => Ok(Queue(id)),
        }
    }

    /// What another process can be told.
    pub(crate) fn id(&self) -> i32 {
        self.0
    }

    pub(crate) fn send(&self, bytes: [u8; SIZE]) {
        let message = Message { kind: 1, bytes };
        // SAFETY: a message is a `long` and then `SIZE` bytes. A signal may interrupt it: hence the loop.
        while unsafe { libc::msgsnd(self.0, (&raw const message).cast(), SIZE, 0) } != 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "msgsnd: {error}");
        }
    }

    pub(crate) fn receive(&self) -> [u8; SIZE] {
        receive(self.0)
    }
}

/// Takes a message from the queue with that number.
pub(crate) fn receive<const SIZE: usize>(id: i32) -> [u8; SIZE] {
    let mut message = Message { kind: 0, bytes: [0; SIZE] };
    // SAFETY: a message is a `long` and then `SIZE` bytes. A signal may interrupt it: hence the loop.
    while unsafe { libc::msgrcv(id, (&raw mut message).cast(), SIZE, 0, 0) } == -1 {
        let error = io::Error::last_os_error();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "msgrcv: {error}");
    }
    message.bytes
}

impl<const SIZE: usize> Drop for Queue<SIZE> {
    fn drop(&mut self) {
        // SAFETY: the call touches no memory of ours.
        unsafe { libc::msgctl(self.0, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

pub(crate) struct SysvMq;
pub(crate) struct Handle(Arc<Queue<1>>);

impl Mechanism for SysvMq {
    const NAME: &'static str = "System V message queue";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    /// `MSGMNB`, the default for the bytes in a queue, which limits the messages too.
    const CAPACITY: u32 = 16_384;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let queue = Arc::new(Queue::new()?);
        let waiter = Handle(Arc::clone(&queue));
        Ok((Handle(queue), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        self.0.send([1]);
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        self.0.receive();
        1
    }
}
