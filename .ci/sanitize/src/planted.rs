//! Faults that the sanitizer must find, or its silence means nothing.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed};
use std::thread;

struct Shared {
    data: UnsafeCell<u64>,
    flag: AtomicU32,
}

// SAFETY: it is not sound, on purpose.
unsafe impl Sync for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { data: UnsafeCell::new(0), flag: AtomicU32::new(0) })
}

/// Two threads write the same memory.
pub(crate) fn race() {
    let shared = shared();
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        // SAFETY: none: this is the planted fault.
        unsafe { *other.data.get() += 1 };
    });
    // SAFETY: none: this is the planted fault.
    unsafe { *shared.data.get() += 1 };
    thread.join().expect("it does not panic");
}

/// What a `notify` without Release would be: the flag is seen before the data.
pub(crate) fn order() {
    let shared = shared();
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        // SAFETY: the reader waits for the flag; that this is not enough is the planted fault.
        unsafe { *other.data.get() = 1 };
        // Ordering: should be Release.
        other.flag.store(1, Relaxed);
    });
    // Ordering: Acquire, which has no partner.
    while shared.flag.load(Acquire) == 0 {
        thread::yield_now();
    }
    // SAFETY: as above.
    assert_eq!(unsafe { *shared.data.get() }, 1);
    thread.join().expect("it does not panic");
}

/// Memory that nothing points to any more.
pub(crate) fn leak() {
    let leaked = Box::leak(Box::new([0_u8; 100]));
    // So that it is not optimised away, and no pointer is left on the stack.
    std::hint::black_box(leaked);
    std::hint::black_box([0_u8; 4096]);
}

/// What a last touch of a freed block would be.
pub(crate) fn use_after_free() {
    let block = Box::into_raw(Box::new(AtomicU32::new(1)));
    // SAFETY: it comes from a box.
    drop(unsafe { Box::from_raw(block) });
    // SAFETY: none: this is the planted fault.
    unsafe { (*block).fetch_sub(1, Relaxed) };
}
