//! `errno` belongs to the code that a signal handler or a callback interrupts: system calls on the notify path keep it.

#![allow(unsafe_code, reason = "libc hands out `errno` as a pointer")]

use std::mem::size_of;

#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as location;
#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "android",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
use libc::__errno_location as location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as location;
use rustix::io::Errno;

/// rustix has two backends; a dependency elsewhere in the tree, or the architecture, decides which. The raw one
/// makes system calls without touching `errno` and keeps its error in 16 bits; the libc one keeps a C `int`.
const SYSTEM_CALLS_LEAVE_ERRNO_ALONE: bool = size_of::<Errno>() == 2;

/// Runs `call` and leaves `errno` as it was.
#[inline]
pub(crate) fn keep(call: impl FnOnce()) {
    if SYSTEM_CALLS_LEAVE_ERRNO_ALONE {
        call();
    } else {
        let saved = get();
        call();
        set(saved);
    }
}

fn get() -> i32 {
    // SAFETY: `location` has no precondition and returns a pointer valid for this thread.
    let errno = unsafe { location() };
    // SAFETY: it points to this thread's `errno`, which no other thread touches.
    unsafe { *errno }
}

fn set(value: i32) {
    // SAFETY: `location` has no precondition and returns a pointer valid for this thread.
    let errno = unsafe { location() };
    // SAFETY: it points to this thread's `errno`, which no other thread touches.
    unsafe { *errno = value };
}
