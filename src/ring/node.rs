//! The realtime half of a ring, in a block that the other side frees.
#![allow(unsafe_code, reason = "this file owns the block that both sides point to")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;

use super::tally::Tally;
use crate::parking::{Node, parking};

/// The realtime half and what both sides count. rtrb frees a ring together with its last half; here the realtime
/// half stays in this block when the realtime side drops its handle, so the other side always is the last.
#[repr(C)]
struct Block<H> {
    node: Node,
    tally: Tally,
    half: UnsafeCell<H>,
}

impl<H> Block<H> {
    /// # Safety
    ///
    /// `node` is that of a block made by [`share`] for the same `H`, no handle points to it, and nobody else frees it.
    unsafe fn free(node: NonNull<Node>) {
        // SAFETY: `Block` is `repr(C)` and begins with its node; `share` made it as a `Box`.
        drop(unsafe { Box::from_raw(node.cast::<Block<H>>().as_ptr()) });
    }
}

/// Puts the realtime half where it can be left behind. `'static`: it is dropped at an unforeseen time.
pub(super) fn share<H: Send + 'static>(half: H) -> (RtHandle<H>, Handle<H>) {
    let block = Box::new(Block {
        node: Node::new(2, Block::<H>::free),
        tally: Tally::new(),
        half: UnsafeCell::new(half),
    });
    let block = NonNull::from(Box::leak(block));
    (RtHandle(block), Handle(block))
}

/// The realtime side's pointer. Its drop is realtime-safe: it never frees.
pub(super) struct RtHandle<H>(NonNull<Block<H>>);

// SAFETY: it is the only access to the half, as if it owned it; everything else in the block is atomic.
unsafe impl<H: Send> Send for RtHandle<H> {}

impl<H> RtHandle<H> {
    #[inline]
    pub(super) fn tally(&self) -> &Tally {
        // SAFETY: this handle is counted, and the block is freed only when no handle is left.
        unsafe { &self.0.as_ref().tally }
    }

    #[inline]
    pub(super) fn half(&self) -> &H {
        // SAFETY: as in `tally`.
        let cell = unsafe { &self.0.as_ref().half };
        // SAFETY: only this handle, of which there is one, reaches the half, and `half_mut` borrows it mutably.
        unsafe { &*cell.get() }
    }

    #[inline]
    pub(super) fn half_mut(&mut self) -> &mut H {
        // SAFETY: as in `tally`.
        let cell = unsafe { &self.0.as_ref().half };
        // SAFETY: as in `half`; this borrow is unique.
        unsafe { &mut *cell.get() }
    }
}

impl<H> Drop for RtHandle<H> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `tally`.
        unsafe { self.0.cast::<Node>().as_ref() }.drop_ref();
    }
}

/// The other side's pointer. Its drop hands the block to the parking list.
pub(super) struct Handle<H>(NonNull<Block<H>>);

// SAFETY: it reaches nothing but atomics; if its drop frees the half, then nobody else reaches that.
unsafe impl<H: Send> Send for Handle<H> {}
// SAFETY: as above.
unsafe impl<H: Send> Sync for Handle<H> {}

impl<H> Handle<H> {
    #[inline]
    pub(super) fn tally(&self) -> &Tally {
        // SAFETY: this handle is counted, and the block is freed only when no handle is left.
        unsafe { &self.0.as_ref().tally }
    }
}

impl<H> Drop for Handle<H> {
    fn drop(&mut self) {
        let node = self.0.cast::<Node>();
        // SAFETY: as in `tally`. Before parking: only then can a sweep find the block without handles.
        unsafe { node.as_ref() }.drop_ref();
        // SAFETY: `Block` begins with its node, and this drop, which runs once, is the only one to park it. Until then
        // nobody frees it, whatever its count.
        unsafe { parking().park(node) };
        parking().sweep();
    }
}
