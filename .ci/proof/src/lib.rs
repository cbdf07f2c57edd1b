//! The functions that rt-notify promises to be realtime-safe, each behind a C symbol that starts with `probe_`, so that
//! they can be found in machine code, with all that is inlined into them.
//!
//! `.ci/disassembly` and `.ci/instructions` know them by these names. They are `C-unwind`, since the guard that `C` puts
//! around calls, lest a panic leave the function, is no part of what is checked.

pub mod planted;

use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::AcqRel;
use std::time::Instant;

use rt_notify::{Notifier, Semaphore, Stopper};

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_notify(notifier: &Notifier) {
    notifier.notify();
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_notify_many(notifier: &Notifier, n: u32) {
    notifier.notify_many(n);
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_flush(notifier: &Notifier) {
    notifier.flush();
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_expect_next(notifier: &Notifier, at: &Instant) {
    notifier.expect_next(*at);
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_is_closed(notifier: &Notifier) -> bool {
    notifier.is_closed()
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_notifier_clone(notifier: &Notifier, clone: &mut MaybeUninit<Notifier>) {
    clone.write(notifier.clone());
}

/// # Safety
///
/// The notifier is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn probe_notifier_drop(notifier: &mut ManuallyDrop<Notifier>) {
    // SAFETY: the caller's promise.
    unsafe { ManuallyDrop::drop(notifier) }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_stop(stopper: &Stopper) {
    stopper.stop();
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_stopper_clone(stopper: &Stopper, clone: &mut MaybeUninit<Stopper>) {
    clone.write(stopper.clone());
}

/// # Safety
///
/// The stopper is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn probe_stopper_drop(stopper: &mut ManuallyDrop<Stopper>) {
    // SAFETY: the caller's promise.
    unsafe { ManuallyDrop::drop(stopper) }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_post(semaphore: &Semaphore) {
    semaphore.post();
}

/// What the others are measured against: a bare addition behind a pointer like a notifier's. The result is not used,
/// which is the cheapest that a processor can do.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn probe_fetch_add(shared: &&AtomicU32) {
    shared.fetch_add(1, AcqRel);
}
