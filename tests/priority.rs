//! Priorities: what is granted, what is refused, and whether the report is what the kernel says.
#![cfg(target_os = "linux")]

#[path = "support/child.rs"]
mod child;
#[path = "support/kernel.rs"]
mod kernel;

use std::error::Error;
use std::sync::mpsc;
use std::{io, thread};

use child::in_child;
use rt_notify::{Granted, Notifier, OnDenied, Policy, Priority, PriorityError, Worker};
use rustix::process::Resource;

/// Neither the right to a priority nor a limit that allows one.
fn drop_all_rights() {
    kernel::limit(Resource::Rtprio, 0).unwrap();
    kernel::limit(Resource::Nice, 0).unwrap();
    kernel::drop_sys_nice();
}

fn raw(policy: Policy) -> i32 {
    match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Fifo => libc::SCHED_FIFO,
        Policy::RoundRobin => libc::SCHED_RR,
        other => panic!("no test asks for {other}"),
    }
}

#[track_caller]
fn assert_agrees_with_kernel(granted: &Granted, tid: i32) {
    assert_eq!((raw(granted.policy()), granted.priority()), kernel::policy(tid));
    assert_eq!(granted.nice(), kernel::nice(tid));
}

/// Spawns a worker, checks that its report is true and that it works, and passes the report on.
fn spawned(priority: Option<Priority>, check: impl FnOnce(&Granted, i32)) {
    let (notifier, waiter) = Notifier::new();
    let mut builder = Worker::builder();
    if let Some(priority) = priority {
        builder = builder.priority(priority);
    }
    let (sender, tid) = mpsc::channel();
    let worker = builder
        .spawn(waiter, move |mut waiter| {
            sender.send(kernel::tid()).unwrap();
            waiter.wait()
        })
        .unwrap();
    let tid = tid.recv().unwrap();
    assert_agrees_with_kernel(worker.granted(), tid);
    assert!(kernel::resets_on_fork(tid));
    check(worker.granted(), tid);
    notifier.notify();
    assert_eq!(worker.join().unwrap(), Ok(1));
}

fn in_thread(body: impl FnOnce() + Send + 'static) {
    thread::spawn(body).join().unwrap();
}

/// That of the calling thread; somebody may run the tests under `nice`.
fn own_nice() -> i8 {
    kernel::nice(kernel::tid())
}

#[test]
fn nice_is_absolute_and_concerns_the_calling_thread_only() {
    if !kernel::privileged() {
        return;
    }
    let before = own_nice();
    in_thread(|| {
        for _ in 0..2 {
            let granted = Priority::Nice(-5).apply().unwrap();
            assert_eq!(granted.nice(), -5);
            assert!(granted.shortfall().is_none());
            assert_agrees_with_kernel(&granted, kernel::tid());
        }
    });
    assert_eq!(own_nice(), before);
}

#[test]
fn weaker_nice_needs_no_right_and_is_absolute() {
    in_thread(|| {
        for _ in 0..2 {
            let granted = Priority::Nice(19).apply().unwrap();
            assert_eq!((granted.policy(), granted.nice()), (Policy::Other, 19));
            assert!(granted.shortfall().is_none());
            assert_agrees_with_kernel(&granted, kernel::tid());
            assert!(kernel::resets_on_fork(kernel::tid()));
        }
    });
}

#[test]
fn number_out_of_range_means_the_nearest_one() {
    in_thread(|| assert_eq!(Priority::Nice(i8::MAX).apply().unwrap().nice(), 19));
    if !kernel::privileged() {
        return;
    }
    for (asked, expected) in [(0, 1), (1, 1), (99, 99), (100, 99), (255, 99)] {
        in_thread(move || {
            let granted = Priority::RoundRobin(asked).apply().unwrap();
            assert_eq!((granted.policy(), granted.priority()), (Policy::RoundRobin, expected));
            assert!(granted.shortfall().is_none());
        });
    }
    in_thread(|| assert_eq!(Priority::Nice(i8::MIN).apply().unwrap().nice(), -20));
}

#[test]
fn inherit_changes_nothing_when_applied() {
    in_thread(|| {
        let granted = Priority::Inherit.apply().unwrap();
        assert_agrees_with_kernel(&granted, kernel::tid());
        assert!(!kernel::resets_on_fork(kernel::tid()));
    });
}

#[test]
fn nice_ends_a_realtime_policy() {
    if !kernel::privileged() {
        return;
    }
    in_thread(|| {
        Priority::Fifo(3).apply().unwrap();
        let granted = Priority::Nice(2).apply().unwrap();
        assert_eq!((granted.policy(), granted.priority(), granted.nice()), (Policy::Other, 0, 2));
        assert_agrees_with_kernel(&granted, kernel::tid());
    });
}

