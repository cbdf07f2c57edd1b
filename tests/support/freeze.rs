//! Stops one thread in the midst of an action, in a signal handler, while others go on.
//!
//! To the others it looks like a thread that a scheduler has preempted for long.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(unsafe_code, reason = "the single-step flag is set in a handler's context, through a raw pointer")]

use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use crate::signals;
use crate::stress::{Random, rounds, until};
use crate::threads::Probe;

/// Where to stop it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// So many instructions after the start.
    #[cfg(target_arch = "x86_64")]
    Instruction(u32),
    /// At a moment that this number, below 2^16, decides: before, during or after the action.
    Moment(u32),
}

static FROZEN: AtomicBool = AtomicBool::new(false);
static RELEASED: AtomicBool = AtomicBool::new(false);

/// The handlers' state is one for the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Calls `round` with many points, as dense as this platform allows.
pub(crate) fn everywhere(mut round: impl FnMut(Point) -> bool) {
    #[cfg(target_arch = "x86_64")]
    at_each_instruction(&mut round);
    let mut random = Random::new(57);
    for _ in 0..rounds(200) {
        assert!(round(Point::Moment(random.below(1 << 16))));
    }
}

/// Releases the frozen thread even if an assertion fails meanwhile.
struct ReleaseOnDrop;

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        RELEASED.store(true, Release);
    }
}

/// Runs `action` on a thread of its own, which stops at `point`; `meanwhile` runs while it is stopped. Returns
/// whether it was: the action may be shorter.
///
/// While the thread sleeps within the action, `wake` is called, again and again.
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(irrefutable_let_patterns, reason = "there is one kind of point")
)]
pub(crate) fn freeze(
    point: Point,
    action: impl FnOnce() + Send,
    meanwhile: impl FnOnce(),
    mut wake: impl FnMut(),
) -> bool {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    FROZEN.store(false, Relaxed);
    RELEASED.store(false, Relaxed);
    let probe = OnceLock::new();
    let begun = AtomicBool::new(false);
    thread::scope(|scope| {
        let release = ReleaseOnDrop;
        let thread = scope.spawn(|| {
            assert!(probe.set(Probe::here()).is_ok());
            match point {
                #[cfg(target_arch = "x86_64")]
                Point::Instruction(n) => steps::run(n, action),
                Point::Moment(moment) => {
                    begun.store(true, Release);
                    Random::new(u64::from(moment) + 1).spin(moment / 256 + 1);
                    action();
                    // The signal comes in any case.
                    until("the signal comes", || RELEASED.load(Acquire));
                }
            }
        });
        if let Point::Moment(moment) = point {
            signals::on(libc::SIGUSR2, freeze_here);
            until("the action begins", || begun.load(Acquire));
            Random::new(moment.into()).spin(moment % 256 + 1);
            signals::send(probe.get().expect("set before it began").tid, libc::SIGUSR2);
        }
        until("the action ends or is frozen", || {
            let is_asleep = probe.get().is_some_and(Probe::is_asleep);
            // Asked after: frozen is asleep too.
            let is_frozen = FROZEN.load(Acquire);
            if is_asleep && !is_frozen {
                wake();
            }
            is_frozen || thread.is_finished()
        });
        let is_frozen = FROZEN.load(Acquire);
        if is_frozen {
            meanwhile();
        }
        drop(release);
        thread.join().expect("the action does not panic");
        #[cfg(target_arch = "x86_64")]
        steps::note_taken();
        is_frozen
    })
}

extern "C" fn freeze_here(_signal: i32) {
    let errno = signals::errno();
    FROZEN.store(true, Release);
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
    while !RELEASED.load(Acquire) {
        // SAFETY: the pointer is valid, and null is allowed.
        unsafe { libc::nanosleep(&raw const pause, null_mut()) };
    }
    signals::set_errno(errno);
}

#[cfg(target_arch = "x86_64")]
pub(crate) use steps::at_each_instruction;

/// The processor's trap flag: an interrupt after each instruction, which the kernel turns into `SIGTRAP`.
#[cfg(target_arch = "x86_64")]
mod steps {
    use std::cell::Cell;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    use super::{Point, freeze_here};
    use crate::signals;
    use crate::stress::rounds;

    const TRAP_FLAG: i64 = 0x100;
    const NEVER: u32 = u32::MAX;
    const OFF: u32 = u32::MAX - 1;

    static TAKEN: AtomicU32 = AtomicU32::new(0);
    static STOP_AT: AtomicU32 = AtomicU32::new(OFF);

    thread_local! {
        /// How many steps the calling thread's last `freeze` has taken.
        static TAKEN_LAST: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) fn note_taken() {
        TAKEN_LAST.set(TAKEN.load(Relaxed));
    }

    /// Runs `action` step by step, up to the instruction at which it is to stop.
    pub(super) fn run(stop_at: u32, action: impl FnOnce()) {
        signals::on_with_context(libc::SIGTRAP, after_each_instruction);
        TAKEN.store(0, Relaxed);
        STOP_AT.store(stop_at, Relaxed);
        signals::raise(libc::SIGTRAP);
        action();
        STOP_AT.store(OFF, Relaxed);
    }

    extern "C" fn after_each_instruction(
        signal: i32,
        _info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        let stop_at = STOP_AT.load(Relaxed);
        let stops = TAKEN.fetch_add(1, Relaxed) == stop_at;
        if stops {
            freeze_here(signal);
            STOP_AT.store(OFF, Relaxed);
        }
        let context = context.cast::<libc::ucontext_t>();
        let flags = usize::try_from(libc::REG_EFL).expect("an index");
        // SAFETY: with `SA_SIGINFO` the third argument is the interrupted thread's context, this handler's alone.
        let flags = unsafe { &mut (&mut (*context).uc_mcontext.gregs)[flags] };
        if stops || stop_at == OFF {
            *flags &= !TRAP_FLAG;
        } else {
            *flags |= TRAP_FLAG;
        }
    }

    /// Calls `round` with every point of what it freezes.
    ///
    /// To step to each of n instructions takes n²/2 steps, and each is an interrupt. Where that is too much, as
    /// without optimisation, some points are left out; `RT_NOTIFY_STRESS` affords more.
    pub(crate) fn at_each_instruction(mut round: impl FnMut(Point) -> bool) {
        const AFFORDABLE: u32 = if cfg!(debug_assertions) { 8_000 } else { 40_000 };

        assert!(!round(Point::Instruction(NEVER)));
        let all = TAKEN_LAST.get();
        let stride = (all * all / 2).div_ceil(rounds(AFFORDABLE));
        let mut frozen = 0;
        for n in (0..all).step_by(usize::try_from(stride).expect("small")) {
            frozen += u32::from(round(Point::Instruction(n)));
        }
        println!("{all} instructions, frozen at {frozen}");
        assert!(frozen > 3, "frozen at {frozen} of {all} instructions");
    }
}
