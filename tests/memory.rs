//! What pairs leave behind is freed, later, by threads that are not realtime.
//!
//! One test, since another one's constructors would free what this one has left.
#![allow(unsafe_code, reason = "a counting allocator implements an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rt_notify::Notifier;

thread_local! {
    /// How many blocks more this thread has allocated than freed: the harness allocates on a thread of its own.
    static LIVE: Cell<i32> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + 1);
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - 1);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn live() -> i32 {
    LIVE.get()
}

#[test]
fn a_pairs_block_is_freed_by_the_waiters_drop_or_by_the_next_constructor() {
    // Whatever earlier use left, so that only this test's blocks are counted.
    drop(Notifier::new());
    let before = live();

    // The waiter goes last: its drop frees.
    let (notifier, waiter) = Notifier::new();
    assert_eq!(live(), before + 1, "one block for a pair");
    drop((notifier.clone(), notifier));
    assert_eq!(live(), before + 1);
    drop(waiter);
    assert_eq!(live(), before);

    // The notifier goes last: it frees nothing, the next constructor does.
    let (notifier, waiter) = Notifier::new();
    drop(waiter);
    drop(notifier);
    assert_eq!(live(), before + 1, "parked");
    let (notifier, waiter) = Notifier::new();
    assert_eq!(live(), before + 1, "that one is gone, this one is there");
    drop((notifier, waiter));
    assert_eq!(live(), before);

    // Or another waiter's drop.
    let (notifier, waiter) = Notifier::new();
    let (left, gone) = Notifier::new();
    drop(gone);
    drop(left);
    assert_eq!(live(), before + 2);
    drop((notifier, waiter));
    assert_eq!(live(), before);

    // A stopper keeps the block, and frees nothing.
    let (notifier, waiter) = Notifier::new();
    let stopper = waiter.stopper();
    drop((notifier, waiter));
    drop(Notifier::new());
    assert_eq!(live(), before + 1);
    stopper.stop();
    drop(stopper);
    assert_eq!(live(), before + 1);
    drop(Notifier::new());
    assert_eq!(live(), before);

    // However many there are, in whatever order.
    let mut kept = Vec::with_capacity(1000);
    let vector = live() - before;
    for n in 0..1000 {
        let (notifier, waiter) = Notifier::new();
        if n % 3 == 0 {
            drop(waiter);
            kept.push(notifier);
        }
    }
    assert_eq!(live(), before + vector + 334);
    assert_eq!(kept.len(), 334);
    drop(kept);
    drop(Notifier::new());
    assert_eq!(live(), before);
}
