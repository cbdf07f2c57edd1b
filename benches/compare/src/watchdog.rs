//! A lost wake-up is a hang. This one says so, and ends the program.

use std::process;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

static WATCHED: Mutex<Option<(Instant, String)>> = Mutex::new(None);

pub(crate) fn start() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, what)) = &*watched
                && since.elapsed() > PATIENCE
            {
                eprintln!("rt-notify-compare: {what}: not over after {PATIENCE:?}: a wake-up was lost");
                process::exit(1);
            }
        }
    });
}

/// Runs `f`, for some time at most.
pub(crate) fn watch<R>(what: String, f: impl FnOnce() -> R) -> R {
    let set = |watched| *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = watched;
    set(Some((Instant::now(), what)));
    let result = f();
    set(None);
    result
}
