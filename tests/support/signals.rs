//! Signals, handlers and `errno`, without anything in between.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(unsafe_code, reason = "handlers are installed through C")]

use std::ptr::null_mut;

/// Installs `handler`, without `SA_RESTART`: system calls that it interrupts return `EINTR`.
pub(crate) fn on(signal: i32, handler: extern "C" fn(i32)) {
    install(signal, handler as *const () as usize, 0);
}

/// Installs a handler that may change the interrupted thread's registers.
pub(crate) fn on_with_context(
    signal: i32,
    handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void),
) {
    install(signal, handler as *const () as usize, libc::SA_SIGINFO);
}

fn install(signal: i32, handler: usize, flags: i32) {
    // SAFETY: a plain C structure, for which zeros are a valid value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: `action` is initialised, and its handlers do only what signal handlers may.
    let result = unsafe { libc::sigaction(signal, &raw const action, null_mut()) };
    assert_eq!(result, 0);
}

/// Sends `signal` to one thread of this process.
pub(crate) fn send(tid: i32, signal: i32) {
    assert!(send_if_alive(tid, signal), "the thread is alive");
}

/// The same to a thread that may have ended.
pub(crate) fn send_if_alive(tid: i32, signal: i32) -> bool {
    // SAFETY: makes a system call without pointers.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), tid, signal) };
    result == 0
}

/// Runs the handler of `signal` on this thread, now.
pub(crate) fn raise(signal: i32) {
    // SAFETY: has no precondition.
    let result = unsafe { libc::raise(signal) };
    assert_eq!(result, 0);
}

pub(crate) fn errno() -> i32 {
    // SAFETY: has no precondition.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: points to this thread's `errno`.
    unsafe { *errno }
}

pub(crate) fn set_errno(value: i32) {
    // SAFETY: has no precondition.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: points to this thread's `errno`.
    unsafe { *errno = value };
}
