//! The part of `assert_no_alloc` that tests and examples use, with the realtime sanitizer behind it: wherever they assert
//! that nothing is allocated, it ends the program at any call of the C library that allocates, locks, or may block.

use std::alloc::{GlobalAlloc, Layout, System};

unsafe extern "C" {
    fn __rtsan_realtime_enter();
    fn __rtsan_realtime_exit();
    fn __rtsan_disable();
    fn __rtsan_enable();
}

/// Runs `func` as a JACK callback would be.
pub fn assert_no_alloc<T>(func: impl FnOnce() -> T) -> T {
    struct Exit;
    impl Drop for Exit {
        fn drop(&mut self) {
            // SAFETY: follows an `enter` of this thread.
            unsafe { __rtsan_realtime_exit() };
        }
    }
    // SAFETY: has no precondition; `exit` follows, also if `func` panics.
    unsafe { __rtsan_realtime_enter() };
    let _exit = Exit;
    func()
}

/// Runs `func`, which may do anything, inside of [`assert_no_alloc`] too.
pub fn permit_alloc<T>(func: impl FnOnce() -> T) -> T {
    struct Enable;
    impl Drop for Enable {
        fn drop(&mut self) {
            // SAFETY: follows a `disable` of this thread.
            unsafe { __rtsan_enable() };
        }
    }
    // SAFETY: has no precondition; `enable` follows, also if `func` panics.
    unsafe { __rtsan_disable() };
    let _enable = Enable;
    func()
}

/// The system's allocator, which the sanitizer watches.
#[derive(Debug)]
pub struct AllocDisabler;

// SAFETY: it does what the system's allocator does.
unsafe impl GlobalAlloc for AllocDisabler {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
