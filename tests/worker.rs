//! Workers: how they start, stop, end and fail.

#[cfg(target_os = "linux")]
#[path = "support/child.rs"]
mod child;
#[cfg(target_os = "linux")]
#[path = "support/kernel.rs"]
mod kernel;

use std::error::Error;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{io, thread};

use rt_notify::{
    Closed, Granted, Notifier, OnDenied, Priority, PriorityError, Wait, WaitTimeoutError, Worker,
    WorkerBuilder, WorkerPanic,
};

fn count(mut waiter: impl Wait) -> u64 {
    let mut total = 0;
    while let Ok(n) = waiter.wait() {
        total += u64::from(n);
    }
    total
}

#[test]
fn every_type_crosses_threads() {
    fn check<T: Send + Sync>() {}
    check::<Worker<std::cell::Cell<u8>>>();
    check::<WorkerBuilder>();
    check::<WorkerPanic>();
    check::<Granted>();
    check::<Priority>();
    check::<PriorityError>();
}

#[test]
fn stop_hands_out_what_is_pending_and_returns_the_result() {
    let (notifier, waiter) = Notifier::new();
    let worker = Worker::builder().spawn(waiter, count).unwrap();
    for _ in 0..1000 {
        notifier.notify();
    }
    assert_eq!(worker.stop().unwrap(), 1000);
    assert!(notifier.is_closed());
}

#[test]
fn join_waits_until_the_last_notifier_is_gone() {
    let (notifier, waiter) = Notifier::new();
    let worker = Worker::builder().spawn(waiter, count).unwrap();
    let other = notifier.clone();
    let notifying = thread::spawn(move || {
        for _ in 0..1000 {
            other.notify();
        }
    });
    notifier.notify();
    drop(notifier);
    assert_eq!(worker.join().unwrap(), 1001);
    notifying.join().unwrap();
}

#[test]
fn stopper_ends_the_worker_from_elsewhere() {
    let (notifier, waiter) = Notifier::new();
    let worker = Worker::builder().spawn(waiter, count).unwrap();
    assert!(!worker.is_finished());
    let stopper = worker.stopper();
    thread::spawn(move || stopper.stop()).join().unwrap();
    while !worker.is_finished() {
        thread::yield_now();
    }
    assert_eq!(worker.join().unwrap(), 0);
    drop(notifier);
}

#[test]
fn drop_ends_a_wait_without_a_timeout() {
    let (notifier, waiter) = Notifier::new();
    let (sender, ended) = mpsc::channel();
    let worker = Worker::builder().spawn(waiter, move |mut waiter| {
        sender.send(waiter.wait()).unwrap();
    });
    drop(worker.unwrap());
    // Drop has joined: nothing is to be waited for.
    assert_eq!(ended.try_recv(), Ok(Err(Closed)));
    drop(notifier);
}

#[test]
fn drop_ends_a_loop_that_goes_on_after_timeouts() {
    let (notifier, waiter) = Notifier::new();
    let (sender, ended) = mpsc::channel();
    let worker = Worker::builder().spawn(waiter, move |mut waiter| {
        let mut turns = 0_u32;
        while waiter.wait_timeout(Duration::from_millis(1)) == Err(WaitTimeoutError::Timeout) {
            turns += 1;
            let _ = sender.send(turns);
        }
    });
    ended.recv().unwrap();
    drop(worker.unwrap());
    assert!(notifier.is_closed());
}

#[test]
fn worker_can_be_dropped_in_its_own_closure() {
    let (notifier, waiter) = Notifier::new();
    let (hand_over, handed) = mpsc::channel::<Worker<()>>();
    let (sender, ended) = mpsc::channel();
    let worker = Worker::builder().spawn(waiter, move |mut waiter| {
        drop(handed.recv().unwrap());
        // Stopped, but not waited for.
        sender.send(waiter.wait()).unwrap();
    });
    hand_over.send(worker.unwrap()).unwrap();
    assert_eq!(ended.recv(), Ok(Err(Closed)));
    assert!(notifier.is_closed());
}

