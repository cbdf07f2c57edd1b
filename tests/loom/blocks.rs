//! Counts the blocks that handles point to, and keeps freed ones readable for a while: so a late touch reaches loom,
//! which knows that the atomic was freed, instead of memory that belongs to somebody else.
#![allow(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

use crate::shared::Shared;

const BLOCK: Layout = Layout::new::<Shared>();

/// More than a model makes.
const KEPT: usize = 8;

// Per thread of the system, that is, per model.
thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static FREED: [Cell<*mut u8>; KEPT] = const { [const { Cell::new(null_mut()) }; KEPT] };
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

/// Begins an execution. One that fails leaves blocks behind.
pub(super) fn begin() {
    LIVE.set(0);
}

pub(super) fn assert_all_freed() {
    assert_eq!(LIVE.get(), 0, "blocks left, or freed twice");
}

struct Blocks;

// SAFETY: hands out and takes back the system's memory; it frees some of it later, and never twice.
unsafe impl GlobalAlloc for Blocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout == BLOCK {
            LIVE.set(LIVE.get() + 1);
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let mut free = block;
        if layout == BLOCK {
            LIVE.set(LIVE.get() - 1);
            let next = NEXT.get();
            NEXT.set((next + 1) % KEPT);
            free = FREED.with(|freed| freed[next].replace(block));
        }
        if !free.is_null() {
            // SAFETY: the caller gave it up, now or when it was kept. What is kept has the same layout.
            unsafe { System.dealloc(free, layout) }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Blocks = Blocks;
