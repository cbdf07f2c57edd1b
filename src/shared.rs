//! The block that a pair's handles share, and the counted pointers to it.
#![allow(unsafe_code, reason = "this file owns the block that handles point to")]

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;

use crate::hint::Hint;
use crate::parking::{Node, abort_if_absurd, parking};
use crate::state::State;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{AcqRel, Relaxed};
#[cfg(unix)]
use crate::sys::Event;
use crate::sys::first_call;

/// What notifiers, stoppers and the waiter of one pair share.
#[repr(C)]
pub(crate) struct Shared {
    node: Node,
    /// How many notifiers there are. Apart from the node's count of all handles, which decides freeing: this one
    /// decides closing, and stoppers must not keep a pair open.
    notifiers: AtomicUsize,
    bell: Bell,
    hint: Hint,
    state: State,
}

/// What a notifier does to wake the waiter.
pub(crate) enum Bell {
    /// Wakes the futex that is the word.
    Futex,
    /// Makes a descriptor readable. It is closed together with the block, so that a late post never hits a reused
    /// number.
    #[cfg(unix)]
    Event(Event),
}

impl Shared {
    /// A block with one notifier's handle and one waiter's. Frees, in passing, what earlier pairs left behind.
    pub(crate) fn pair(bell: Bell) -> (Handle, WaiterHandle) {
        first_call::prepare();
        parking().sweep();
        let shared = Box::new(Shared {
            node: Node::new(2, Shared::free),
            notifiers: AtomicUsize::new(1),
            bell,
            hint: Hint::new(),
            state: State::new(),
        });
        let shared = NonNull::from(Box::leak(shared));
        (Handle(shared), WaiterHandle(ManuallyDrop::new(Handle(shared))))
    }

    /// # Safety
    ///
    /// `node` is that of a block made by [`Shared::pair`], no handle points to it, and nobody else frees it.
    unsafe fn free(node: NonNull<Node>) {
        // SAFETY: `Shared` is `repr(C)` and begins with its node; `pair` made it as a `Box`.
        drop(unsafe { Box::from_raw(node.cast::<Shared>().as_ptr()) });
    }

    #[inline]
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    #[inline]
    pub(crate) fn hint(&self) -> &Hint {
        &self.hint
    }

    /// The descriptor that rings.
    ///
    /// # Panics
    ///
    /// If the pair has none: only a `PollWaiter`, which is made with one, asks.
    #[cfg(unix)]
    pub(crate) fn event(&self) -> &Event {
        match &self.bell {
            Bell::Event(event) => event,
            Bell::Futex => unreachable!("a pair without a descriptor has no PollWaiter"),
        }
    }

    /// Gets the waiter to look at the word. At most one system call; it never blocks.
    #[inline(never)]
    pub(crate) fn ring(&self) {
        match &self.bell {
            Bell::Futex => self.state.wake(),
            #[cfg(unix)]
            Bell::Event(event) => event.post(),
        }
    }

    #[inline]
    pub(crate) fn notify(&self, n: u32) {
        self.state.notify(n, || self.ring());
    }

    pub(crate) fn notify_and_flush(&self, n: u32) {
        self.state.notify_and_flush(n, || self.ring());
    }

    #[inline]
    pub(crate) fn flush(&self) {
        self.state.flush(|| self.ring());
    }

    #[inline]
    pub(crate) fn close(&self) {
        self.state.close(|| self.ring());
    }

    /// Counts a further notifier. The caller is one.
    #[inline]
    pub(crate) fn add_notifier(&self) {
        // Ordering: Relaxed; the caller's own count keeps the pair open.
        abort_if_absurd(self.notifiers.fetch_add(1, Relaxed));
    }

    /// Gives up a notifier; the last one closes.
    #[inline]
    pub(crate) fn drop_notifier(&self) {
        // Ordering: Release and Acquire, pairs with itself: what the other notifiers did before they went comes
        // before the last one's close, so the waiter that sees CLOSED sees all their notifications.
        if self.notifiers.fetch_sub(1, AcqRel) == 1 {
            self.close();
        }
    }
}

/// A counted pointer to the block. Cloning and dropping it is realtime-safe: it never frees.
pub(crate) struct Handle(NonNull<Shared>);

// SAFETY: all of `Shared` that a handle reaches is atomic, or never written.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Deref for Handle {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        // SAFETY: this handle is counted, and the block is freed only when no handle is left.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Handle {
    #[inline]
    fn clone(&self) -> Self {
        self.node.add_ref();
        Handle(self.0)
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        self.node.drop_ref();
    }
}

/// The waiter's pointer to the block. There is one; its drop hands the block to the parking list.
pub(crate) struct WaiterHandle(ManuallyDrop<Handle>);

impl Deref for WaiterHandle {
    type Target = Handle;

    #[inline]
    fn deref(&self) -> &Handle {
        &self.0
    }
}

impl Drop for WaiterHandle {
    fn drop(&mut self) {
        self.state.abandon();
        let node = self.0.0.cast::<Node>();
        // Before parking: only then can a sweep find the block without handles.
        self.node.drop_ref();
        // SAFETY: `Shared` begins with its node, and this drop, which runs once, is the only one to park it. Until
        // then nobody frees it, whatever its count.
        unsafe { parking().park(node) };
        parking().sweep();
    }
}
