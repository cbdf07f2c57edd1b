//! What one thread writes for another.
#![allow(unsafe_code, reason = "loom hands out the contents of its cells as pointers")]

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;

/// Plain memory without synchronisation of its own: loom fails where a read and a write of one line are not ordered.
pub(super) struct Page<const LINES: usize>([UnsafeCell<bool>; LINES]);

impl<const LINES: usize> Page<LINES> {
    pub(super) fn new() -> Self {
        Page(std::array::from_fn(|_| UnsafeCell::new(false)))
    }

    pub(super) fn write(&self, line: usize) {
        self.0[line].with_mut(|it| {
            // SAFETY: loom has just checked that nobody reads or writes it meanwhile.
            unsafe { *it = true }
        });
    }

    pub(super) fn assert_written(&self, line: usize) {
        let written = self.0[line].with(|it| {
            // SAFETY: loom has just checked that nobody writes it meanwhile.
            unsafe { *it }
        });
        assert!(written, "line {line} is not written");
    }

    pub(super) fn assert_written_up_to(&self, lines: usize) {
        for line in 0..lines {
            self.assert_written(line);
        }
    }
}

/// A value that ends before its memory does.
pub(super) struct Freeable<T>(std::cell::UnsafeCell<ManuallyDrop<T>>);

impl<T> Freeable<T> {
    pub(super) fn new(value: T) -> Self {
        Freeable(std::cell::UnsafeCell::new(ManuallyDrop::new(value)))
    }

    pub(super) fn get(&self) -> &T {
        // SAFETY: never borrowed mutably but by `free`, after which the caller leaves it to loom to find uses.
        unsafe { &*self.0.get() }
    }

    pub(super) fn free(&self) {
        // SAFETY: as in `get`.
        let value = unsafe { &mut *self.0.get() };
        // SAFETY: the value has no memory of its own: what the models put here holds loom's atomics, whose remains
        // can still be looked at.
        unsafe { ManuallyDrop::drop(value) }
    }
}