#[test]
fn joining_oneself_is_a_panic_and_no_deadlock() {
    let (_notifier, waiter) = Notifier::new();
    let (hand_over, handed) = mpsc::channel::<Worker<()>>();
    let (sender, ended) = mpsc::channel();
    let worker = Worker::builder().spawn(waiter, move |_waiter| {
        let worker = handed.recv().unwrap();
        let attempt = panic::catch_unwind(AssertUnwindSafe(|| worker.stop().unwrap()));
        sender.send(attempt.is_err()).unwrap();
    });
    hand_over.send(worker.unwrap()).unwrap();
    assert_eq!(ended.recv(), Ok(true));
}

#[test]
fn panic_reaches_join_with_its_payload() {
    let panicking = |panic: fn()| {
        let (notifier, waiter) = Notifier::new();
        let worker = Worker::builder().spawn(waiter, move |_waiter| panic()).unwrap();
        let error = worker.join().unwrap_err();
        assert!(notifier.is_closed());
        error
    };

    let error = panicking(|| panic!("disk full"));
    assert_eq!(error.message(), Some("disk full"));
    assert_eq!(error.to_string(), "the worker panicked: disk full");
    let caught = panic::catch_unwind(|| panic::resume_unwind(error.into_inner())).unwrap_err();
    assert_eq!(caught.downcast_ref(), Some(&"disk full"));

    let error = panicking(|| panic!("{} full", "disk"));
    assert_eq!(error.message(), Some("disk full"));

    let error = panicking(|| panic::panic_any(7_u8));
    assert_eq!(error.message(), None);
    assert_eq!(error.to_string(), "the worker panicked");
    let error: Box<dyn Error + Send + Sync> = error.into();
    let error = *error.downcast::<WorkerPanic>().unwrap();
    assert_eq!(error.into_inner().downcast_ref(), Some(&7_u8));
}

#[test]
fn drop_of_a_panicked_worker_is_silent() {
    let (notifier, waiter) = Notifier::new();
    let worker = Worker::builder().spawn(waiter, |_waiter| panic!("on purpose")).unwrap();
    while !worker.is_finished() {
        thread::yield_now();
    }
    drop(worker);
    assert!(notifier.is_closed());
}