#[test]
fn without_rights_apply_is_an_error_and_changes_nothing() {
    in_child("without_rights_apply_is_an_error_and_changes_nothing", || {
        drop_all_rights();
        let before = (kernel::policy(kernel::tid()), own_nice());
        for (priority, errno) in [
            (Priority::Fifo(50), libc::EPERM),
            (Priority::RoundRobin(1), libc::EPERM),
            (Priority::Nice(-20), libc::EACCES),
        ] {
            let error = priority.apply().unwrap_err();
            assert_eq!(error.asked(), priority);
            let source: &io::Error = error.source().unwrap().downcast_ref().unwrap();
            assert_eq!(source.raw_os_error(), Some(errno));
            assert_eq!((kernel::policy(kernel::tid()), own_nice()), before);
        }
        assert!(!kernel::resets_on_fork(kernel::tid()));
    });
}

#[test]
fn without_rights_a_worker_runs_and_tells_what_was_refused() {
    in_child("without_rights_a_worker_runs_and_tells_what_was_refused", || {
        drop_all_rights();
        for priority in [Priority::Fifo(50), Priority::RoundRobin(50), Priority::Nice(-20)] {
            spawned(Some(priority), |granted, _| {
                assert_eq!((granted.policy(), granted.nice()), (Policy::Other, own_nice()));
                let shortfall = granted.shortfall().expect("not granted");
                assert_eq!(shortfall.asked(), priority);
                assert_eq!(shortfall.kind(), io::ErrorKind::PermissionDenied);
            });
        }
        for priority in [None, Some(Priority::Inherit), Some(Priority::Nice(19))] {
            spawned(priority, |granted, _| assert!(granted.shortfall().is_none()));
        }
    });
}

