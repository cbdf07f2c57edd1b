//! Models of the protocol: loom runs the crate's own code in every order of its threads' steps, and with every value
//! that the memory model lets a load return (of the word: where that can matter, see `stale_looks`).
//!
//! They are unit tests of the library (see the end of `src/lib.rs`), since they preset and observe the word:
//!
//! ```sh
//! RUSTFLAGS="--cfg rt_notify_loom" cargo test --profile loom --lib --features ring --target-dir target/loom
//! ```
//!
//! Each model asserts what it promises, or hangs where a wake is lost: loom then reports a deadlock. All of them check
//! besides that every block was freed once, and that nobody touched it afterwards.
//!
//! The number that a model gives to [`check`] bounds the preemptions in one execution; `LOOM_MAX_PREEMPTIONS`
//! overrides it. Where three threads wait and post, 4 take minutes; 3 find the same faults, and
//! `LOOM_MAX_PREEMPTIONS=4` looks at more for whoever has the time. `-- --nocapture` shows how many executions there were,
//! and how long they took. All models together take two and a half to five minutes of a processor.
//!
//! What loom cannot see, and these models therefore do not prove: a Relaxed operation that passes a *later* one of the
//! same thread, if only the order of two read-modify-writes tells. It executes those in program order.
//!
//! `mutants/` holds faults that these models must find; `.ci/mutants` tries them.

mod blocks;
mod close;
mod flush;
mod handles;
mod notify;
mod page;
mod poll;
#[cfg(feature = "ring")]
mod ring;
mod saturation;
mod semaphore;
mod strategies;
mod targets;
mod timed;
mod wrap;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use loom::model::Builder;
use loom::thread::JoinHandle;

use crate::Notifier;
use crate::parking::parking;
use crate::sys::loom::reset;
use crate::word::Word;

use self::page::Page;

/// Explores `model` with at most so many preemptions per execution.
fn check(preemptions: impl Into<Option<usize>>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions.into());
    let bound = builder.preemption_bound;
    let (began, executions) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&executions);
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        reset();
        blocks::begin();
        model();
        parking().sweep();
        blocks::assert_all_freed();
    });
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let executions = executions.load(Ordering::Relaxed);
    println!("{name}: preemptions {bound:?}, {executions} executions, {:.1?}", began.elapsed());
}

/// Notifies, and asserts that the waiter owes nothing to anybody who may have been preempted: if it slept when this
/// notification was added, and `target` is reached, then it has been rung by now.
fn notify_and_leave_nobody_asleep(notifier: &Notifier, target: u32) {
    notifier.notify();
    assert_nobody_sleeps_at(notifier, target);
}

fn assert_nobody_sleeps_at(notifier: &Notifier, target: u32) {
    let futex = notifier.state().futex();
    futex.touch();
    let (old, _, unrung) = futex.last_added();
    assert!(
        Word(old).count() + 1 < target || unrung == 0,
        "left the waiter asleep and un-rung at {:?}",
        Word(old)
    );
}

fn join(threads: [JoinHandle<()>; 2]) {
    for thread in threads {
        thread.join().unwrap();
    }
}
