//! Calls in a handler that interrupts the allocator, on a thread that Rust has never seen.
//!
//! One test: whatever Rust code allocates on that thread is counted.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "a thread made by C, with a timer of its own")]

#[path = "support/signals.rs"]
mod signals;
#[path = "support/stress.rs"]
mod stress;

use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32};
use std::thread;
use std::time::Duration;

use rt_notify::{Notifier, Semaphore, Stopper};
use stress::{Watchdog, rounds};

static C_THREAD: AtomicI32 = AtomicI32::new(0);
static ALLOCATIONS: AtomicU32 = AtomicU32::new(0);

/// Counts calls from the C thread, whose own loop calls C's `malloc` directly.
struct Counting;

fn count() {
    let c_thread = C_THREAD.load(Relaxed);
    if c_thread != 0 && rustix::thread::gettid().as_raw_nonzero().get() == c_thread {
        ALLOCATIONS.fetch_add(1, Relaxed);
    }
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static NOTIFIER: OnceLock<Notifier> = OnceLock::new();
static STOPPER: OnceLock<Stopper> = OnceLock::new();
static SEMAPHORE: Semaphore = Semaphore::new(0);
static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);
static END: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_signal: i32) {
    let (Some(notifier), Some(stopper)) = (NOTIFIER.get(), STOPPER.get()) else { return };
    notifier.notify();
    notifier.notify_many(2);
    notifier.flush();
    drop(notifier.clone());
    drop(stopper.clone());
    if !notifier.is_closed() {
        SEMAPHORE.post();
        INTERRUPTIONS.fetch_add(1, Relaxed);
    }
}

/// What a plug-in host's thread might do all day.
extern "C" fn allocate_and_free(_: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: has no precondition.
    C_THREAD.store(unsafe { libc::gettid() }, Relaxed);
    let mut size = 1;
    while !END.load(Relaxed) {
        size = size * 7 % 100_003;
        // SAFETY: has no precondition.
        let block = unsafe { libc::malloc(size) };
        // SAFETY: `block` came from `malloc`, or is null.
        unsafe { libc::free(block) };
    }
    null_mut()
}

#[test]
fn a_handler_that_interrupts_malloc_notifies_without_deadlock_or_allocation() {
    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, interrupt);
    let (notifier, mut waiter) = Notifier::new();
    let stopper = waiter.stopper();
    assert!(NOTIFIER.set(notifier).is_ok() && STOPPER.set(waiter.stopper()).is_ok());
    let counting = thread::spawn(move || {
        let mut total = 0;
        while let Ok(n) = waiter.wait() {
            total += n;
        }
        total
    });
    let (permits, permits_taken) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !permits_taken.load(Relaxed) || SEMAPHORE.count() > 0 {
                permits.fetch_add(u32::from(SEMAPHORE.wait_timeout(Duration::from_millis(100))), Relaxed);
            }
        });

        let c_thread = create_c_thread();
        let timer = start_timer(C_THREAD.load(Relaxed), Duration::from_millis(1));
        thread::sleep(Duration::from_secs(rounds(3).into()));
        // SAFETY: `timer` was created, and is deleted once.
        let deleted = unsafe { libc::timer_delete(timer) };
        assert_eq!(deleted, 0);
        END.store(true, Relaxed);
        // SAFETY: the thread was created joinable, and is joined once.
        let joined = unsafe { libc::pthread_join(c_thread, null_mut()) };
        assert_eq!(joined, 0);
        permits_taken.store(true, Relaxed);
    });
    stopper.stop();

    let interruptions = INTERRUPTIONS.load(Relaxed);
    println!("{interruptions} interruptions");
    assert!(interruptions > 100, "only {interruptions} interruptions");
    assert_eq!(counting.join().unwrap(), 3 * interruptions);
    assert_eq!(permits.into_inner(), interruptions);
    assert_eq!(ALLOCATIONS.load(Relaxed), 0, "Rust code allocated in the handler");
}

fn create_c_thread() -> libc::pthread_t {
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the pointers are valid, or null where that is allowed.
    let result = unsafe {
        libc::pthread_create(
            thread.as_mut_ptr(),
            std::ptr::null(),
            allocate_and_free as extern "C" fn(*mut libc::c_void) -> *mut libc::c_void,
            null_mut(),
        )
    };
    assert_eq!(result, 0);
    stress::until("the thread begins", || C_THREAD.load(Relaxed) != 0);
    // SAFETY: `pthread_create` has succeeded.
    unsafe { thread.assume_init() }
}

/// Interrupts one thread of this process, again and again.
fn start_timer(tid: i32, period: Duration) -> libc::timer_t {
    // SAFETY: a plain C structure, for which zeros are a valid value.
    let mut event: libc::sigevent = unsafe { zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = libc::SIGUSR1;
    event.sigev_notify_thread_id = tid;
    let mut timer = MaybeUninit::uninit();
    // SAFETY: the pointers are valid.
    let result = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr()) };
    assert_eq!(result, 0);
    // SAFETY: `timer_create` has succeeded.
    let timer = unsafe { timer.assume_init() };
    // By way of an i32: the field has 32 bits on some processors.
    let nanoseconds = i32::try_from(period.subsec_nanos()).expect("less than a second");
    let period = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds.into() };
    let interval = libc::itimerspec { it_interval: period, it_value: period };
    // SAFETY: the timer was created, and the pointers are valid, or null where that is allowed.
    let result = unsafe { libc::timer_settime(timer, 0, &raw const interval, null_mut()) };
    assert_eq!(result, 0);
    timer
}
