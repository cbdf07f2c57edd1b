//! Whoever goes first, nobody touches memory that was freed.
//!
//! The allocator of this program keeps freed blocks for a while, filled with a pattern, and ends the process if the
//! pattern has changed when it gives a block back.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "an allocator implements an unsafe trait")]

#[path = "support/freeze.rs"]
mod freeze;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use freeze::{Point, freeze};
use rt_notify::{Notifier, Semaphore, Waiter};
use stress::{Random, Watchdog, rounds};

#[global_allocator]
static QUARANTINE: Quarantine = Quarantine { freed: Mutex::new([None; 64]), next: AtomicUsize::new(0) };

/// Watches the blocks that are aligned to cache lines, as pairs are.
struct Quarantine {
    freed: Mutex<[Option<(usize, Layout)>; 64]>,
    next: AtomicUsize,
}

const PATTERN: u8 = 0xA5;

impl Quarantine {
    fn is_watched(layout: Layout) -> bool {
        layout.align() >= 64 && layout.size() <= 1024
    }

    /// Checks all blocks that are kept.
    fn check(&self) {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        for (address, layout) in freed.iter().flatten() {
            is_intact(*address, *layout);
        }
    }
}

fn is_intact(address: usize, layout: Layout) {
    let start = std::ptr::with_exposed_provenance::<u8>(address);
    for offset in 0..layout.size() {
        let byte = start.wrapping_add(offset);
        // SAFETY: the block is still allocated from the system. What writes there now is the fault looked for.
        if unsafe { byte.read_volatile() } != PATTERN {
            let _ = writeln!(std::io::stderr(), "byte {offset} of a freed block was written");
            std::process::abort();
        }
    }
}

// SAFETY: hands everything on to the system's allocator, some of it later.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let mut go = Some((pointer.expose_provenance(), layout));
        if Self::is_watched(layout) {
            // SAFETY: nobody but the allocator owns the block any more.
            unsafe { pointer.write_bytes(PATTERN, layout.size()) };
            let mut freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
            let at = self.next.fetch_add(1, Relaxed) % freed.len();
            std::mem::swap(&mut freed[at], &mut go);
        }
        if let Some((address, layout)) = go {
            if Self::is_watched(layout) {
                is_intact(address, layout);
            }
            // SAFETY: this block, with this layout, came from the system's allocator, and is given back once.
            unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
        }
    }
}

/// A thread that is given one waiter per round, and what it does with it.
fn waiters_thread<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mut body: impl FnMut(Waiter) + Send + 'scope,
) -> SyncSender<Waiter> {
    let (sender, receiver): (_, Receiver<Waiter>) = sync_channel(4);
    scope.spawn(move || {
        for waiter in receiver {
            body(waiter);
        }
    });
    sender
}

#[test]
fn the_notifiers_last_act_races_with_a_waiter_that_drops_everything() {
    let _watchdog = Watchdog::new();
    thread::scope(|scope| {
        let mut random = Random::new(1);
        let waiters = waiters_thread(scope, |mut waiter| {
            let stopper = waiter.stopper();
            assert_eq!(waiter.wait(), Ok(1));
            drop((waiter, stopper));
        });
        for round in 0..rounds(100_000) {
            let (notifier, waiter) = Notifier::new();
            waiters.send(waiter).unwrap();
            random.spin(100);
            notifier.notify();
            // Its drop is one more act, which may come later.
            if round % 2 == 0 {
                random.spin(20);
            }
        }
        drop(waiters);
    });
    QUARANTINE.check();
}

#[test]
fn the_stoppers_last_act_races_with_a_waiter_that_drops_everything() {
    let _watchdog = Watchdog::new();
    thread::scope(|scope| {
        let mut random = Random::new(2);
        let waiters = waiters_thread(scope, |mut waiter| assert!(waiter.wait().is_err()));
        for _ in 0..rounds(20_000) {
            let (notifier, waiter) = Notifier::new();
            let stopper = waiter.stopper();
            waiters.send(waiter).unwrap();
            random.spin(100);
            stopper.stop();
            drop((stopper, notifier));
        }
        drop(waiters);
    });
    QUARANTINE.check();
}

#[test]
fn a_clone_notifies_on_while_waiters_are_dropped() {
    let _watchdog = Watchdog::new();
    let (clones, given): (_, Receiver<Notifier>) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for notifier in given {
                while !notifier.is_closed() {
                    notifier.notify();
                }
                notifier.notify();
                notifier.flush();
            }
        });
        for _ in 0..rounds(20_000) {
            let (notifier, mut waiter) = Notifier::new();
            clones.send(notifier).unwrap();
            assert!(waiter.wait().is_ok());
            drop(waiter);
        }
        drop(clones);
    });
    QUARANTINE.check();
}

#[test]
fn a_poster_frozen_in_post_touches_no_freed_semaphore() {
    /// Watched by the allocator.
    #[repr(align(64))]
    struct Own(Semaphore);

    /// Not a borrow, as the other side frees it.
    struct Address(usize);

    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let semaphore = Address(Box::into_raw(Box::new(Own(Semaphore::new(0)))).expose_provenance());
        let pointer = || std::ptr::with_exposed_provenance_mut::<Own>(semaphore.0);
        let mut is_freed = false;
        // SAFETY: the box is freed below, once: by the thread that took the permit, or after this thread has gone.
        let free = || drop(unsafe { Box::from_raw(pointer()) });
        let take = || {
            // SAFETY: not freed yet.
            let own = unsafe { &*pointer() };
            own.0.try_wait()
        };
        let is_frozen = freeze(
            point,
            || {
                // SAFETY: freed only once this post is counted.
                let own = unsafe { &*pointer() };
                own.0.post();
            },
            || {
                if take() {
                    free();
                    is_freed = true;
                }
            },
            || {},
        );
        if !is_freed {
            assert!(take());
            free();
        }
        QUARANTINE.check();
        is_frozen
    });
}

#[test]
fn a_notifier_frozen_in_its_last_act_keeps_the_block() {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = Some(waiter);
        let is_frozen = freeze(
            point,
            move || {
                notifier.notify();
                drop(notifier);
            },
            || {
                let mut waiter = waiter.take().unwrap();
                let _ = waiter.try_wait();
                drop(waiter);
                // Sweeps.
                drop(Notifier::new());
            },
            || {},
        );
        drop(Notifier::new());
        QUARANTINE.check();
        is_frozen
    });
}

/// Calls `round` with many points, as dense as this platform allows.
fn everywhere(mut round: impl FnMut(Point) -> bool) {
    #[cfg(target_arch = "x86_64")]
    freeze::at_each_instruction(&mut round);
    let mut random = Random::new(57);
    for _ in 0..rounds(300) {
        assert!(round(Point::Moment(random.below(1 << 16))));
    }
}
