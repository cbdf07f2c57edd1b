//! Descriptors and the process they live in: closing, limits, `exec`, `fork`, `SIGPIPE`.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "processes are forked, and descriptors closed, behind the library's back")]

#[path = "support/child.rs"]
mod child;
#[path = "support/descriptors.rs"]
mod descriptors;
#[path = "support/fork.rs"]
mod fork;
#[path = "support/stress.rs"]
mod stress;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use child::in_child;
use descriptors::{Poller, Trigger, is_readable, open};
use fork::Child;
use rt_notify::{Closed, Notifier, PollWaiter, TryWaitError, WaitTimeoutError};
use rustix::process::{Resource, getrlimit, setrlimit};
use stress::{Watchdog, until};

/// An `eventfd`, or a pipe's two ends.
const DESCRIPTORS_OF_A_PAIR: usize = if cfg!(rt_notify_force_pipe) { 2 } else { 1 };

fn pair() -> (Notifier, PollWaiter) {
    Notifier::pollable().unwrap()
}

/// The descriptors that were opened since `before`.
fn new_since(before: &std::collections::BTreeMap<i32, String>) -> Vec<i32> {
    open().into_keys().filter(|number| !before.contains_key(number)).collect()
}

// ---- closing -------------------------------------------------------------------------------------------------------

#[test]
fn a_pair_owns_its_descriptors_until_both_sides_are_gone() {
    in_child("a_pair_owns_its_descriptors_until_both_sides_are_gone", || {
        let before = open();

        let (notifier, waiter) = pair();
        assert_eq!(new_since(&before).len(), DESCRIPTORS_OF_A_PAIR);
        drop(notifier);
        assert_eq!(new_since(&before).len(), DESCRIPTORS_OF_A_PAIR);
        drop(waiter);
        assert_eq!(open(), before);

        let (notifier, waiter) = pair();
        let stopper = waiter.stopper();
        let other = notifier.clone();
        drop(waiter);
        drop(notifier);
        let numbers = new_since(&before);
        assert_eq!(numbers.len(), DESCRIPTORS_OF_A_PAIR);
        // Whatever is opened meanwhile is not what late handles write to.
        let mut bystander = tempfile();
        assert!(!numbers.contains(&bystander.as_raw_fd()));
        other.notify();
        other.flush();
        drop(other);
        stopper.stop();
        drop(stopper);
        assert_eq!(contents(&mut bystander), b"");
        drop(bystander);
        // Dropping a notifier closes nothing: it may be on a realtime thread. The next pair does.
        assert_eq!(new_since(&before), numbers);
        drop(pair());
        assert_eq!(open(), before);
    });
}

fn tempfile() -> File {
    rustix::fs::memfd_create("bystander", rustix::fs::MemfdFlags::CLOEXEC).unwrap().into()
}

fn contents(file: &mut File) -> Vec<u8> {
    let mut contents = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut contents).unwrap();
    contents
}

#[test]
fn many_pairs_leave_no_descriptor_behind_whoever_goes_first() {
    in_child("many_pairs_leave_no_descriptor_behind_whoever_goes_first", || {
        let _watchdog = Watchdog::new();
        let before = open();
        for round in 0..2000 {
            let (notifier, mut waiter) = pair();
            let notifying = thread::spawn(move || {
                notifier.notify();
                drop(notifier);
            });
            if round % 2 == 0 {
                assert_eq!(waiter.wait(), Ok(1));
            }
            drop(waiter);
            notifying.join().unwrap();
        }
        drop(pair());
        assert_eq!(open(), before);
    });
}

/// What a program that closes a number twice does to others.
#[test]
fn a_descriptor_closed_behind_the_librarys_back_costs_no_count_and_no_panic() {
    in_child("a_descriptor_closed_behind_the_librarys_back_costs_no_count_and_no_panic", || {
        let before = open();
        let (notifier, mut waiter) = pair();
        for number in new_since(&before) {
            // SAFETY: nothing is read or written through the number, but by calls that may fail.
            assert_eq!(unsafe { libc::close(number) }, 0);
        }
        for _ in 0..1000 {
            notifier.notify();
        }
        notifier.flush();
        assert_eq!(waiter.try_wait(), Ok(1000));
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        waiter.stopper().stop();
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
        // The descriptors are not the pair's to close any more.
        std::mem::forget((notifier, waiter));
    });
}

