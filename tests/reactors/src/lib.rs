//! How to wait for notifications in the reactors that people use: one function each, to be copied.
//!
//! Each takes a [`PollWaiter`], calls `take` with the counts, and returns at the end. In all of them:
//!
//! - Readable means: call `try_wait`. It drains the descriptor; nobody else may read it.
//! - [`TryWaitError::Empty`] is a spurious event. Go on.
//! - At [`TryWaitError::Closed`] leave, which deregisters the descriptor.
//!
//! A loop of one's own ([`poll()`], [`epoll()`], [`mio()`]) wraps the waiter in a `PollLoop`: notifiers then make no system
//! call while the loop is busy.
#![allow(unsafe_code, reason = "tokio asks for a promise about descriptors")]

use std::io;
use std::os::fd::AsFd;

use rt_notify::{PollWaiter, TryWaitError};

/// `poll(2)`, through rustix.
///
/// # Errors
///
/// Those of `poll(2)`.
pub fn poll(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut poll_loop = waiter.poll_loop();
    let fd = poll_loop.fd();
    loop {
        // Together with the descriptors of audio devices, sockets, …
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        poll_loop.poll(None, |timeout| {
            let timeout = timeout.map(|timeout| Timespec::try_from(timeout).expect("short"));
            poll(&mut fds, timeout.as_ref())
        })?;
        match poll_loop.try_wait() {
            Ok(n) => take(n),
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => return Ok(()),
        }
    }
}

/// `epoll(7)`, through rustix. Edge-triggered; level-triggered is the same without `ET`.
///
/// # Errors
///
/// Those of `epoll_create1(2)`, `epoll_ctl(2)` and `epoll_wait(2)`.
pub fn epoll(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use rustix::event::{Timespec, epoll};

    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut poll_loop = waiter.poll_loop();
    epoll::add(
        &epoll,
        &poll_loop,
        epoll::EventData::new_u64(0),
        epoll::EventFlags::IN | epoll::EventFlags::ET,
    )?;
    let mut events = Vec::with_capacity(8);
    loop {
        events.clear();
        poll_loop.poll(None, |timeout| {
            let timeout = timeout.map(|timeout| Timespec::try_from(timeout).expect("short"));
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref())
        })?;
        match poll_loop.try_wait() {
            Ok(n) => take(n),
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => return Ok(()),
        }
    }
}

/// mio, with the library's feature `mio`.
///
/// # Errors
///
/// Those of [`mio::Poll`].
pub fn mio(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use mio::{Events, Interest, Poll, Token};

    let mut poll = Poll::new()?;
    poll.registry().register(&mut waiter, Token(0), Interest::READABLE)?;
    let mut poll_loop = waiter.poll_loop();
    let mut events = Events::with_capacity(8);
    loop {
        poll_loop.poll(None, |timeout| poll.poll(&mut events, timeout))?;
        match poll_loop.try_wait() {
            Ok(n) => take(n),
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => return Ok(()),
        }
    }
}

/// A mio loop that is someone else's, who calls back for each event: without a `PollLoop`.
///
/// # Errors
///
/// Those of [`mio::Poll`].
pub fn mio_always_armed(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use mio::{Events, Interest, Poll, Token};

    let mut poll = Poll::new()?;
    poll.registry().register(&mut waiter, Token(0), Interest::READABLE)?;
    let mut events = Events::with_capacity(8);
    loop {
        poll.poll(&mut events, None)?;
        for _event in &events {
            match waiter.try_wait() {
                Ok(n) => take(n),
                Err(TryWaitError::Empty) => {}
                Err(TryWaitError::Closed) => return poll.registry().deregister(&mut waiter),
            }
        }
    }
}

/// tokio. `Empty` becomes `WouldBlock`, by which `try_io` learns that it has to wait.
///
/// # Errors
///
/// Those of [`AsyncFd`](tokio::io::unix::AsyncFd).
pub async fn tokio(waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    // SAFETY: a `PollWaiter` has one descriptor, always the same, which is open as long as it lives.
    let mut fd = unsafe { AsyncFd::register_with_interest(waiter, Interest::READABLE) }?;
    loop {
        let mut guard = fd.readable_mut().await?;
        match guard.try_io(|fd| Ok(fd.get_mut().try_wait()?)) {
            Ok(Ok(n)) => take(n),
            Ok(Err(closed)) if closed.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(_would_block) => {}
        }
    }
}

/// async-io, which smol uses.
///
/// It hands out its source by shared reference only. So it gets a second descriptor of the same thing.
///
/// # Errors
///
/// Those of [`Async`](async_io::Async), and of duplicating the descriptor.
pub async fn async_io(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use async_io::Async;

    let fd = Async::new_nonblocking(waiter.as_fd().try_clone_to_owned()?)?;
    loop {
        fd.readable().await?;
        match waiter.try_wait() {
            Ok(n) => take(n),
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => return Ok(()),
        }
    }
}

/// calloop. A second descriptor, as for [`async_io()`].
///
/// # Errors
///
/// Those of [`calloop::EventLoop`], and of duplicating the descriptor.
pub fn calloop(mut waiter: PollWaiter, mut take: impl FnMut(u32)) -> io::Result<()> {
    use calloop::generic::Generic;
    use calloop::{EventLoop, Interest, Mode, PostAction};

    let mut event_loop = EventLoop::<bool>::try_new()?;
    let fd = Generic::new(waiter.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    event_loop
        .handle()
        .insert_source(fd, |_readiness, _fd, ends| match waiter.try_wait() {
            Ok(n) => {
                take(n);
                Ok(PostAction::Continue)
            }
            Err(TryWaitError::Empty) => Ok(PostAction::Continue),
            Err(TryWaitError::Closed) => {
                *ends = true;
                Ok(PostAction::Remove)
            }
        })
        .map_err(|insertion| io::Error::from(insertion.error))?;
    let mut ends = false;
    while !ends {
        event_loop.dispatch(None, &mut ends)?;
    }
    Ok(())
}
