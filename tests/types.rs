//! What the types are, apart from what they do.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::mem::size_of;
use std::panic::{RefUnwindSafe, UnwindSafe};

use rt_notify::{
    Closed, NOTIFY_MANY_MAX, Notifier, Semaphore, Stopper, TryWaitError, WaitTimeoutError, Waiter,
};

const fn is_send_sync<T: Send + Sync>() {}
const fn is_unpin<T: Unpin>() {}
const fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
const fn is_clone<T: Clone>() {}
const fn is_debug<T: Debug>() {}
const fn is_plain_error<T: Error + Copy + Eq + Hash + Send + Sync + Unpin + 'static>() {}

/// Compiles only if the type does not implement the trait: otherwise two implementations are candidates.
macro_rules! is_not {
    ($type:ty: $trait:path) => {
        const _: fn() = || {
            trait AmbiguousIf<Marker> {
                fn some() {}
            }
            impl<T: ?Sized> AmbiguousIf<()> for T {}
            struct Implements;
            impl<T: ?Sized + $trait> AmbiguousIf<Implements> for T {}
            <$type as AmbiguousIf<_>>::some()
        };
    };
}

macro_rules! is_all {
    ($($type:ty),*) => {
        $(const _: () = {
            is_send_sync::<$type>();
            is_unpin::<$type>();
            is_unwind_safe::<$type>();
            is_debug::<$type>();
        };)*
    };
}

is_all!(Notifier, Waiter, Stopper, Semaphore, Closed, TryWaitError, WaitTimeoutError);

const _: () = {
    is_clone::<Notifier>();
    is_clone::<Stopper>();
    is_plain_error::<Closed>();
    is_plain_error::<TryWaitError>();
    is_plain_error::<WaitTimeoutError>();
};

// A pair has one waiter.
is_not!(Waiter: Clone);
is_not!(Semaphore: Clone);
// Handles are counted.
is_not!(Notifier: Copy);
is_not!(Stopper: Copy);
// A pair is made by `Notifier::new` alone.
is_not!(Notifier: Default);
is_not!(Waiter: Default);

/// Whether `is_not` would notice.
mod the_check_is_not_empty {
    use std::rc::Rc;

    is_not!(Rc<()>: Send);
    is_not!(String: Copy);
    // `is_not!(String: Clone)` does not compile.
}

#[test]
fn realtime_handles_are_pointers_with_a_niche() {
    assert_eq!(size_of::<Notifier>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Notifier>>(), size_of::<usize>());
    assert_eq!(size_of::<Stopper>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Stopper>>(), size_of::<usize>());
}

#[test]
fn a_semaphore_is_one_word() {
    assert_eq!(size_of::<Semaphore>(), size_of::<u32>());
}

#[test]
fn constants_have_their_documented_values() {
    assert_eq!(NOTIFY_MANY_MAX, 4096);
    assert_eq!(Notifier::NOTIFY_MANY_MAX, NOTIFY_MANY_MAX);
    assert_eq!(Semaphore::MAX, 1 << 21);
}

#[test]
fn handles_show_what_is_pending() {
    let (notifier, waiter) = Notifier::new();
    let stopper = waiter.stopper();
    notifier.notify_many(3);
    assert_eq!(format!("{notifier:?}"), "Notifier { pending: 3, closed: false, .. }");
    stopper.stop();
    assert_eq!(format!("{waiter:?}"), "Waiter { pending: 3, closed: true, .. }");
    assert_eq!(format!("{stopper:?}"), "Stopper { pending: 3, closed: true, .. }");
    assert_eq!(format!("{:?}", Semaphore::new(7)), "Semaphore { count: 7, .. }");
}

#[test]
fn errors_say_what_happened_in_one_line() {
    let closed = Closed.to_string();
    assert!(closed.contains("dropped") && closed.contains("stopped"), "{closed}");
    assert_eq!(TryWaitError::Closed.to_string(), closed);
    assert_eq!(WaitTimeoutError::Closed.to_string(), closed);
    let errors: [&dyn Error; 5] = [
        &Closed,
        &TryWaitError::Empty,
        &TryWaitError::Closed,
        &WaitTimeoutError::Timeout,
        &WaitTimeoutError::Closed,
    ];
    let texts: HashSet<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "what differs reads differently");
    for text in texts {
        assert!(!text.is_empty() && !text.contains('\n') && !text.ends_with('.'), "{text}");
    }
}

#[test]
fn closed_converts_into_the_other_errors() {
    fn try_wait() -> Result<u32, TryWaitError> {
        Err(Closed)?
    }
    fn wait_timeout() -> Result<u32, WaitTimeoutError> {
        Err(Closed)?
    }
    assert_eq!(try_wait(), Err(TryWaitError::Closed));
    assert_eq!(wait_timeout(), Err(WaitTimeoutError::Closed));
}
