//! In every reactor: ten thousand notifications from a realtime thread arrive, and then nobody wakes any more.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "no safe wrapper makes a thread realtime")]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rt_notify::{Notifier, PollWaiter};
use rt_notify_reactors as reactors;

const NOTIFICATIONS: u32 = 10_000;
const IDLE: Duration = Duration::from_secs(1);
/// Longer than anything that works takes, on any machine.
const GENEROUS: Duration = Duration::from_secs(60);
/// The threads of a reactor, besides async-io's own.
const NAME: &str = "reactor";

/// Threads are told apart by their names: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Looks until it holds.
#[track_caller]
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < GENEROUS, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// How often each of the reactor's threads has been woken, or `None` if one is awake.
fn wake_ups() -> Option<BTreeMap<String, u64>> {
    let mut wake_ups = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        // A thread may end meanwhile.
        let Ok(status) = fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let value = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim_start_matches(':').trim().to_owned()
        };
        if [NAME, "async-io"].contains(&value("Name").as_str()) {
            if !value("State").starts_with('S') {
                return None;
            }
            wake_ups.insert(value("Pid"), value("voluntary_ctxt_switches").parse().unwrap());
        }
    }
    Some(wake_ups)
}

/// From a thread with a realtime priority, where that is permitted.
fn notify_from_realtime_thread(notifier: &Notifier) {
    const PRIORITY: i32 = 70;
    thread::scope(|scope| {
        scope.spawn(|| {
            let parameters = libc::sched_param { sched_priority: PRIORITY };
            // SAFETY: the pointer is that of a valid structure; 0 is the calling thread.
            if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } != 0 {
                println!("SCHED_FIFO is refused ({}): an ordinary thread", io::Error::last_os_error());
            }
            for n in 0..NOTIFICATIONS {
                notifier.notify();
                // Bursts, so that the reactor is met busy, falling asleep and asleep.
                match n % 100 {
                    0..50 => {}
                    50..98 => (0..n % 64 * 8).for_each(|_| std::hint::spin_loop()),
                    _ => thread::sleep(Duration::from_micros(u64::from(n % 7) * 50)),
                }
            }
        });
    });
}

/// `serve` runs until the end, and calls back with the counts.
fn serves(serve: impl FnOnce(PollWaiter, Box<dyn FnMut(u32) + Send>) -> io::Result<()> + Send + 'static) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (notifier, waiter) = Notifier::pollable().unwrap();
    let total = Arc::new(AtomicU32::new(0));
    let take = Box::new({
        let total = total.clone();
        move |n| {
            total.fetch_add(n, Relaxed);
        }
    });
    let reactor = thread::Builder::new().name(NAME.into()).spawn(|| serve(waiter, take)).unwrap();

    notify_from_realtime_thread(&notifier);
    until("all notifications arrive", || total.load(Relaxed) == NOTIFICATIONS);

    // async-io's thread gets up a few times by itself, at shorter and longer intervals, before it sleeps for good.
    let mut calm = None;
    until("the reactor calms down", || {
        calm = wake_ups();
        thread::sleep(IDLE / 5);
        calm.is_some() && calm == wake_ups()
    });
    thread::sleep(IDLE);
    assert_eq!(wake_ups(), calm, "woken without a cause");

    drop(notifier);
    reactor.join().unwrap().unwrap();
    assert_eq!(total.load(Relaxed), NOTIFICATIONS);
}

#[test]
fn plain_poll() {
    serves(reactors::poll);
}

#[test]
fn plain_epoll() {
    serves(reactors::epoll);
}

#[test]
fn mio() {
    serves(reactors::mio);
}

#[test]
fn mio_always_armed() {
    serves(reactors::mio_always_armed);
}

#[test]
fn tokio_async_fd_on_a_multi_threaded_runtime() {
    serves(|waiter, take| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name(NAME)
            .enable_all()
            .build()
            .unwrap();
        let task = runtime.spawn(reactors::tokio(waiter, take));
        runtime.block_on(task).unwrap()
    });
}

#[test]
fn async_io() {
    serves(|waiter, take| async_io::block_on(reactors::async_io(waiter, take)));
}

#[test]
fn calloop() {
    serves(reactors::calloop);
}
