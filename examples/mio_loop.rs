//! Notifications, a timer and a child process in one mio loop: `cargo run --example mio_loop --features mio`.

use std::error::Error;
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use mio::unix::{SourceFd, pipe};
use mio::{Events, Interest, Poll, Token};
use rt_notify::{Notifier, TryWaitError};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use rustix::time::{timerfd_create, timerfd_settime};

const NOTIFICATIONS: Token = Token(0);
const TIMER: Token = Token(1);
const CHILD: Token = Token(2);

fn main() -> Result<(), Box<dyn Error>> {
    // 1. Stands for an audio thread: every 3 ms it has something for this one. Its end closes the pair.
    let (notifier, mut waiter) = Notifier::pollable()?;
    let audio = thread::spawn(move || {
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(3));
            notifier.notify();
        }
    });

    // 2. A timer, every 50 ms, and a child that says ten things at once. Everything non-blocking.
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    let period = Timespec::try_from(Duration::from_millis(50))?;
    let every = Itimerspec { it_interval: period, it_value: period };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every)?;
    let mut child = Command::new("seq").arg("10").stdout(Stdio::piped()).spawn()?;
    let mut output = pipe::Receiver::from(child.stdout.take().expect("piped"));
    output.set_nonblocking(true)?;

    // 3. One poll. The notifications are in it from the start, and stay whatever else comes and goes.
    let mut poll = Poll::new()?;
    poll.registry().register(&mut waiter, NOTIFICATIONS, Interest::READABLE)?;
    poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), TIMER, Interest::READABLE)?;
    poll.registry().register(&mut output, CHILD, Interest::READABLE)?;

    // 4. In a poll loop, `notify` makes a system call only while this thread sleeps in the poller.
    let mut poll_loop = waiter.poll_loop();
    let (mut events, mut text) = (Events::with_capacity(8), Vec::new());
    let (mut count, mut ticks, mut closed, mut ended) = (0, 0, false, false);
    while !closed || !ended {
        if let Err(error) = poll_loop.poll(None, |timeout| poll.poll(&mut events, timeout)) {
            assert_eq!(error.kind(), ErrorKind::Interrupted);
        }
        // 5. mio tells of a change once: take all there is, until a read would block or the source ends.
        if events.iter().any(|event| event.token() == TIMER) {
            let mut expirations = [0; 8];
            while rustix::io::read(&timer, &mut expirations).is_ok() {
                ticks += u64::from_ne_bytes(expirations);
            }
        }
        if events.iter().any(|event| event.token() == CHILD) {
            match output.read_to_end(&mut text) {
                Ok(_) => ended = true,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        // 6. After every poll, whatever the events say. Once told `Closed`, the loop sleeps for the others alone.
        match poll_loop.try_wait() {
            Ok(n) => count += n,
            Err(TryWaitError::Empty) => {}
            Err(TryWaitError::Closed) => closed = true,
        }
    }

    audio.join().expect("it does not panic");
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    println!("{count} notifications, {ticks} ticks, {lines} lines of the child's");
    assert!(child.wait()?.success() && count == 100 && ticks >= 5 && lines == 10);
    Ok(())
}
