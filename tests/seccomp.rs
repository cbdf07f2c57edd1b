//! Notifying threads on which the kernel allows one system call only, or none: any other ends the process.
//!
//! How many of that one there are is counted in `syscalls` and `poll_syscalls`.
#![cfg(all(target_os = "linux", not(rt_notify_loom)))]

#[path = "support/child.rs"]
mod child;
#[path = "support/seccomp.rs"]
mod seccomp;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::hint::spin_loop;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use child::{child_status, in_child};
use rt_notify::{NOTIFY_MANY_MAX, Notifier, OnDenied, Priority, Semaphore, Wait, WaitStrategy, Worker};
use seccomp::{Allowed, allow_only, exit, refuse};
use threads::Sleeper;

/// How many notifications a thread has counted.
#[derive(Clone, Default)]
struct Total(Arc<AtomicU32>);

impl Total {
    fn add(&self, n: u32) {
        // Ordering: Release, pairs with the Acquire in `reach`.
        self.0.fetch_add(n, Release);
    }

    /// Looks until it is reached, without a system call.
    fn reach(&self, n: u32) {
        // Ordering: Acquire, pairs with the Release in `add`.
        while self.0.load(Acquire) < n {
            spin_loop();
        }
    }
}

/// A thread that counts, and sleeps now.
fn counting(mut waiter: impl Wait + Send + 'static) -> (Sleeper<()>, Total) {
    let total = Total::default();
    let counted = total.clone();
    let sleeper = Sleeper::spawn_asleep(move || {
        while let Ok(n) = waiter.wait() {
            counted.add(n);
        }
        // The end counts, too.
        counted.add(1);
    });
    (sleeper, total)
}

