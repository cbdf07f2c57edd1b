//! A POSIX message queue, with a byte for a message.
#![allow(unsafe_code, reason = "rustix has no message queues")]

use std::ffi::CString;
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Arc;

use super::unique_name;
use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

/// What an ordinary process may have.
const MESSAGES: u32 = 10;

/// A queue of messages of one size.
pub(crate) struct Queue {
    id: libc::mqd_t,
    size: usize,
}

impl Queue {
    /// A queue that only this process knows.
    fn new(size: usize) -> Result<Self, String> {
        let name = unique_name();
        let queue = Queue::open(&name, size);
        Queue::unlink(&name);
        queue
    }

    /// The queue of that name, made if it is not there yet.
    pub(crate) fn open(name: &str, size: usize) -> Result<Self, String> {
        let path = CString::new(name).map_err(|_| "a name with a NUL")?;
        // SAFETY: `mq_attr` is plain integers, for which all zeros is a value.
        let mut attributes: libc::mq_attr = unsafe { zeroed() };
        attributes.mq_maxmsg = MESSAGES.into();
        attributes.mq_msgsize = i64::try_from(size).map_err(|_| "a message too large")?;
        let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the name is a C string, the attributes outlive the call, and `O_CREAT` wants just these arguments.
        let id = unsafe { libc::mq_open(path.as_ptr(), flags, 0o600, &raw mut attributes) };
        if id == -1 {
            return Err(format!("mq_open: {}", io::Error::last_os_error()));
        }
        Ok(Queue { id, size })
    }

    /// Takes the name away. Who has the queue open keeps it.
    pub(crate) fn unlink(name: &str) {
        if let Ok(path) = CString::new(name) {
            // SAFETY: the name is a C string.
            unsafe { libc::mq_unlink(path.as_ptr()) };
        }
    }

    pub(crate) fn send(&self, message: &[u8]) -> io::Result<()> {
        // SAFETY: the pointer and the length are those of `message`.
        match unsafe { libc::mq_send(self.id, message.as_ptr().cast(), message.len(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// `buffer` must have room for the queue's messages.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(buffer.len() >= self.size, "a buffer too small for a message");
        // SAFETY: the pointer and the length are those of `buffer`.
        let n = unsafe { libc::mq_receive(self.id, buffer.as_mut_ptr().cast(), buffer.len(), null_mut()) };
        usize::try_from(n).map_err(|_| io::Error::last_os_error())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the call touches no memory of ours.
        unsafe { libc::mq_close(self.id) };
    }
}

pub(crate) struct PosixMq;
pub(crate) struct Handle(Arc<Queue>);

impl Mechanism for PosixMq {
    const NAME: &'static str = "POSIX message queue";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    const CAPACITY: u32 = MESSAGES;
    type Notifier = Handle;
    type Waiter = Handle;

    fn pair() -> Result<(Handle, impl FnOnce() -> Handle + Send), String> {
        let queue = Arc::new(Queue::new(1)?);
        let waiter = Handle(Arc::clone(&queue));
        Ok((Handle(queue), || waiter))
    }
}

impl Notify for Handle {
    fn notify(&self) {
        while self.0.send(&[1]).is_err() {}
    }
}

impl Wait for Handle {
    fn wait(&mut self) -> u64 {
        while self.0.receive(&mut [0]).is_err() {}
        1
    }
}