#[test]
fn wrong_descriptions_are_errors() {
    for builder in [Worker::builder().name("a\0b"), Worker::builder().cpus(&[])] {
        for on_denied in [OnDenied::Continue, OnDenied::Fail] {
            let (notifier, waiter) = Notifier::new();
            let error = builder.clone().on_denied(on_denied).spawn(waiter, |_| ()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(notifier.is_closed());
        }
    }
}

#[test]
fn refused_worker_leaves_nothing_behind() {
    let (notifier, waiter) = Notifier::new();
    let captured = Arc::new(());
    let held = Arc::clone(&captured);
    // No machine has that many CPUs; other platforms refuse any.
    let builder = Worker::builder().cpus(&[usize::MAX]).on_denied(OnDenied::Fail);
    let error = builder.spawn(waiter, move |_| drop(held)).unwrap_err();
    assert!(error.to_string().contains(&usize::MAX.to_string()), "{error}");
    assert!(notifier.is_closed());
    assert_eq!(Arc::strong_count(&captured), 1);
}

#[test]
fn worker_without_its_cpus_runs_and_tells() {
    let (notifier, waiter) = Notifier::new();
    let worker = Worker::builder().cpus(&[usize::MAX]).spawn(waiter, count).unwrap();
    assert!(worker.granted().cpus_refused().is_some());
    assert!(worker.granted().shortfall().is_none());
    notifier.notify();
    assert_eq!(worker.stop().unwrap(), 1);
}

#[test]
fn debug_shows_name_and_priority() {
    let (_notifier, waiter) = Notifier::new();
    let worker = Worker::builder().name("disk").spawn(waiter, count).unwrap();
    let text = format!("{worker:?}");
    assert!(text.contains("disk") && text.contains("granted"), "{text}");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitStatus;
    use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
    use std::time::Instant;

    use rustix::process::Resource;
    use std::os::unix::process::ExitStatusExt;
    use std::{fs, hint};

    use super::child::{child_status, in_child};
    use super::*;

    /// A worker that has sent its thread id and waits.
    fn waiting(builder: WorkerBuilder) -> (Notifier, Worker<u64>, i32) {
        let (notifier, waiter) = Notifier::new();
        let (sender, tid) = mpsc::channel();
        let worker = builder.spawn(waiter, move |waiter| {
            sender.send(kernel::tid()).unwrap();
            count(waiter)
        });
        (notifier, worker.unwrap(), tid.recv().unwrap())
    }

    #[test]
    fn name_is_that_of_the_thread() {
        let (_notifier, _worker, tid) = waiting(Worker::builder().name("disk"));
        assert_eq!(kernel::status(tid, "Name"), "disk");
    }

    #[test]
    fn nothing_locks_memory() {
        let (_notifier, worker, tid) = waiting(Worker::builder().priority(Priority::Fifo(1)));
        let _polled = Notifier::pollable().unwrap();
        assert_eq!(kernel::status(tid, "VmLck"), "0 kB", "{}", worker.granted());
    }

    #[test]
    fn worker_keeps_to_its_cpus() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..1024).rfind(|&cpu| allowed.is_set(cpu)).unwrap();
        let builder = Worker::builder().cpus(&[usize::MAX, cpu]).on_denied(OnDenied::Fail);
        let (_notifier, worker, tid) = waiting(builder);
        assert!(worker.granted().cpus_refused().is_none());
        assert_eq!(kernel::status(tid, "Cpus_allowed_list"), cpu.to_string());
    }

    #[test]
    fn asynchronous_signals_are_blocked_in_the_worker_only() {
        let before = kernel::blocked_signals();
        let (_notifier, _worker, tid) = waiting(Worker::builder());
        assert_eq!(kernel::blocked_signals(), before);

        let (_, waiter) = Notifier::new();
        Worker::builder().name("a\0b").spawn(waiter, |_| ()).unwrap_err();
        assert_eq!(kernel::blocked_signals(), before, "also after an error");

        let mask = u64::from_str_radix(&kernel::status(tid, "SigBlk"), 16).unwrap();
        let blocked = |signal: i32| mask & (1 << (signal - 1)) != 0;
        let own = [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGSYS,
            libc::SIGABRT,
        ];
        for signal in (1..libc::SIGRTMIN()).filter(|&signal| signal < 32).chain(libc::SIGRTMIN()..=64) {
            let never = signal == libc::SIGKILL || signal == libc::SIGSTOP;
            assert_eq!(blocked(signal), !own.contains(&signal) && !never, "signal {signal}");
        }
    }

    #[test]
    fn signals_are_not_handled_in_the_worker() {
        static HANDLED: AtomicU32 = AtomicU32::new(0);
        static HANDLED_BY: AtomicI32 = AtomicI32::new(0);
        extern "C" fn handler(_: i32) {
            HANDLED_BY.store(kernel::tid(), Ordering::Relaxed);
            HANDLED.fetch_add(1, Ordering::Release);
        }

        in_child("linux::signals_are_not_handled_in_the_worker", || {
            kernel::handle(libc::SIGTERM, handler);
            let (notifier, worker, tid) = waiting(Worker::builder());
            kernel::signal_process(libc::SIGTERM);
            while HANDLED.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            assert_ne!(HANDLED_BY.load(Ordering::Relaxed), tid);

            // The kernel prefers the main thread. So that nothing depends on that, once more to the worker alone:
            // were it not blocked, it would be handled before the worker runs on.
            kernel::signal_thread(tid, libc::SIGTERM);
            notifier.notify();
            assert_eq!(worker.stop().unwrap(), 1);
            assert_eq!(HANDLED.load(Ordering::Acquire), 1);
        });
    }

    #[test]
    fn spawn_at_the_limit_of_threads_is_an_error() {
        in_child("linux::spawn_at_the_limit_of_threads_is_an_error", || {
            let threads = || fs::read_dir("/proc/self/task").unwrap().count();
            if kernel::is_root() {
                kernel::become_nobody();
            }
            let before = (kernel::blocked_signals(), threads());
            let unlimited = rustix::process::getrlimit(Resource::Nproc).current;
            kernel::limit(Resource::Nproc, 1).unwrap();
            for on_denied in [OnDenied::Continue, OnDenied::Fail] {
                let (notifier, waiter) = Notifier::new();
                let error = Worker::builder().on_denied(on_denied).spawn(waiter, count).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
                assert!(notifier.is_closed());
                assert_eq!((kernel::blocked_signals(), threads()), before);
            }
            kernel::limit(Resource::Nproc, unlimited.unwrap_or(4096)).unwrap();
            let (notifier, waiter) = Notifier::new();
            let worker = Worker::builder().spawn(waiter, count).unwrap();
            notifier.notify();
            assert_eq!(worker.stop().unwrap(), 1);
        });
    }

    #[test]
    fn spawn_needs_no_descriptor() {
        in_child("linux::spawn_needs_no_descriptor", || {
            kernel::limit(Resource::Nofile, 0).unwrap();
            let (notifier, waiter) = Notifier::new();
            let worker = Worker::builder().priority(Priority::Nice(-20)).spawn(waiter, count).unwrap();
            notifier.notify();
            assert_eq!(worker.stop().unwrap(), 1);
        });
    }

    #[test]
    fn process_ends_while_a_worker_has_dropped_itself() {
        in_child("linux::process_ends_while_a_worker_has_dropped_itself", || {
            let (_notifier, waiter) = Notifier::new();
            let (hand_over, handed) = mpsc::channel::<Worker<()>>();
            let (sender, dropped) = mpsc::channel();
            let worker = Worker::builder().spawn(waiter, move |_waiter| {
                drop(handed.recv().unwrap());
                sender.send(()).unwrap();
                loop {
                    thread::park();
                }
            });
            hand_over.send(worker.unwrap()).unwrap();
            dropped.recv().unwrap();
        });
    }

    /// Under an `RLIMIT_RTTIME` of 200 ms, runs a FIFO worker that finds something pending whenever it waits.
    fn busy_realtime_worker(
        name: &str,
        duration: Duration,
        mut turn: impl FnMut() + Send + 'static,
    ) -> Option<ExitStatus> {
        child_status(name, || {
            kernel::limit(Resource::Rttime, 200_000).unwrap();
            let (notifier, waiter) = Notifier::new();
            let builder = Worker::builder().priority(Priority::Fifo(1)).on_denied(OnDenied::Fail);
            let worker = builder.spawn(waiter, move |mut waiter| {
                let start = Instant::now();
                while start.elapsed() < duration {
                    // A producer that is always faster. One on another thread may not run for a while.
                    notifier.notify();
                    waiter.wait().unwrap();
                    turn();
                }
                kernel::status(kernel::tid(), "voluntary_ctxt_switches").parse::<u128>().unwrap()
            });
            let blocked = worker.unwrap().join().unwrap();
            assert!(blocked >= duration.as_millis() / 100, "blocked only {blocked} times");
        })
    }

    fn work(duration: Duration) {
        let start = Instant::now();
        while start.elapsed() < duration {
            hint::spin_loop();
        }
    }

    #[test]
    fn realtime_worker_that_blocks_survives_rttime() {
        if !kernel::privileged() {
            return;
        }
        let name = "linux::realtime_worker_that_blocks_survives_rttime";
        let status = busy_realtime_worker(name, Duration::from_millis(1500), || {
            work(Duration::from_millis(5));
            thread::sleep(Duration::from_micros(100));
        });
        if let Some(status) = status {
            assert!(status.success(), "{status}");
        }
    }

    /// So that the test above proves something, and the warning in the documentation is true.
    #[test]
    fn realtime_worker_that_never_blocks_is_killed_by_rttime() {
        if !kernel::privileged() {
            return;
        }
        let name = "linux::realtime_worker_that_never_blocks_is_killed_by_rttime";
        let status = busy_realtime_worker(name, Duration::from_secs(30), || {
            work(Duration::from_millis(5));
        });
        if let Some(status) = status {
            assert!(matches!(status.signal(), Some(libc::SIGXCPU | libc::SIGKILL)), "{status}");
        }
    }
}
