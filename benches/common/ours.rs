//! This project's wake-ups, by backend and by the way one waits.
#![allow(unsafe_code, reason = "a PollLoop borrows its waiter, and here one value has to own both")]

use std::hint::spin_loop;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use rt_notify::{Notifier, Periodic, PollWaiter, Semaphore, TryWaitError, WaitStrategy, Waiter};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::role::{Class, Mechanism, Notify, Pending, Wait};

impl Notify for Notifier {
    #[inline]
    fn notify(&self) {
        self.notify();
    }
}

impl Wait for Waiter {
    #[inline]
    fn wait(&mut self) -> u64 {
        self.wait().map_or(0, u64::from)
    }
}

pub(crate) struct Futex;

impl Mechanism for Futex {
    const NAME: &'static str = "rt-notify Waiter";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let (notifier, waiter) = Notifier::new();
        Ok((notifier, || waiter))
    }
}

/// The waiter expects the next notification a period after the last one, and looks for it.
pub(crate) struct Predicting;

impl Mechanism for Predicting {
    const NAME: &'static str = "rt-notify Waiter, Periodic";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let (notifier, waiter) = Notifier::new();
        Ok((notifier, || waiter.with_strategy(WaitStrategy::Periodic(Periodic::learn()))))
    }
}

/// The waiter looks for as long as it takes.
pub(crate) struct Spinning;

impl Mechanism for Spinning {
    const NAME: &'static str = "rt-notify Waiter, Spin";
    const CLASS: Class = Class::Spinning;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let (notifier, waiter) = Notifier::new();
        Ok((notifier, || waiter.with_strategy(WaitStrategy::Spin(Duration::MAX))))
    }
}

/// The waiter looks again and again by `try_wait`.
pub(crate) struct Spun;
pub(crate) struct Spinner(Waiter);

impl Mechanism for Spun {
    const NAME: &'static str = "rt-notify try_wait, spun";
    const CLASS: Class = Class::Spinning;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = Spinner;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Spinner + Send), String> {
        let (notifier, waiter) = Notifier::new();
        Ok((notifier, || Spinner(waiter)))
    }
}

impl Wait for Spinner {
    #[inline]
    fn wait(&mut self) -> u64 {
        loop {
            match self.0.try_wait() {
                Err(TryWaitError::Empty) => spin_loop(),
                taken => return taken.map_or(0, u64::from),
            }
        }
    }
}

pub(crate) struct Counting;
pub(crate) struct Permits(Arc<Semaphore>);

impl Mechanism for Counting {
    const NAME: &'static str = "rt-notify Semaphore";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::EndOneWaitEach;
    const OURS: bool = true;
    type Notifier = Permits;
    type Waiter = Permits;

    fn pair() -> Result<(Permits, impl FnOnce() -> Permits + Send), String> {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = Permits(Arc::clone(&semaphore));
        Ok((Permits(semaphore), || waiter))
    }
}

impl Notify for Permits {
    #[inline]
    fn notify(&self) {
        self.0.post();
    }
}

impl Wait for Permits {
    #[inline]
    fn wait(&mut self) -> u64 {
        self.0.wait();
        1
    }
}

/// The waiter as it stands, always armed.
pub(crate) struct Eventfd;

impl Wait for PollWaiter {
    fn wait(&mut self) -> u64 {
        self.wait().map_or(0, u64::from)
    }
}

impl Mechanism for Eventfd {
    const NAME: &'static str = "rt-notify PollWaiter, eventfd";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = PollWaiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> PollWaiter + Send), String> {
        let (notifier, waiter) = Notifier::pollable().map_err(no_descriptor)?;
        Ok((notifier, || waiter))
    }
}

/// The library compiled with its other descriptor.
pub(crate) struct Pipe;

impl Notify for rt_notify_pipe::Notifier {
    #[inline]
    fn notify(&self) {
        self.notify();
    }
}

impl Wait for rt_notify_pipe::PollWaiter {
    fn wait(&mut self) -> u64 {
        self.wait().map_or(0, u64::from)
    }
}

impl Mechanism for Pipe {
    const NAME: &'static str = "rt-notify PollWaiter, pipe";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = rt_notify_pipe::Notifier;
    type Waiter = rt_notify_pipe::PollWaiter;

    fn pair() -> Result<(Self::Notifier, impl FnOnce() -> Self::Waiter + Send), String> {
        let (notifier, waiter) = rt_notify_pipe::Notifier::pollable().map_err(no_descriptor)?;
        Ok((notifier, || waiter))
    }
}

fn no_descriptor(error: io::Error) -> String {
    format!("no descriptor: {error}")
}

/// The poll loop of one's own, in which the waiter is armed only while it sleeps.
pub(crate) struct Loop;

pub(crate) struct PollLoop {
    poll_loop: ManuallyDrop<rt_notify::PollLoop<'static>>,
    /// What `poll_loop` borrows. Made by `Box::leak`.
    waiter: NonNull<PollWaiter>,
}

impl PollLoop {
    fn new(waiter: PollWaiter) -> Self {
        let mut waiter = NonNull::from(Box::leak(Box::new(waiter)));
        // SAFETY: it was leaked a line ago, and nobody else has the pointer until `drop` ends the borrow.
        let borrowed: &'static mut PollWaiter = unsafe { waiter.as_mut() };
        PollLoop { poll_loop: ManuallyDrop::new(borrowed.poll_loop()), waiter }
    }
}

impl Drop for PollLoop {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { ManuallyDrop::drop(&mut self.poll_loop) };
        // SAFETY: it comes from a box, and its only borrower has just gone.
        drop(unsafe { Box::from_raw(self.waiter.as_ptr()) });
    }
}

impl Mechanism for Loop {
    const NAME: &'static str = "rt-notify PollLoop, eventfd";
    const CLASS: Class = Class::Descriptor;
    const PENDING: Pending = Pending::EndOneWaitTogether;
    const OURS: bool = true;
    type Notifier = Notifier;
    type Waiter = PollLoop;

    fn pair() -> Result<(Notifier, impl FnOnce() -> PollLoop + Send), String> {
        let (notifier, waiter) = Notifier::pollable().map_err(no_descriptor)?;
        Ok((notifier, || PollLoop::new(waiter)))
    }
}

impl Wait for PollLoop {
    fn wait(&mut self) -> u64 {
        loop {
            let fd = self.poll_loop.fd();
            // An interrupted poll is one that says nothing.
            let _ = self.poll_loop.poll(None, |timeout| poll_one(&fd, timeout));
            match self.poll_loop.try_wait() {
                Err(TryWaitError::Empty) => {}
                taken => return taken.map_or(0, u64::from),
            }
        }
    }
}

fn poll_one(fd: &impl AsFd, timeout: Option<Duration>) -> rustix::io::Result<usize> {
    let timeout = timeout.map(|left| Timespec::try_from(left).expect("none or zero"));
    poll(&mut [PollFd::new(fd, PollFlags::IN)], timeout.as_ref())
}
