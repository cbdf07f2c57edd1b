//! The library, called as the model is.

use std::time::{Duration, Instant};

use rt_notify::{
    Closed, Notifier, PollWaiter, Stopper, TryWaitError, Wait, WaitStrategy, WaitTimeoutError, Waiter,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::call::{Call, Turn};
use super::reference::{Answer, Reference};

/// What only one of the backends has.
pub(crate) trait Waiting: Wait {
    const HAS_POLL_LOOP: bool;
    fn set_strategy(&mut self, strategy: WaitStrategy);
    /// Takes the turns in a poll loop; `None` if there is none.
    fn poll_loop(&mut self, turns: &[Turn], notifier: Option<&Notifier>) -> Option<Vec<Answer>>;
    /// Whether a poller would wake, if there is a descriptor.
    fn is_readable(&self) -> Option<bool>;
}

impl Waiting for Waiter {
    const HAS_POLL_LOOP: bool = false;

    fn set_strategy(&mut self, strategy: WaitStrategy) {
        self.set_strategy(strategy);
    }

    fn poll_loop(&mut self, _: &[Turn], _: Option<&Notifier>) -> Option<Vec<Answer>> {
        None
    }

    fn is_readable(&self) -> Option<bool> {
        None
    }
}

impl Waiting for PollWaiter {
    const HAS_POLL_LOOP: bool = true;

    fn set_strategy(&mut self, _: WaitStrategy) {}

    fn poll_loop(&mut self, turns: &[Turn], notifier: Option<&Notifier>) -> Option<Vec<Answer>> {
        let mut poll_loop = self.poll_loop();
        let fd = poll_loop.fd();
        let mut turn = |turn| match (turn, notifier) {
            (Turn::Poll, notifier) => poll_loop.poll(None, |timeout| {
                if timeout.is_none()
                    && let Some(notifier) = notifier
                {
                    let is_over = notifier.is_closed();
                    notifier.notify();
                    assert!(is_readable(&fd) || is_over, "a poll that was notified goes on");
                }
                Answer::Flag(timeout == Some(Duration::ZERO))
            }),
            (Turn::Notify, Some(notifier)) => {
                notifier.notify();
                Answer::Nothing
            }
            (Turn::Flush, Some(notifier)) => {
                notifier.flush();
                Answer::Nothing
            }
            (Turn::Notify | Turn::Flush, None) => Answer::NotCalled,
            (Turn::TryWait, _) => tried(poll_loop.try_wait()),
        };
        Some(turns.iter().map(|it| turn(*it)).collect())
    }

    fn is_readable(&self) -> Option<bool> {
        Some(is_readable(self))
    }
}

fn is_readable(fd: &impl std::os::fd::AsFd) -> bool {
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&none)).expect("a descriptor") == 1
}

pub(crate) struct Pair<W> {
    notifiers: Vec<Notifier>,
    stoppers: Vec<Stopper>,
    waiter: W,
}

impl<W: Waiting> Pair<W> {
    pub(crate) fn new(notifier: Notifier, waiter: W) -> Self {
        Pair { notifiers: vec![notifier], stoppers: vec![waiter.stopper()], waiter }
    }

    pub(crate) fn take(&mut self, call: &Call, would_not_sleep: bool) -> Answer {
        let nothing = |()| Answer::Nothing;
        let notifier = self.notifiers.last();
        let stopper = self.stoppers.last();
        let done = match call {
            Call::Notify => notifier.map(Notifier::notify).map(nothing),
            Call::NotifyMany(n) => notifier.map(|it| it.notify_many(*n)).map(nothing),
            Call::Flush => notifier.map(Notifier::flush).map(nothing),
            Call::ExpectNext => {
                notifier.map(|it| it.expect_next(Instant::now() + Duration::from_micros(300))).map(nothing)
            }
            Call::IsClosed => notifier.map(|it| Answer::Flag(it.is_closed())),
            Call::CloneNotifier => notifier.cloned().map(|it| self.notifiers.push(it)).map(nothing),
            Call::DropNotifier => self.notifiers.pop().map(drop).map(nothing),
            Call::CloneStopper => stopper.cloned().map(|it| self.stoppers.push(it)).map(nothing),
            Call::DropStopper => self.stoppers.pop().map(drop).map(nothing),
            Call::Stop => stopper.map(Stopper::stop).map(nothing),
            Call::TryWait => Some(tried(self.waiter.try_wait())),
            Call::Wait => would_not_sleep.then(|| waited(self.waiter.wait())),
            Call::WaitFor(n) => would_not_sleep.then(|| waited(self.waiter.wait_for(*n))),
            Call::WaitTimeout => Some(timed(self.waiter.wait_timeout(Duration::ZERO))),
            Call::WaitForDeadline(n) => Some(timed(self.waiter.wait_for_deadline(*n, Instant::now()))),
            Call::SetStrategy(strategy) => {
                self.waiter.set_strategy(strategy.get());
                Some(Answer::Nothing)
            }
            Call::PollLoop(turns) => self.waiter.poll_loop(turns, notifier).map(Answer::Turns),
        };
        done.unwrap_or(Answer::NotCalled)
    }

    /// What must be true between calls.
    pub(crate) fn check(&self, reference: &Reference) -> Result<(), String> {
        if reference.wakes_a_poller() && self.waiter.is_readable() == Some(false) {
            return Err("something is pending, and the descriptor is not readable".into());
        }
        Ok(())
    }
}

fn tried(result: Result<u32, TryWaitError>) -> Answer {
    match result {
        Ok(n) => Answer::Count(n),
        Err(TryWaitError::Empty) => Answer::Empty,
        Err(TryWaitError::Closed) => Answer::Closed,
    }
}

fn waited(result: Result<u32, Closed>) -> Answer {
    result.map_or(Answer::Closed, Answer::Count)
}

fn timed(result: Result<u32, WaitTimeoutError>) -> Answer {
    match result {
        Ok(n) => Answer::Count(n),
        Err(WaitTimeoutError::Timeout) => Answer::Empty,
        Err(WaitTimeoutError::Closed) => Answer::Closed,
    }
}
