//! System calls, counted by strace: as many as each function promises, on the very thread that makes them, and no others.
//!
//! Without strace these tests skip and say so. With `RT_NOTIFY_REQUIRE_STRACE=1` a skip is a failure.
#![cfg(target_os = "linux")]

#[path = "support/kernel.rs"]
mod kernel;
#[path = "support/strace.rs"]
mod strace;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::hint;
use std::os::unix::process::parent_id;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, OnceLock};
use std::thread;

use rt_notify::{Closed, Notifier, Priority, Semaphore, TryWaitError, Waiter, Worker};
use rustix::thread::CpuSet;
use strace::{section, skip, trace};
use stress::until;
use threads::{Probe, Sleeper};

const NONE: &str = "";
const ONE_WAKE: &str = "1 FUTEX_WAKE";

fn keep_to(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}

fn last_cpu() -> usize {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).rfind(|&cpu| set.is_set(cpu)).unwrap()
}

#[test]
fn a_realtime_burst_while_the_worker_sleeps_makes_one_call() {
    const NAME: &str = "a_realtime_burst_while_the_worker_sleeps_makes_one_call";
    if !kernel::privileged() {
        return;
    }
    if thread::available_parallelism().unwrap().get() < 2 {
        return skip(NAME, "strace itself would get no time with one CPU");
    }
    let Some(trace) = trace(NAME, || {
        let cpu = last_cpu();
        // strace must get the processor at once, wherever it is. If it waited behind `stand_in`, the kernel would let the
        // worker run after a second, too.
        kernel::make_realtime(parent_id(), libc::SCHED_FIFO, 20).unwrap();
        let (notifier, waiter) = Notifier::new();
        let probe = Arc::new(OnceLock::new());
        let its_own = probe.clone();
        let worker =
            Worker::builder().priority(Priority::Nice(-20)).cpus(&[cpu]).spawn(waiter, move |mut waiter| {
                assert!(its_own.set(Probe::here()).is_ok());
                let mut counts = Vec::new();
                while let Ok(n) = waiter.wait() {
                    counts.push(n);
                }
                counts
            });
        until("the worker sleeps", || probe.get().is_some_and(Probe::is_asleep));

        let go = Arc::new(Semaphore::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let burst = Sleeper::spawn_asleep({
            let (go, done) = (go.clone(), done.clone());
            move || {
                keep_to(cpu);
                Priority::Fifo(50).apply().unwrap();
                go.wait();
                section("burst", || {
                    for _ in 0..1000 {
                        notifier.notify();
                    }
                });
                done.store(true, Release);
            }
        });
        // strace stops a thread at each call. The worker must not get the processor for it, as it would not without
        // strace: this one takes it.
        let stand_in = thread::spawn(move || {
            keep_to(cpu);
            Priority::Fifo(10).apply().unwrap();
            go.post();
            while !done.load(Acquire) {
                hint::spin_loop();
            }
        });
        burst.join();
        stand_in.join().unwrap();
        assert_eq!(worker.unwrap().join().unwrap(), [1000]);
    }) else {
        return;
    };
    assert_eq!(trace.calls("burst"), ONE_WAKE);
}

#[test]
fn while_the_worker_is_awake_nothing_makes_a_call() {
    let Some(trace) = trace("while_the_worker_is_awake_nothing_makes_a_call", || {
        let (notifier, mut waiter) = Notifier::new();
        let worker = thread::spawn(move || {
            let mut total = 0;
            loop {
                match waiter.try_wait() {
                    Ok(n) => total += n,
                    Err(TryWaitError::Closed) => return total,
                    Err(_) => hint::spin_loop(),
                }
            }
        });
        section("notify", || (0..10_000).for_each(|_| notifier.notify()));
        section("notify_many", || (0..1000).for_each(|_| notifier.notify_many(64)));
        section("notify_many, clamped", || notifier.notify_many(u32::MAX));
        section("flush", || (0..1000).for_each(|_| notifier.flush()));
        assert!(!section("is_closed", || notifier.is_closed()));
        section("clone and drop", || (0..1000).for_each(|_| drop(notifier.clone())));
        drop(notifier);
        assert_eq!(worker.join().unwrap(), 10_000 + 64_000 + Notifier::NOTIFY_MANY_MAX);
    }) else {
        return;
    };
    for name in ["notify", "notify_many", "notify_many, clamped", "flush", "is_closed", "clone and drop"] {
        assert_eq!(trace.calls(name), NONE, "{name}");
    }
}

#[test]
fn one_notifier_makes_at_most_one_call_per_sleep() {
    let Some(trace) = trace("one_notifier_makes_at_most_one_call_per_sleep", || {
        const NOTIFICATIONS: u32 = 5000;
        let (notifier, mut waiter) = Notifier::new();
        let worker = Sleeper::spawn_asleep(move || {
            let mut total = 0;
            section("worker", || {
                while let Ok(n) = waiter.wait() {
                    total += n;
                }
            });
            total
        });
        section("notifier", || {
            for n in 0..NOTIFICATIONS {
                notifier.notify();
                // From none to far longer than a wake takes: some find the worker asleep, some on its way, some awake.
                for _ in 0..(n * 7919) % 20_000 {
                    hint::spin_loop();
                }
            }
        });
        worker.wait_asleep();
        drop(notifier);
        assert_eq!(worker.join(), NOTIFICATIONS);
    }) else {
        return;
    };
    let (rings, sleeps) = (trace.calls("notifier"), trace.calls("worker"));
    println!("notifier: {rings}; worker: {sleeps}");
    let only =
        |calls: &str, name| calls.strip_suffix(name).and_then(|count| count.trim().parse::<u32>().ok());
    let rings = only(&rings, "FUTEX_WAKE").expect("wakes and nothing else");
    let sleeps = only(&sleeps, "FUTEX_WAIT").expect("waits and nothing else");
    // The drop ends the last sleep.
    assert!(0 < rings && rings < sleeps);
}

#[test]
fn nothing_makes_a_call_until_the_target_is_reached() {
    let Some(trace) = trace("nothing_makes_a_call_until_the_target_is_reached", || {
        let (notifier, waiter) = Notifier::new();
        let wait_for_1000 =
            |mut waiter: Waiter| Sleeper::spawn_asleep(move || (waiter.wait_for(1000), waiter));

        let worker = wait_for_1000(waiter);
        section("below the target", || (0..999).for_each(|_| notifier.notify()));
        section("at the target", || notifier.notify());
        let (count, waiter) = worker.join();
        assert_eq!(count, Ok(1000));

        let worker = wait_for_1000(waiter);
        section("past the target at once", || notifier.notify_many(4000));
        let (count, waiter) = worker.join();
        assert_eq!(count, Ok(4000));

        let worker = wait_for_1000(waiter);
        section("flush", || notifier.flush());
        let (count, waiter) = worker.join();
        assert_eq!(count, Ok(0));

        let worker = Sleeper::spawn_asleep({
            let mut waiter = waiter;
            move || waiter.wait_for(1 << 20)
        });
        // It both counts and flushes.
        section("clamped", || notifier.notify_many(u32::MAX));
        assert_eq!(worker.join(), Ok(Notifier::NOTIFY_MANY_MAX));
    }) else {
        return;
    };
    assert_eq!(trace.calls("below the target"), NONE);
    for name in ["at the target", "past the target at once", "flush", "clamped"] {
        assert_eq!(trace.calls(name), ONE_WAKE, "{name}");
    }
}

#[test]
fn the_last_drop_makes_one_call_and_others_none() {
    let Some(trace) = trace("the_last_drop_makes_one_call_and_others_none", || {
        let (notifier, mut waiter) = Notifier::new();
        let worker = Sleeper::spawn_asleep(move || waiter.wait());
        section("clone and drop", || (0..100).for_each(|_| drop(notifier.clone())));
        section("the last drop", || drop(notifier));
        assert_eq!(worker.join(), Err(Closed));

        let (notifier, waiter) = Notifier::new();
        drop(waiter);
        section("without a waiter", || (0..100).for_each(|_| notifier.notify()));
        // It cannot know that nobody sleeps.
        section("the last drop, without a waiter", || drop(notifier));
    }) else {
        return;
    };
    assert_eq!(trace.calls("clone and drop"), NONE);
    assert_eq!(trace.calls("the last drop"), ONE_WAKE);
    assert_eq!(trace.calls("without a waiter"), NONE);
    assert_eq!(trace.calls("the last drop, without a waiter"), ONE_WAKE);
}

#[test]
fn stop_makes_one_call() {
    let Some(trace) = trace("stop_makes_one_call", || {
        let (_notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        section("awake", || stopper.stop());

        let (_notifier, mut asleep) = Notifier::new();
        let other = asleep.stopper();
        let worker = Sleeper::spawn_asleep(move || asleep.wait());
        section("clone and drop", || (0..100).for_each(|_| drop(other.clone())));
        section("asleep", || other.stop());
        assert_eq!(worker.join(), Err(Closed));
        section("dropped", || drop(other));
        assert_eq!(waiter.wait(), Err(Closed));
    }) else {
        return;
    };
    assert_eq!(trace.calls("awake"), ONE_WAKE);
    assert_eq!(trace.calls("clone and drop"), NONE);
    assert_eq!(trace.calls("asleep"), ONE_WAKE);
    assert_eq!(trace.calls("dropped"), NONE);
}

#[test]
fn a_post_makes_one_call_if_a_thread_waits() {
    let Some(trace) = trace("a_post_makes_one_call_if_a_thread_waits", || {
        static SEMAPHORE: Semaphore = Semaphore::new(0);
        section("nobody waits", || (0..1000).for_each(|_| SEMAPHORE.post()));
        while SEMAPHORE.try_wait() {}
        let waiter = Sleeper::spawn_asleep(|| (0..20).for_each(|_| SEMAPHORE.wait()));
        for _ in 0..20 {
            waiter.wait_asleep();
            section("one waits", || SEMAPHORE.post());
            // Until it has taken the permit the next post may meet it half awake.
            while SEMAPHORE.count() > 0 {
                thread::yield_now();
            }
        }
        waiter.join();
    }) else {
        return;
    };
    assert_eq!(trace.calls("nobody waits"), NONE);
    assert_eq!(trace.all("one waits"), [ONE_WAKE; 20]);
}
