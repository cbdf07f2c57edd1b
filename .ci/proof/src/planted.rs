//! What a realtime-safe function must not do, each in a function that `.ci/disassembly --self-test` must report.

use std::cell::Cell;
use std::hint;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rt_notify::{Notifier, Stopper};

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_loop(word: &AtomicU32) {
    while word.load(Acquire) != 0 {
        hint::spin_loop();
    }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_compare_exchange_loop(word: &AtomicU32) {
    let _ = word.fetch_update(Release, Relaxed, |n| n.checked_mul(3));
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_recursion(words: &[AtomicU32; 64], depth: u8) {
    if depth > 0 {
        planted_recursion(words, depth - 1);
        words[usize::from(depth % 64)].fetch_add(1, Relaxed);
    }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_thread_local() {
    CALLS.set(CALLS.get() + 1);
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_allocation(n: u32) -> *mut u32 {
    Box::into_raw(Box::new(n))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_panic(words: &[AtomicU32; 64], at: usize) {
    words[at].fetch_add(1, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_lock(lock: &Mutex<u32>) {
    if let Ok(mut n) = lock.lock() {
        *n = 1;
    }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_indirect_call(callback: extern "C" fn()) {
    callback();
    hint::black_box(());
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_abort(n: u32) {
    if n == 0 {
        std::process::abort();
    }
}

/// Each of the two may ring once: two system calls.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_second_system_call(notifier: &Notifier, stopper: &Stopper) {
    notifier.notify();
    stopper.stop();
}

/// A loop in one instruction.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_repeated_instruction(buffer: &mut [u8; 4096]) {
    // SAFETY: writes zeros to the buffer and nothing else.
    unsafe {
        std::arch::asm!("rep stosb", inout("rcx") buffer.len() => _, inout("rdi") buffer.as_mut_ptr() => _,
            in("al") 0u8, options(nostack, preserves_flags));
    }
}

/// Half of a loop that other processors can prolong.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_repeated_instruction(word: &AtomicU32) -> u32 {
    let failed;
    // SAFETY: stores what was read, to the same word, or nothing.
    unsafe {
        std::arch::asm!("ldaxr {value:w}, [{word}]", "stlxr {failed:w}, {value:w}, [{word}]", word = in(reg) word.as_ptr(),
            value = out(reg) _, failed = out(reg) failed, options(nostack, preserves_flags));
    }
    failed
}

/// What compilers call for an addition if they do not know of LSE: a loop, if the processor has none.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn planted_outlined_addition(word: &AtomicU32) -> u32 {
    unsafe extern "C" {
        fn __aarch64_ldadd4_acq_rel(n: u32, word: *mut u32) -> u32;
    }
    // SAFETY: adds to the word, atomically.
    unsafe { __aarch64_ldadd4_acq_rel(1, word.as_ptr()) }
}
