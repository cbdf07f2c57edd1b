//! What a pair costs to have: time, memory, descriptors.
#![allow(unsafe_code, reason = "the allocator's statistics come from the C library")]

use std::fs::read_dir;

use crate::common::clock;
use crate::common::role::Mechanism;

/// For each of the pairs.
pub(crate) struct Outcome {
    pub(crate) make_ns: f64,
    pub(crate) drop_ns: f64,
    /// From the allocator: kernel objects and mapped memory are not in it.
    pub(crate) bytes: f64,
    pub(crate) descriptors: f64,
}

/// Makes so many pairs, has them all at once, and drops them. What a waiter makes when it starts is not in it.
pub(crate) fn run<M: Mechanism>(n: usize) -> Result<Outcome, String> {
    // What the first pair allocates for all does not count.
    drop(M::pair()?);
    let mut pairs = Vec::with_capacity(n);
    let (bytes, descriptors) = (allocated(), open_descriptors());
    let start = clock::now();
    for _ in 0..n {
        pairs.push(M::pair()?);
    }
    let made = clock::now();
    let bytes = allocated().saturating_sub(bytes) as f64;
    let descriptors = open_descriptors().saturating_sub(descriptors) as f64;
    let before = clock::now();
    drop(pairs);
    let dropped = clock::now();
    let each = n as f64;
    Ok(Outcome {
        make_ns: (made - start) as f64 / each,
        drop_ns: (dropped - before) as f64 / each,
        bytes: bytes / each,
        descriptors: descriptors / each,
    })
}

#[cfg(target_env = "gnu")]
fn allocated() -> usize {
    // SAFETY: the call has no precondition.
    unsafe { libc::mallinfo2() }.uordblks
}

#[cfg(not(target_env = "gnu"))]
fn allocated() -> usize {
    0
}

fn open_descriptors() -> usize {
    read_dir("/proc/self/fd").map_or(0, Iterator::count)
}
