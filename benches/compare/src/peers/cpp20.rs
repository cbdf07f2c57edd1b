//! C++20's ways to wait, through C functions: one call more than a C++ program makes, a nanosecond or two.
#![allow(unsafe_code, reason = "C++ is called through pointers")]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

/// The functions of one file in `cpp/`.
///
/// # Safety
///
/// `make` returns a new object, on which the others may be called from any thread, `delete` once and last.
pub(crate) unsafe trait Kind: 'static {
    const NAME: &'static str;
    const PENDING: Pending;
    const CAPACITY: u32 = u32::MAX;
    fn make() -> *mut c_void;
    /// # Safety
    ///
    /// The object is one of `make`'s, and is not used again.
    unsafe fn delete(object: *mut c_void);
    /// # Safety
    ///
    /// The object is one of `make`'s.
    unsafe fn notify(object: *mut c_void);
    /// # Safety
    ///
    /// The object is one of `make`'s.
    unsafe fn wait(object: *mut c_void) -> u64;
}

macro_rules! kind {
    ($type:ident, $name:literal, $pending:ident, $capacity:expr,
     $new:ident, $delete:ident, $notify:ident, $wait:ident) => {
        pub(crate) struct $type;

        // With the signatures of `cpp/wakeup.hpp`.
        unsafe extern "C" {
            safe fn $new() -> *mut c_void;
            fn $delete(object: *mut c_void);
            fn $notify(object: *mut c_void);
            fn $wait(object: *mut c_void) -> u64;
        }

        // SAFETY: `cpp/wakeup.hpp` makes them so, from a type that the standard lets threads share.
        unsafe impl Kind for $type {
            const NAME: &'static str = $name;
            const PENDING: Pending = Pending::$pending;
            const CAPACITY: u32 = $capacity;

            fn make() -> *mut c_void {
                $new()
            }

            unsafe fn delete(object: *mut c_void) {
                // SAFETY: as required of the caller.
                unsafe { $delete(object) }
            }

            unsafe fn notify(object: *mut c_void) {
                // SAFETY: as required of the caller.
                unsafe { $notify(object) }
            }

            unsafe fn wait(object: *mut c_void) -> u64 {
                // SAFETY: as required of the caller.
                unsafe { $wait(object) }
            }
        }
    };
}

kind! {
    CountingSemaphore, "C++20 counting_semaphore", EndOneWaitEach, u32::MAX,
    cpp_counting_semaphore_new, cpp_counting_semaphore_delete, cpp_counting_semaphore_notify,
    cpp_counting_semaphore_wait
}
// A release beyond 1 is undefined behaviour.
kind! {
    BinarySemaphore, "C++20 binary_semaphore", EndOneWaitEach, 1,
    cpp_binary_semaphore_new, cpp_binary_semaphore_delete, cpp_binary_semaphore_notify, cpp_binary_semaphore_wait
}
kind! {
    AtomicFlag, "C++20 atomic_flag wait", Merge, u32::MAX,
    cpp_atomic_flag_new, cpp_atomic_flag_delete, cpp_atomic_flag_notify, cpp_atomic_flag_wait
}
kind! {
    AtomicBool, "C++20 atomic<bool> wait", Merge, u32::MAX,
    cpp_atomic_bool_new, cpp_atomic_bool_delete, cpp_atomic_bool_notify, cpp_atomic_bool_wait
}
kind! {
    ConditionVariable, "C++ condition_variable", EndOneWaitTogether, u32::MAX,
    cpp_condition_variable_new, cpp_condition_variable_delete, cpp_condition_variable_notify,
    cpp_condition_variable_wait
}

/// An owned C++ object.
pub(crate) struct Object<K: Kind>(NonNull<c_void>, PhantomData<fn() -> K>);

// SAFETY: `Kind` promises that any thread may call its functions.
unsafe impl<K: Kind> Send for Object<K> {}
// SAFETY: as above.
unsafe impl<K: Kind> Sync for Object<K> {}

impl<K: Kind> Object<K> {
    pub(crate) fn new() -> Result<Self, String> {
        NonNull::new(K::make()).map(|object| Object(object, PhantomData)).ok_or_else(|| "no memory".into())
    }

    #[inline]
    pub(crate) fn notify(&self) {
        // SAFETY: it is there while `self` is.
        unsafe { K::notify(self.0.as_ptr()) };
    }

    #[inline]
    pub(crate) fn wait(&self) -> u64 {
        // SAFETY: it is there while `self` is.
        unsafe { K::wait(self.0.as_ptr()) }
    }
}

impl<K: Kind> Drop for Object<K> {
    fn drop(&mut self) {
        // SAFETY: `self` was its only owner.
        unsafe { K::delete(self.0.as_ptr()) };
    }
}

pub(crate) struct Cpp<K>(PhantomData<fn() -> K>);
pub(crate) struct Handle<K: Kind>(Arc<Object<K>>);

impl<K: Kind> Mechanism for Cpp<K> {
    const NAME: &'static str = K::NAME;
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = K::PENDING;
    const CAPACITY: u32 = K::CAPACITY;
    type Notifier = Handle<K>;
    type Waiter = Handle<K>;

    fn pair() -> Result<(Handle<K>, impl FnOnce() -> Handle<K> + Send), String> {
        let object = Arc::new(Object::new()?);
        let waiter = Handle(Arc::clone(&object));
        Ok((Handle(object), || waiter))
    }
}

impl<K: Kind> Notify for Handle<K> {
    fn notify(&self) {
        self.0.notify();
    }
}

impl<K: Kind> Wait for Handle<K> {
    fn wait(&mut self) -> u64 {
        self.0.wait()
    }
}
