//! What must go on while a thread is frozen: another is woken while a notifier is, and notifiers go on while a waiter is.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

use rt_notify::{Closed, Notifier, Wait};

use crate::freeze::{everywhere, freeze};
use crate::stress::{Watchdog, until};
use crate::threads::Sleeper;

/// A thread that takes notifications as they come, and tells what it has seen.
pub(crate) struct Reader {
    pub(crate) total: Arc<AtomicU32>,
    /// What is written here before a notification is copied to `seen` after the wait that takes it.
    message: Arc<AtomicU32>,
    seen: Arc<AtomicU32>,
    /// While this is set, it does not go to sleep again.
    hold: Arc<AtomicBool>,
    pub(crate) thread: Sleeper<()>,
}

impl Reader {
    pub(crate) fn new(mut wait: impl FnMut() -> Result<u32, Closed> + Send + 'static) -> Self {
        let total = Arc::new(AtomicU32::new(0));
        let message = Arc::new(AtomicU32::new(0));
        let seen = Arc::new(AtomicU32::new(0));
        let hold = Arc::new(AtomicBool::new(false));
        let thread = Sleeper::spawn_asleep({
            let (total, message, seen, hold) = (total.clone(), message.clone(), seen.clone(), hold.clone());
            move || {
                while let Ok(n) = wait() {
                    total.fetch_add(n, Relaxed);
                    seen.store(message.load(Relaxed), Relaxed);
                    while hold.load(Relaxed) {
                        thread::yield_now();
                    }
                }
            }
        });
        Reader { total, message, seen, hold, thread }
    }

    /// `low`, which counts `counted`, is frozen at many points, each time while the reader sleeps; `high`, which
    /// counts one, must wake the reader before `low` goes on.
    pub(crate) fn is_woken_by(&self, high: impl Fn(), low: impl Fn() + Sync, counted: u32) {
        let mut message = 0;
        let mut posted = 0;
        everywhere(|point| {
            // A new sleep, begun when no call is under way any more: what a call of an earlier sleep does late could
            // make `high` wake the reader for the wrong reason.
            self.hold.store(true, Relaxed);
            high();
            posted += 1;
            until("the reader is awake", || self.total.load(Relaxed) == posted);
            self.hold.store(false, Relaxed);
            self.thread.wait_asleep();
            message += 1;
            let is_frozen = freeze(
                point,
                &low,
                || {
                    self.message.store(message, Relaxed);
                    high();
                    until("the reader wakes while the other thread is frozen", || {
                        self.seen.load(Relaxed) == message
                    });
                },
                || {},
            );
            posted += counted + u32::from(is_frozen);
            until("all is handed out", || self.total.load(Relaxed) == posted);
            is_frozen
        });
    }
}

/// The waiter is frozen at many points of `wait`; what notifiers call meanwhile returns, and nothing is lost.
pub(crate) fn notify_returns<W: Wait + Send>(
    (notifier, mut waiter): (Notifier, W),
    wait: impl Fn(&mut W) -> u32 + Sync,
) {
    let _watchdog = Watchdog::new();
    everywhere(|point| {
        let posted = Cell::new(0);
        let post = || {
            notifier.notify();
            posted.set(posted.get() + 1);
        };
        let mut taken = 0;
        let is_frozen = freeze(
            point,
            || taken = wait(&mut waiter),
            || {
                post();
                post();
                notifier.flush();
                drop(notifier.clone());
                assert!(!notifier.is_closed());
                post();
            },
            post,
        );
        taken += waiter.try_wait().unwrap_or(0);
        assert_eq!(taken, posted.get());
        // A flush that came too late for this wait.
        notifier.flush();
        assert_eq!(waiter.wait_for(2), Ok(0));
        is_frozen
    });
}
