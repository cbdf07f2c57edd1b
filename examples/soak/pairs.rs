//! Pairs of a notifier and a waiter, on the futex and on a descriptor.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use rt_notify::{
    NOTIFY_MANY_MAX, Notifier, Periodic, PollLoop, TryWaitError, Wait, WaitStrategy, WaitTimeoutError,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::random::Random;
use crate::tally::Tally;

/// Nothing, a moment, or long enough for the other side to fall asleep.
pub(crate) fn pause(random: &mut Random) {
    match random.below(16) {
        0 => thread::sleep(micros(random.up_to(300))),
        1 => thread::yield_now(),
        2..6 => (0..random.below(500)).for_each(|_| spin_loop()),
        _ => {}
    }
}

pub(crate) fn micros(n: usize) -> Duration {
    Duration::from_micros(n as u64)
}

/// Another generator, for another thread.
pub(crate) fn fork(random: &mut Random) -> Random {
    Random::new(random.below(usize::MAX) as u64)
}

pub(crate) fn strategy(random: &mut Random) -> WaitStrategy {
    match random.below(5) {
        0 => WaitStrategy::Block,
        1 => WaitStrategy::Spin(micros(random.below(50))),
        2 => WaitStrategy::Interval(micros(random.up_to(200))),
        3 => WaitStrategy::Periodic(Periodic::learn()),
        _ => WaitStrategy::Periodic(Periodic::every(micros(random.up_to(500))).max_cpu(0.2)),
    }
}

/// Notifies in every way, now and then by a clone. Returns how many.
pub(crate) fn notify(notifier: Notifier, random: &mut Random) -> u64 {
    let mut notifier = notifier;
    let mut sent = 0;
    for _ in 0..random.below(60) {
        match random.below(10) {
            0 => {
                let n = u32::try_from(random.below(100)).expect("it is small");
                debug_assert!(n <= NOTIFY_MANY_MAX);
                notifier.notify_many(n);
                sent += u64::from(n);
            }
            1 => notifier.flush(),
            2 => notifier.expect_next(Instant::now() + micros(random.below(300))),
            3 => notifier = notifier.clone(),
            _ => {
                notifier.notify();
                sent += 1;
            }
        }
        pause(random);
    }
    sent
}

/// Waits once, in any way. `None` is the end.
pub(crate) fn wait<W: Wait>(waiter: &mut W, random: &mut Random) -> Option<u64> {
    let target = u32::try_from(random.up_to(20)).expect("it is small");
    let timeout = micros(random.below(500));
    let taken = match random.below(6) {
        0 | 1 => waiter.wait().map_err(WaitTimeoutError::from),
        2 => waiter.try_wait().map_err(WaitTimeoutError::from),
        3 => waiter.wait_timeout(timeout),
        4 => waiter.wait_for(target).map_err(WaitTimeoutError::from),
        _ => waiter.wait_for_deadline(target, Instant::now() + timeout),
    };
    match taken {
        Ok(n) => Some(n.into()),
        Err(WaitTimeoutError::Closed) => None,
        Err(_) => Some(0),
    }
}

/// One to four threads that notify, and return what they have sent.
fn notifying(notifier: Notifier, random: &mut Random) -> Vec<thread::JoinHandle<u64>> {
    let threads = (0..random.up_to(4)).map(|_| {
        let (notifier, mut random) = (notifier.clone(), fork(random));
        thread::spawn(move || notify(notifier, &mut random))
    });
    threads.collect()
}

/// Joins them. Returns what they have sent.
fn joined(threads: Vec<thread::JoinHandle<u64>>) -> Result<u64, String> {
    let sent = threads.into_iter().map(|thread| thread.join().map_err(|_| "a notifying thread panicked"));
    Ok(sent.sum::<Result<u64, _>>()?)
}

/// Waits till the end, or stops or drops the waiter on the way. Closed must stay closed.
fn until_closed<W: Wait>(
    mut waiter: W,
    notifier: Notifier,
    random: &mut Random,
    mut between: impl FnMut(&mut W, &mut Random),
) -> Result<Tally, String> {
    let threads = notifying(notifier, random);
    let stopped_after = (random.below(4) == 0).then(|| random.below(20));
    let dropped_after = (random.below(8) == 0).then(|| random.below(20));
    let mut arrived = 0;
    for waits in 0.. {
        if dropped_after == Some(waits) {
            drop(waiter);
            return Tally::cut_short(joined(threads)?, arrived);
        }
        if stopped_after == Some(waits) {
            waiter.stopper().stop();
        }
        between(&mut waiter, random);
        match wait(&mut waiter, random) {
            Some(n) => arrived += n,
            None => break,
        }
    }
    let sent = joined(threads)?;
    if waiter.try_wait() != Err(TryWaitError::Closed) {
        return Err("a closed waiter is not closed any more".to_owned());
    }
    if stopped_after.is_some() { Tally::cut_short(sent, arrived) } else { Tally::exact(sent, arrived) }
}

pub(crate) fn on_a_futex(random: &mut Random) -> Result<Tally, String> {
    let (notifier, waiter) = Notifier::new();
    let waiter = waiter.with_strategy(strategy(random));
    until_closed(waiter, notifier, random, |waiter, random| {
        if random.below(20) == 0 {
            waiter.set_strategy(strategy(random));
        }
    })
}

pub(crate) fn on_a_descriptor(random: &mut Random) -> Result<Tally, String> {
    let (notifier, waiter) = Notifier::pollable().map_err(|error| format!("no descriptor: {error}"))?;
    until_closed(waiter, notifier, random, |_, _| {})
}

/// A loop around `poll`, now and then left and entered again.
pub(crate) fn in_a_poll_loop(random: &mut Random) -> Result<Tally, String> {
    let (notifier, mut waiter) = Notifier::pollable().map_err(|error| format!("no descriptor: {error}"))?;
    let threads = notifying(notifier, random);
    let mut arrived = 0;
    'entered: loop {
        let mut poll_loop = waiter.poll_loop();
        for _ in 0..random.up_to(20) {
            poll_once(&mut poll_loop, random)?;
            match poll_loop.try_wait() {
                Ok(n) => arrived += u64::from(n),
                Err(TryWaitError::Closed) => break 'entered,
                Err(_) => {}
            }
            pause(random);
        }
    }
    Tally::exact(joined(threads)?, arrived)
}

fn poll_once(poll_loop: &mut PollLoop<'_>, random: &mut Random) -> Result<(), String> {
    let fd = poll_loop.fd();
    let timeout = (random.below(3) == 0).then(|| micros(random.below(500)));
    let polled = poll_loop.poll(timeout, |timeout| {
        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).expect("it is short"));
        poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], timeout.as_ref())
    });
    polled.map(drop).map_err(|error| format!("poll: {error}"))
}
