//! What is allocated at the moment: an allocator that counts. Unlike resident memory it is exact: one lost byte shows.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement, and a call of the C library")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Both wrap around: a block may be counted where it is freed first.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// Ordering: Relaxed throughout; they are read when all threads that allocated have been joined.
// SAFETY: all is left to the system's allocator, and what is passed on is what was passed.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Blocks and bytes that are allocated now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) blocks: usize,
    pub(crate) bytes: usize,
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks of {} bytes", self.blocks, self.bytes)
    }
}

impl Live {
    pub(crate) fn now() -> Live {
        Live { blocks: BLOCKS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
    }
}

/// Makes the C library give free memory back to the kernel, as far as it can: what it keeps for later depends on which
/// threads happened to be there at once, and grows for hours.
pub(crate) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no preconditions.
    unsafe {
        libc::malloc_trim(0);
    }
}
