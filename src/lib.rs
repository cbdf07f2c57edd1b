//! Wake a high-priority worker from a realtime audio thread, without ever blocking it.
//!
//! An audio thread, a JACK `process` callback for instance, has something for a worker: a full disk buffer, a MIDI
//! event, a request. It calls [`Notifier::notify`]: one atomic addition, and one system call that does not block if,
//! and only if, the worker is really asleep. The worker waits as it likes:
//!
//! - on a [`Waiter`], a futex: the fastest, for a thread that has nothing else to wait for;
//! - for a number of notifications, by [`Waiter::wait_for`]: one wake per half buffer, not per period;
//! - in a poll loop, on a [`PollWaiter`], together with audio devices, MIDI, sockets and timers: an `eventfd`, or a pipe;
//! - spinning first, at intervals, or woken just before the next callback: see [`WaitStrategy`],
//!   and the [guide](guide::strategies) to choosing one.
//!
//! Nothing is lost: notifications are counted, and a worker that is busy finds the count later. A [`Worker`] is a
//! thread with a priority that the kernel has confirmed. `ring` couples a ring buffer with a notification, so that its
//! reader or writer can wait (feature `ring`). A [`Semaphore`] is for what a pair is not: a `static` that a
//! signal handler posts, or several threads that wait.
//!
//! # Examples
//!
//! ```
//! use rt_notify::{Notifier, Priority, Worker};
//!
//! // 1. A pair: one end notifies, the other waits.
//! let (notifier, waiter) = Notifier::new();
//!
//! // 2. A worker at nice −20, or the best that the system grants.
//! let worker = Worker::builder().name("disk").priority(Priority::Nice(-20)).spawn(waiter, |mut waiter| {
//!     let mut total = 0;
//!     while let Ok(n) = waiter.wait() {
//!         total += n; // all notifications since the last wait
//!     }
//!     total
//! })?;
//!
//! // 3. In the callback. Realtime-safe, and so are cloning and dropping the notifier.
//! for _ in 0..100 {
//!     notifier.notify();
//! }
//!
//! // 4. When the last notifier is dropped, the worker is told once it has taken everything.
//! drop(notifier);
//! assert_eq!(worker.join()?, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! | function                                                  | user space | system calls | async-signal-safe |
//! |-----------------------------------------------------------|------------|--------------|-------------------|
//! | [`Notifier::notify`], [`notify_many`], [`flush`]          | straight   | ≤ 1, if the waiter is armed | yes |
//! | [`Notifier::expect_next`]                                 | straight   | 0            | yes |
//! | [`Notifier::is_closed`], [`Semaphore::count`]             | straight   | 0            | yes |
//! | `Clone` of [`Notifier`] and [`Stopper`]                   | straight   | 0            | yes |
//! | `Drop` of [`Notifier`]                                    | straight   | 0; the last: 1 | yes |
//! | [`Stopper::stop`]                                         | straight   | 1            | yes |
//! | `Drop` of [`Stopper`]                                     | straight   | 0            | yes |
//! | [`Semaphore::post`]                                       | straight   | ≤ 1, if a thread waits | yes |
//! | `ring::RtProducer`, `ring::RtConsumer`: every method, `Drop` | copies in a loop | ≤ 1, if the other side is armed | no |
//! | everything else                                           | not realtime-safe | |
//!
//! *Straight*: straight-line code. No loop, no lock, nothing allocated, freed or closed, whichever side goes first; no
//! thread-local, no panic, no logging; `errno` is kept. It is wait-free where an atomic addition is one instruction
//! (x86-64, AArch64 with LSE); elsewhere the processor's load-linked/store-conditional loop makes it lock-free. The one
//! exception is in std: `expect_next` subtracts two [`Instant`](std::time::Instant)s, and that function calls itself once
//! if the difference is negative.
//!
//! *System call*: `FUTEX_WAKE`, or a non-blocking `write` for a [`PollWaiter`]. It never blocks, but it is not wait-free:
//! it takes a lock inside the kernel for a short time, which on `PREEMPT_RT` is a sleeping lock with priority inheritance;
//! prefer the futex, then `poll(2)`, over `epoll` there. *Armed*: asleep, or about to sleep; a [`PollWaiter`] outside of a
//! [`PollLoop`] always is, but a thread that notifies writes once per `try_wait` at most, and once per flush.
//!
//! *Happens-before*: what a thread wrote before it notified is visible to the waiter whose wait takes the notification;
//! what it wrote before [`Stopper::stop`], or before the last notifier was dropped, is visible to the waiter that is
//! told [`Closed`].
//!
//! [`notify_many`]: Notifier::notify_many
//! [`flush`]: Notifier::flush
//!
//! # Features
//!
//! None is on by default.
//!
//! - `mio`: `mio::event::Source` for [`PollWaiter`] and [`PollLoop`].
//! - `ring`: the module `ring`, on rtrb.
//! - `jack`: builds the JACK examples and tests. The library contains no JACK code.
//!
//! # Platforms
//!
//! Linux. Elsewhere the crate compiles and waits correctly, but timed waits look at the word once per millisecond, and
//! priorities are not granted.

mod end;
mod error;
pub mod guide;
mod hint;
#[cfg(all(unix, feature = "mio"))]
mod mio;
mod notifier;
mod parking;
#[cfg(unix)]
mod poll_loop;
#[cfg(unix)]
mod poll_waiter;
mod priority;
#[cfg(feature = "ring")]
pub mod ring;
mod semaphore;
mod shared;
mod state;
mod stopper;
mod strategy;
mod sync;
mod sys;
mod wait;
mod waiter;
mod word;
mod worker;

pub use error::{Closed, TryWaitError, WaitTimeoutError};
pub use notifier::{NOTIFY_MANY_MAX, Notifier};
#[cfg(unix)]
pub use poll_loop::{Armed, PollLoop};
#[cfg(unix)]
pub use poll_waiter::PollWaiter;
pub use priority::{Granted, Policy, Priority, PriorityError};
pub use semaphore::Semaphore;
pub use stopper::Stopper;
pub use strategy::{Periodic, WaitStats, WaitStrategy};
pub use wait::Wait;
pub use waiter::Waiter;
pub use worker::{OnDenied, Worker, WorkerBuilder, WorkerPanic};

// Here and not in a target of their own: they look at the word, and loom is a dependency of tests alone.
#[cfg(all(test, rt_notify_loom))]
#[path = "../tests/loom/mod.rs"]
mod models;