/// A C host has not had SIGPIPE ignored by Rust's runtime.
#[test]
fn notifying_after_the_waiter_is_gone_raises_no_signal() {
    in_child("notifying_after_the_waiter_is_gone_raises_no_signal", || {
        // SAFETY: the default is a valid disposition.
        assert_ne!(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) }, libc::SIG_ERR);
        let (notifier, waiter) = pair();
        let stopper = waiter.stopper();
        drop(waiter);
        // Sweeps what can be swept.
        drop(pair());
        assert!(notifier.is_closed());
        for _ in 0..1000 {
            notifier.notify();
            notifier.notify_many(u32::MAX);
            notifier.flush();
            stopper.stop();
        }
        drop(notifier);
        drop(stopper);
    });
}

// ---- limits --------------------------------------------------------------------------------------------------------

#[test]
fn without_a_descriptor_left_a_pair_is_an_error_that_leaks_nothing() {
    in_child("without_a_descriptor_left_a_pair_is_an_error_that_leaks_nothing", || {
        let before = open();
        let limits = getrlimit(Resource::Nofile);
        let mut low = limits;
        low.current = Some(64);
        setrlimit(Resource::Nofile, low).unwrap();

        let mut files = Vec::new();
        let error = loop {
            match File::open("/dev/null") {
                Ok(file) => files.push(file),
                Err(error) => break error,
            }
        };
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        for left in 0..DESCRIPTORS_OF_A_PAIR {
            for _ in 0..100 {
                let error = Notifier::pollable().expect_err("no descriptor is left");
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{left} left");
            }
            files.pop().unwrap();
        }
        // Exactly enough, each time: what the pair before left behind is closed first.
        for _ in 0..100 {
            let (notifier, mut waiter) = pair();
            notifier.notify();
            assert_eq!(waiter.wait(), Ok(1));
            drop(waiter);
            drop(notifier);
        }
        drop(files);
        setrlimit(Resource::Nofile, limits).unwrap();
        drop(pair());
        assert_eq!(open(), before);
    });
}

// ---- exec ----------------------------------------------------------------------------------------------------------

/// Set in a process that is to print its descriptors.
const LIST: &str = "RT_NOTIFY_TEST_LIST_DESCRIPTORS";