#[test]
fn nothing_but_arithmetic_while_the_waiter_is_awake() {
    in_child("nothing_but_arithmetic_while_the_waiter_is_awake", || {
        let (notifier, mut waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let (polled, mut poll_waiter) = Notifier::pollable().unwrap();
        // At work: it polls, and reads its descriptor, later.
        let _poll_loop = poll_waiter.poll_loop();
        let semaphore = Semaphore::new(0);
        allow_only(Allowed::Nothing);
        notifier.notify();
        notifier.notify_many(10);
        notifier.flush();
        notifier.expect_next(Instant::now());
        drop(notifier.clone());
        drop(stopper);
        polled.notify();
        polled.flush();
        semaphore.post();
        let are_counted = waiter.try_wait() == Ok(11) && semaphore.try_wait();
        exit(i32::from(!are_counted || notifier.is_closed()));
    });
}

/// Of a pair: nothing but its constructor has run in this process.
#[test]
fn the_first_call_that_a_notifier_makes_is_the_wake_alone() {
    in_child("the_first_call_that_a_notifier_makes_is_the_wake_alone", || {
        let (_notifier, waiter) = Notifier::new();
        let stopper = waiter.stopper();
        allow_only(Allowed::FutexWake);
        stopper.stop();
        exit(0);
    });
}

/// Its constructor is const, and prepares nothing.
#[test]
fn the_first_call_that_a_post_makes_is_the_wake_alone() {
    in_child("the_first_call_that_a_post_makes_is_the_wake_alone", || {
        static SEMAPHORE: Semaphore = Semaphore::new(0);
        static WOKEN: AtomicU32 = AtomicU32::new(0);
        std::thread::spawn(|| {
            SEMAPHORE.wait();
            // Ordering: Release, pairs with the Acquire below.
            WOKEN.store(1, Release);
        });
        // By std's own means: those of `threads` make calls by rustix.
        let is_running = |task: std::io::Result<std::fs::DirEntry>| {
            let stat = task.and_then(|task| std::fs::read_to_string(task.path().join("stat")));
            stat.is_ok_and(|stat| stat.contains(") R "))
        };
        // All but this thread sleep.
        while std::fs::read_dir("/proc/self/task").unwrap().map(is_running).filter(|&runs| runs).count() > 1 {
            spin_loop();
        }
        allow_only(Allowed::FutexWake);
        SEMAPHORE.post();
        // Ordering: Acquire, pairs with the Release above.
        while WOKEN.load(Acquire) == 0 {
            spin_loop();
        }
        exit(0);
    });
}

#[test]
fn nothing_but_arithmetic_while_the_waiter_looks_at_intervals() {
    in_child("nothing_but_arithmetic_while_the_waiter_looks_at_intervals", || {
        let (notifier, waiter) = Notifier::new();
        let (_sleeper, total) =
            counting(waiter.with_strategy(WaitStrategy::Interval(Duration::from_micros(100))));
        allow_only(Allowed::Nothing);
        for n in 1..=1000 {
            notifier.notify();
            total.reach(n);
        }
        exit(0);
    });
}

#[test]
fn nothing_but_arithmetic_while_the_waiter_spins() {
    in_child("nothing_but_arithmetic_while_the_waiter_spins", || {
        let (notifier, waiter) = Notifier::new();
        let total = Total::default();
        let counted = total.clone();
        let mut waiter = waiter.with_strategy(WaitStrategy::Spin(Duration::MAX));
        notifier.notify();
        let _spinner = std::thread::spawn(move || {
            while let Ok(n) = waiter.wait() {
                counted.add(n);
            }
        });
        total.reach(1);
        allow_only(Allowed::Nothing);
        for n in 2..=1000 {
            notifier.notify();
            total.reach(n);
        }
        exit(0);
    });
}

#[test]
fn nothing_but_futex_wake_for_waiters_that_sleep() {
    in_child("nothing_but_futex_wake_for_waiters_that_sleep", || {
        let (notifier, waiter) = Notifier::new();
        let (_sleeper, total) = counting(waiter);
        let (stopped, waiter) = Notifier::new();
        let stopper = waiter.stopper();
        let (_stopped_sleeper, stopped_total) = counting(waiter);
        let semaphore = Arc::new(Semaphore::new(0));
        let permits = Total::default();
        let (waited_for, taken) = (semaphore.clone(), permits.clone());
        let _poster = Sleeper::spawn_asleep(move || {
            waited_for.wait();
            taken.add(1);
        });
        allow_only(Allowed::FutexWake);
        // Whether each finds the waiter asleep or not, is chance after the first one.
        for n in 1..=1000 {
            notifier.notify();
            total.reach(n);
        }
        for _ in 0..1000 {
            notifier.notify();
        }
        notifier.notify_many(NOTIFY_MANY_MAX);
        notifier.flush();
        total.reach(2000 + NOTIFY_MANY_MAX);
        semaphore.post();
        permits.reach(1);
        drop(notifier);
        total.reach(2001 + NOTIFY_MANY_MAX);
        stopper.stop();
        stopped_total.reach(1);
        exit(i32::from(!stopped.is_closed()));
    });
}

#[test]
fn nothing_but_write_for_pollable_waiters() {
    in_child("nothing_but_write_for_pollable_waiters", || {
        let (notifier, waiter) = Notifier::pollable().unwrap();
        let stopper = waiter.stopper();
        let (_sleeper, total) = counting(waiter);
        allow_only(Allowed::Write);
        for n in 1..=1000 {
            notifier.notify();
            total.reach(n);
        }
        notifier.notify_many(1000);
        notifier.flush();
        drop(notifier.clone());
        total.reach(2000);
        stopper.stop();
        total.reach(2001);
        drop(notifier);
        exit(0);
    });
}

#[cfg(feature = "ring")]
#[test]
fn nothing_but_futex_wake_for_the_realtime_ends_of_rings() {
    use rt_notify::ring;
    in_child("nothing_but_futex_wake_for_the_realtime_ends_of_rings", || {
        let (mut producer, reader) = ring::capture::<u32>(64);
        let (writer, mut consumer) = ring::playback::<u32>(64);
        let read = Total::default();
        let counted = read.clone();
        let mut reader = reader;
        let _reader = Sleeper::spawn_asleep(move || {
            while let Ok(n) = reader.wait_for(1) {
                for _ in 0..n {
                    reader.pop().unwrap();
                }
                counted.add(u32::try_from(n).unwrap());
            }
        });
        let mut writer = writer;
        let _writer = std::thread::spawn(move || {
            while writer.wait_for(1).is_ok() {
                while writer.push(7).is_ok() {}
            }
        });
        let mut items = [0; 8];
        while consumer.slots() < 64 {
            spin_loop();
        }
        allow_only(Allowed::FutexWake);
        for n in 1..=1000 {
            producer.push(n).unwrap();
            read.reach(n);
        }
        let overruns = producer.push_slice(&[0; 65]).is_err() && producer.overruns().items == 65;
        producer.flush();
        let reads = consumer.read_slice(&mut items).is_ok() && items == [7; 8] && consumer.pop() == Ok(7);
        // The writer is woken for each, and competes.
        for _ in 0..1000 {
            let _ = consumer.pop();
        }
        let underruns = consumer.read_slice(&mut [0; 65]).is_err() && consumer.underruns().items >= 65;
        consumer.flush();
        drop(producer);
        drop(consumer);
        exit(i32::from(!(overruns && reads && underruns)));
    });
}

/// The planted fault: a filter that lets anything else pass would prove nothing.
fn another_call_is_deadly(name: &str, allowed: Allowed) {
    let status = child_status(name, || {
        allow_only(allowed);
        let _ = rustix::process::getpid();
        exit(0);
    });
    let status = status.expect("the child never gets here");
    assert_eq!(status.signal(), Some(libc::SIGSYS), "{status}");
}

#[test]
fn another_call_than_none_ends_the_process() {
    another_call_is_deadly("another_call_than_none_ends_the_process", Allowed::Nothing);
}

#[test]
fn another_call_than_futex_wake_ends_the_process() {
    another_call_is_deadly("another_call_than_futex_wake_ends_the_process", Allowed::FutexWake);
}

#[test]
fn another_call_than_write_ends_the_process() {
    another_call_is_deadly("another_call_than_write_ends_the_process", Allowed::Write);
}

#[test]
fn where_the_kernel_refuses_priorities_and_descriptors_the_errors_say_so_and_the_rest_works() {
    in_child(
        "where_the_kernel_refuses_priorities_and_descriptors_the_errors_say_so_and_the_rest_works",
        || {
            refuse(&[
                libc::SYS_sched_setscheduler,
                libc::SYS_sched_setparam,
                libc::SYS_sched_setattr,
                libc::SYS_sched_setaffinity,
                libc::SYS_setpriority,
                libc::SYS_eventfd2,
                libc::SYS_pipe2,
            ]);
            assert_eq!(Notifier::pollable().map(drop).unwrap_err().kind(), ErrorKind::PermissionDenied);
            for priority in [Priority::Nice(-20), Priority::Fifo(10), Priority::RoundRobin(10)] {
                let refused = priority.apply().unwrap_err();
                assert_eq!((refused.asked(), refused.kind()), (priority, ErrorKind::PermissionDenied));
                let (_notifier, waiter) = Notifier::new();
                let strict = Worker::builder().priority(priority).on_denied(OnDenied::Fail);
                let refused = strict.spawn(waiter, |_| ()).map(drop).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{priority:?}");
                let (notifier, waiter) = Notifier::new();
                let worker = Worker::builder().priority(priority).spawn(waiter, |mut waiter| {
                    let mut total = 0;
                    while let Ok(n) = waiter.wait() {
                        total += n;
                    }
                    total
                });
                let worker = worker.expect("it goes on without");
                let shortfall = worker.granted().shortfall().expect("it was refused");
                assert_eq!((shortfall.asked(), shortfall.kind()), (priority, ErrorKind::PermissionDenied));
                notifier.notify();
                drop(notifier);
                assert_eq!(worker.join().unwrap(), 1);
            }
        },
    );
}
