//! The parking list: how memory is freed without ever freeing on a realtime thread.
//!
//! A block that notifiers share with a waiter starts with a [`Node`], which counts the handles. Realtime handles only
//! count down. The waiter's side, when it is dropped, parks the block on a global lock-free list; whoever is not
//! realtime (a constructor, another waiter's drop) sweeps the list and frees what nobody refers to any more.
//!
//! So a block whose notifiers outlive the waiter stays allocated until the next pair is made or the next waiter is
//! dropped: memory is bounded by what was in use, and nothing is freed in a callback.
#![allow(unsafe_code, reason = "this file owns the blocks that handles point to")]

use std::ptr::{NonNull, null_mut};

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicUsize};

/// The head of every block that is freed by way of the parking list. The block is `repr(C)` and begins with it.
#[repr(C)]
pub(crate) struct Node {
    /// How many handles point to the block.
    refs: AtomicUsize,
    /// The next parked node. Touched only by the thread that has the node off the list.
    next: AtomicPtr<Node>,
    free: unsafe fn(NonNull<Node>),
}

impl Node {
    /// A node with `refs` handles. `free` is given the block's address once all are gone.
    pub(crate) fn new(refs: usize, free: unsafe fn(NonNull<Node>)) -> Self {
        Node { refs: AtomicUsize::new(refs), next: AtomicPtr::new(null_mut()), free }
    }

    /// Counts a further handle. The caller holds one.
    #[inline]
    pub(crate) fn add_ref(&self) {
        // Ordering: Relaxed; the caller's own handle keeps the block alive, as in std's `Arc`.
        abort_if_absurd(self.refs.fetch_add(1, Relaxed));
    }

    /// Gives up a handle: the caller's very last touch of the block.
    #[inline]
    pub(crate) fn drop_ref(&self) {
        // Ordering: Release, pairs with the Acquire in `sweep`: all uses of the block come before it is freed.
        self.refs.fetch_sub(1, Release);
    }
}

/// A count that leaked past `isize::MAX` would wrap to 0 and free what is in use.
#[inline]
pub(crate) fn abort_if_absurd(count: usize) {
    if count > isize::MAX.unsigned_abs() {
        absurd();
    }
}

#[cold]
fn absurd() -> ! {
    std::process::abort()
}

/// Blocks that wait for their last handle to go.
pub(crate) struct Parking {
    head: AtomicPtr<Node>,
}

/// The process's one list.
pub(crate) fn parking() -> &'static Parking {
    #[cfg(not(all(test, rt_notify_loom)))]
    static PARKING: Parking = Parking { head: AtomicPtr::new(null_mut()) };
    #[cfg(all(test, rt_notify_loom))]
    loom::lazy_static! {
        static ref PARKING: Parking = Parking { head: AtomicPtr::new(null_mut()) };
    }
    &PARKING
}

impl Parking {
    /// Leaves a block on the list, until [`Parking::sweep`] finds that it has no handles. Lock-free.
    ///
    /// # Safety
    ///
    /// `node` begins a block as [`Node`] describes, it is on no list, and nobody else will park it or free it.
    pub(crate) unsafe fn park(&self, node: NonNull<Node>) {
        // Ordering: Relaxed; only compared.
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: the block is alive: only `sweep` frees it, and it is not on the list yet.
            let next = unsafe { &node.as_ref().next };
            // Ordering: Relaxed; published by the compare-exchange.
            next.store(head, Relaxed);
            // Ordering: Release, pairs with the swap in `sweep`.
            match self.head.compare_exchange_weak(head, node.as_ptr(), Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Frees every parked block without handles. Not realtime-safe. A panic of an item that is dropped with its block
    /// passes through; the blocks behind it are parked again.
    pub(crate) fn sweep(&self) {
        // Ordering: Acquire, pairs with the Release in `park`: the nodes' links are visible. The nodes taken are this
        // thread's own until it parks them again.
        let head = self.head.swap(null_mut(), Acquire);
        let mut taken = Taken { parking: self, head };
        while let Some(node) = taken.next() {
            // SAFETY: a node on the list is alive, and this thread took it off the list.
            let it = unsafe { node.as_ref() };
            // Ordering: Acquire, pairs with the Release in `drop_ref`. All changes are read-modify-writes: reading
            // 0 synchronises with every handle's drop.
            if it.refs.load(Acquire) == 0 {
                let free = it.free;
                // SAFETY: no handle is left that could touch or clone the block, and it is on no list.
                unsafe { free(node) };
            } else {
                // SAFETY: it came off the list, whole.
                unsafe { self.park(node) };
            }
        }
    }
}

/// The rest of a list that a sweep has taken.
struct Taken<'p> {
    parking: &'p Parking,
    head: *mut Node,
}

impl Taken<'_> {
    fn next(&mut self) -> Option<NonNull<Node>> {
        let node = NonNull::new(self.head)?;
        // SAFETY: a node on the list is alive, and this thread took it off the list.
        let it = unsafe { node.as_ref() };
        // Ordering: Relaxed; made visible by the swap.
        self.head = it.next.load(Relaxed);
        Some(node)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // Nothing is left, unless the sweep unwinds.
        while let Some(node) = self.next() {
            // SAFETY: it came off the list, whole.
            unsafe { self.parking.park(node) };
        }
    }
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use super::*;

    #[repr(C)]
    struct Block {
        node: Node,
        item: Item,
    }

    /// Panics when it is dropped, if it holds nothing.
    struct Item(Option<Arc<()>>);

    impl Drop for Item {
        fn drop(&mut self) {
            assert!(self.0.is_some(), "planted");
        }
    }

    /// Parks a block without handles.
    fn park(parking: &Parking, item: Item) {
        unsafe fn free(node: NonNull<Node>) {
            // SAFETY: it is the first field of the block that was leaked below.
            drop(unsafe { Box::from_raw(node.cast::<Block>().as_ptr()) });
        }
        let block = Box::new(Block { node: Node::new(0, free), item });
        let node = NonNull::from(Box::leak(block)).cast();
        // SAFETY: it is leaked, and parked here only.
        unsafe { parking.park(node) };
    }

    #[test]
    fn a_drop_that_panics_costs_no_other_block() {
        let parking = Parking { head: AtomicPtr::new(null_mut()) };
        let alive = Arc::new(());
        park(&parking, Item(Some(Arc::clone(&alive))));
        park(&parking, Item(None));
        park(&parking, Item(Some(Arc::clone(&alive))));
        // The list is a stack: one block is freed before the panic.
        assert!(catch_unwind(AssertUnwindSafe(|| parking.sweep())).is_err());
        assert_eq!(Arc::strong_count(&alive), 2);
        parking.sweep();
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