#[test]
fn a_program_that_is_started_inherits_no_descriptor() {
    let name = "a_program_that_is_started_inherits_no_descriptor";
    if std::env::var_os(LIST).is_some() {
        // Past the harness, which would catch the output.
        writeln!(io::stdout().lock(), "descriptors {:?}", open().into_keys().collect::<Vec<_>>()).unwrap();
        return;
    }
    in_child(name, || {
        let listing = || {
            let output = Command::new(std::env::current_exe().unwrap())
                .args([name, "--exact", "--nocapture"])
                .env(LIST, "1")
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().find(|line| line.contains("descriptors [")).unwrap().to_owned()
        };
        let without = listing();
        let before = open();
        let (notifier, mut waiter) = pair();
        let _other = (notifier.clone(), waiter.stopper());
        let poll_loop = waiter.poll_loop();
        let numbers = new_since(&before);
        assert_eq!(numbers.len(), DESCRIPTORS_OF_A_PAIR);
        for &number in &numbers {
            // SAFETY: the pair keeps it open.
            let fd = unsafe { BorrowedFd::borrow_raw(number) };
            assert!(rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
            assert!(rustix::fs::fcntl_getfl(fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
        }
        assert_eq!(listing(), without);
        drop(poll_loop);
    });
}

// ---- fork ----------------------------------------------------------------------------------------------------------

/// What a forked child does before it ends.
#[derive(Clone, Copy, PartialEq)]
enum Copy {
    Dropped,
    NotifiedAndStopped,
    Read,
}

/// Forks a child that uses its copy of the pair.
fn fork_with(notifier: &Notifier, waiter: &mut PollWaiter, copy: Copy) -> Child {
    Child::fork(|| match copy {
        Copy::Dropped => {
            // SAFETY: the originals are not used or dropped in the child any more.
            drop(unsafe { std::ptr::read(notifier) });
            // SAFETY: as above.
            drop(unsafe { std::ptr::read(waiter) });
        }
        Copy::NotifiedAndStopped => {
            notifier.notify();
            waiter.stopper().stop();
        }
        Copy::Read => {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(300) {
                let _ = waiter.try_wait();
            }
        }
    })
}

fn a_thousand_notifies_arrive(notifier: Notifier, waiter: &mut PollWaiter, step: Option<Duration>) {
    let notifying = thread::spawn(move || {
        for _ in 0..1000 {
            notifier.notify();
            thread::yield_now();
        }
    });
    let mut total = 0;
    loop {
        match step {
            None => match waiter.wait() {
                Ok(n) => total += n,
                Err(Closed) => break,
            },
            Some(step) => match waiter.wait_timeout(step) {
                Ok(n) => total += n,
                Err(WaitTimeoutError::Timeout) => {}
                Err(WaitTimeoutError::Closed) => break,
            },
        }
    }
    notifying.join().unwrap();
    assert_eq!(total, 1000);
}

#[test]
fn a_child_that_drops_or_stops_its_copy_costs_one_spurious_event() {
    in_child("a_child_that_drops_or_stops_its_copy_costs_one_spurious_event", || {
        let _watchdog = Watchdog::new();
        for copy in [Copy::Dropped, Copy::NotifiedAndStopped] {
            let (notifier, mut waiter) = pair();
            fork_with(&notifier, &mut waiter, copy).join();
            // The child's writes are in the descriptor that it shares; its count is its own.
            assert!(is_readable(&waiter));
            assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
            assert!(!is_readable(&waiter));
            assert!(!notifier.is_closed());
            a_thousand_notifies_arrive(notifier, &mut waiter, None);
        }
    });
}

#[test]
fn a_child_that_drops_its_copy_leaves_the_parents_poller_alone() {
    in_child("a_child_that_drops_its_copy_leaves_the_parents_poller_alone", || {
        let (notifier, mut waiter) = pair();
        let fd = rustix::io::fcntl_dupfd_cloexec(&waiter, 0).unwrap();
        let poller = Poller::new(Trigger::Edge, std::os::fd::AsFd::as_fd(&fd));
        notifier.notify();
        fork_with(&notifier, &mut waiter, Copy::Dropped).join();
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(1));
        assert!(!poller.event_now());
        notifier.notify();
        assert!(poller.event_now());
        assert_eq!(waiter.try_wait(), Ok(1));
    });
}

/// Documented as misuse: the child takes the readiness, which is shared. It cannot take the count, which is not: a
/// parent that looks now and then gets all.
#[test]
fn a_child_that_reads_its_copy_takes_no_count() {
    in_child("a_child_that_reads_its_copy_takes_no_count", || {
        let _watchdog = Watchdog::new();
        let (notifier, mut waiter) = pair();
        let child = fork_with(&notifier, &mut waiter, Copy::Read);
        a_thousand_notifies_arrive(notifier, &mut waiter, Some(Duration::from_millis(10)));
        child.join();
        assert_eq!(waiter.try_wait(), Err(TryWaitError::Closed));
    });
}

#[test]
fn after_a_child_has_read_its_copy_waits_need_no_timeout() {
    in_child("after_a_child_has_read_its_copy_waits_need_no_timeout", || {
        let _watchdog = Watchdog::new();
        let (notifier, mut waiter) = pair();
        notifier.notify_many(3);
        fork_with(&notifier, &mut waiter, Copy::Read).join();
        assert!(!is_readable(&waiter));
        assert_eq!(waiter.wait(), Ok(3));
        a_thousand_notifies_arrive(notifier, &mut waiter, None);
        until("the descriptor is quiet", || {
            let _ = waiter.try_wait();
            !is_readable(&waiter)
        });
    });
}
