//! A model of the futex for loom, with what the models observe besides.
//!
//! The mutex makes "compare, then sleep" one step, as the kernel does. A timed wait whose deadline has passed compares
//! and returns: a timeout that strikes after any delay is the same as a scheduler that waits so long before the call.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Mutex as Untracked;
use std::time::Instant;

use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Condvar, Mutex};
use loom::thread::{self, ThreadId};

pub(crate) struct Futex {
    word: AtomicU32,
    queue: Mutex<()>,
    wakeup: Condvar,
    /// Not known to loom: looking at it adds no interleavings.
    watch: Untracked<Watch>,
}

#[derive(Default)]
struct Watch {
    sleeps: u64,
    /// The sleeps that nobody has rung yet.
    unrung: BTreeSet<u64>,
    last_added: HashMap<ThreadId, Added>,
}

/// What a thread's last `fetch_add` met.
#[derive(Clone)]
struct Added {
    old: u32,
    unrung: BTreeSet<u64>,
}

impl Futex {
    pub(crate) fn new(value: u32) -> Self {
        Futex {
            word: AtomicU32::new(value),
            queue: Mutex::new(()),
            wakeup: Condvar::new(),
            watch: Untracked::default(),
        }
    }

    pub(crate) fn wait(&self, expected: u32) {
        let guard = self.queue.lock().unwrap();
        if self.word.load(Ordering::SeqCst) != expected {
            return;
        }
        {
            let mut watch = self.watch.lock().unwrap();
            watch.sleeps += 1;
            let sleep = watch.sleeps;
            watch.unrung.insert(sleep);
        }
        drop(self.wakeup.wait(guard).unwrap());
    }

    pub(crate) fn wait_until(&self, expected: u32, at: Instant) {
        if Instant::now() < at {
            return self.wait(expected);
        }
        let _guard = self.queue.lock().unwrap();
    }

    pub(crate) fn wake(&self, n: u32) {
        let _guard = self.queue.lock().unwrap();
        for _ in 0..n {
            self.watch.lock().unwrap().unrung.pop_first();
            self.wakeup.notify_one();
        }
    }

    /// The atomic's own, which notes besides who slept when it happened: loom switches threads before operations.
    pub(crate) fn fetch_add(&self, n: u32, order: Ordering) -> u32 {
        let old = self.word.fetch_add(n, order);
        let mut watch = self.watch.lock().unwrap();
        let unrung = watch.unrung.clone();
        watch.last_added.insert(thread::current().id(), Added { old, unrung });
        old
    }

    /// Whether a sleeper that slept at the calling thread's last `fetch_add` still does, and nobody has rung it;
    /// and what that addition returned.
    pub(crate) fn left_unrung(&self) -> (u32, bool) {
        let watch = self.watch.lock().unwrap();
        let added = &watch.last_added[&thread::current().id()];
        (added.old, added.unrung.iter().any(|sleep| watch.unrung.contains(sleep)))
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}

/// A model of the descriptor: readable or not. Its mutex is the kernel's lock.
pub(crate) struct Event {
    readable: Mutex<bool>,
    wakeup: Condvar,
}

impl Event {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Event { readable: Mutex::new(false), wakeup: Condvar::new() })
    }

    pub(crate) fn post(&self) {
        *self.readable.lock().unwrap() = true;
        self.wakeup.notify_one();
    }

    pub(crate) fn drain(&self) {
        *self.readable.lock().unwrap() = false;
    }

    pub(crate) fn sleep(&self, until: Option<Instant>) {
        let mut readable = self.readable.lock().unwrap();
        while !*readable && until.is_none_or(|at| Instant::now() < at) {
            readable = self.wakeup.wait(readable).unwrap();
        }
    }

    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("models sleep on the event itself")
    }

    pub(crate) fn is_readable(&self) -> bool {
        *self.readable.lock().unwrap()
    }
}