#[test]
fn without_rights_fail_never_runs_the_closure() {
    in_child("without_rights_fail_never_runs_the_closure", || {
        drop_all_rights();
        for priority in [Priority::Fifo(50), Priority::Nice(-20)] {
            let (notifier, waiter) = Notifier::new();
            let (sender, runs) = mpsc::channel::<()>();
            let error = Worker::builder()
                .priority(priority)
                .on_denied(OnDenied::Fail)
                .spawn(waiter, move |_| sender.send(()).unwrap())
                .unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            let inner: &PriorityError = error.get_ref().unwrap().downcast_ref().unwrap();
            assert_eq!(inner.asked(), priority);
            assert!(notifier.is_closed());
            // The thread has ended: nothing is left that could send.
            assert_eq!(runs.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        }
    });
}

#[test]
fn priority_above_the_limit_is_clamped_and_the_worker_always_runs() {
    in_child("priority_above_the_limit_is_clamped_and_the_worker_always_runs", || {
        let raised = kernel::limit(Resource::Rtprio, 99);
        kernel::drop_sys_nice();
        for limit in [99_u8, 10, 1, 0] {
            if kernel::limit(Resource::Rtprio, limit.into()).is_err() {
                let error = raised.as_ref().unwrap_err();
                eprintln!("SKIPPED for a limit of {limit}: raising limits needs CAP_SYS_RESOURCE ({error})");
                continue;
            }
            for asked in [0, 1, 50, 99, 200] {
                let wanted = asked.clamp(1, 99);
                spawned(Some(Priority::Fifo(asked)), |granted, _| {
                    let expected = if limit == 0 { Policy::Other } else { Policy::Fifo };
                    assert_eq!((granted.policy(), granted.priority()), (expected, wanted.min(limit)));
                    assert_eq!(granted.shortfall().is_some(), limit < wanted);
                });
            }
        }
    });
}

#[test]
fn nice_beyond_the_limit_is_clamped() {
    in_child("nice_beyond_the_limit_is_clamped", || {
        if let Err(error) = kernel::limit(Resource::Nice, 30) {
            eprintln!("SKIPPED: raising limits needs CAP_SYS_RESOURCE ({error})");
            return;
        }
        kernel::drop_sys_nice();
        spawned(Some(Priority::Nice(-20)), |granted, _| {
            assert_eq!(granted.nice(), -10);
            assert!(granted.shortfall().is_some());
        });
        spawned(Some(Priority::Nice(-10)), |granted, _| assert!(granted.shortfall().is_none()));
        let granted = Priority::Nice(-20).apply().unwrap();
        assert_eq!(granted.nice(), -10);
        assert!(granted.shortfall().is_some());
    });
}

#[test]
fn worker_of_a_realtime_thread_gets_exactly_what_was_asked() {
    if !kernel::privileged() {
        return;
    }
    in_thread(|| {
        kernel::become_realtime(libc::SCHED_FIFO, 70).unwrap();
        for (asked, policy, priority, nice) in [
            (None, Policy::Other, 0, own_nice().max(0)),
            (Some(Priority::Nice(5)), Policy::Other, 0, 5),
            (Some(Priority::Nice(-20)), Policy::Other, 0, -20),
            (Some(Priority::Fifo(10)), Policy::Fifo, 10, own_nice()),
            (Some(Priority::RoundRobin(70)), Policy::RoundRobin, 70, own_nice()),
            (Some(Priority::Inherit), Policy::Fifo, 70, own_nice()),
        ] {
            spawned(asked, |granted, _| {
                let got = (granted.policy(), granted.priority(), granted.nice());
                assert_eq!(got, (policy, priority, nice), "{asked:?}");
                assert!(granted.shortfall().is_none());
            });
        }
        assert_eq!(kernel::policy(kernel::tid()), (libc::SCHED_FIFO, 70), "the spawner keeps its own");
    });
}

#[test]
fn realtime_spawner_without_rights_does_not_make_its_workers_realtime() {
    if !kernel::privileged() {
        return;
    }
    in_child("realtime_spawner_without_rights_does_not_make_its_workers_realtime", || {
        kernel::become_realtime(libc::SCHED_FIFO, 70).unwrap();
        drop_all_rights();
        let before = own_nice();
        spawned(None, |granted, _| {
            assert_eq!((granted.policy(), granted.nice()), (Policy::Other, before.max(0)));
            assert!(granted.shortfall().is_none());
        });
        spawned(Some(Priority::Nice(-20)), |granted, _| {
            assert_eq!((granted.policy(), granted.nice()), (Policy::Other, before));
            assert!(granted.shortfall().is_some());
        });
        // Going down within the policy is everybody's right.
        spawned(Some(Priority::Fifo(20)), |granted, _| {
            assert_eq!((granted.policy(), granted.priority()), (Policy::Fifo, 20));
            assert!(granted.shortfall().is_none());
        });
    });
}

#[test]
fn negative_nice_of_the_spawner_is_inherited_only_on_demand() {
    if !kernel::privileged() {
        return;
    }
    in_thread(|| {
        // Its children would reset: demanding inheritance overrules that.
        Priority::Nice(-7).apply().unwrap();
        spawned(None, |granted, _| assert_eq!(granted.nice(), 0));
        spawned(Some(Priority::Inherit), |granted, _| assert_eq!(granted.nice(), -7));
    });
}

#[test]
fn positive_nice_of_the_spawner_stays() {
    in_thread(|| {
        Priority::Nice(19).apply().unwrap();
        for priority in [None, Some(Priority::Inherit)] {
            spawned(priority, |granted, _| {
                assert_eq!(granted.nice(), 19);
                assert!(granted.shortfall().is_none());
            });
        }
    });
}

#[test]
fn thread_started_inside_a_worker_is_an_ordinary_one() {
    if !kernel::privileged() {
        return;
    }
    for priority in [Priority::Fifo(10), Priority::RoundRobin(10), Priority::Nice(-20)] {
        let (_notifier, waiter) = Notifier::new();
        let worker = Worker::builder().priority(priority).on_denied(OnDenied::Fail);
        let worker = worker
            .spawn(waiter, |_| thread::spawn(|| (kernel::policy(kernel::tid()), own_nice())).join().unwrap());
        assert_eq!(worker.unwrap().join().unwrap(), ((libc::SCHED_OTHER, 0), 0));
    }
}

#[test]
fn priority_stays_below_the_audio_thread() {
    if !kernel::privileged() {
        return;
    }
    let lowered = |asked: Priority, audio: u8| {
        let (_notifier, waiter) = Notifier::new();
        let worker = Worker::builder().priority(asked).below(audio).spawn(waiter, |_| ()).unwrap();
        let reason = worker.granted().shortfall().map(PriorityError::kind);
        assert_eq!(reason, Some(io::ErrorKind::InvalidInput));
        (worker.granted().policy(), worker.granted().priority())
    };
    assert_eq!(lowered(Priority::Fifo(70), 70), (Policy::Fifo, 69));
    assert_eq!(lowered(Priority::RoundRobin(99), 10), (Policy::RoundRobin, 9));
    assert_eq!(lowered(Priority::Fifo(1), 1), (Policy::Other, 0));
    assert_eq!(lowered(Priority::Fifo(1), 0), (Policy::Other, 0));
    in_thread(move || {
        kernel::become_realtime(libc::SCHED_FIFO, 70).unwrap();
        assert_eq!(lowered(Priority::Inherit, 70), (Policy::Fifo, 69));
    });
}

#[test]
fn priority_not_below_the_audio_thread_is_refused_on_demand() {
    let (notifier, waiter) = Notifier::new();
    let builder = Worker::builder().priority(Priority::Fifo(70)).below(60).on_denied(OnDenied::Fail);
    let error = builder.spawn(waiter, |_| ()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("not below the audio thread's 60"), "{error}");
    assert!(notifier.is_closed());
}

#[test]
fn error_is_one_line_with_the_remedy() {
    in_child("error_is_one_line_with_the_remedy", || {
        drop_all_rights();
        for (priority, parts) in [
            (
                Priority::Fifo(70),
                ["SCHED_FIFO 70", "Operation not permitted", "@audio - rtprio 95", "CAP_SYS_NICE"],
            ),
            (Priority::Nice(-20), ["nice -20", "Permission denied", "@audio - nice -20", "CAP_SYS_NICE"]),
        ] {
            let error = priority.apply().unwrap_err();
            let text = error.to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert_eq!(text.lines().count(), 1);
            let error = io::Error::from(error);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(error.to_string(), text);
        }
    });
}
