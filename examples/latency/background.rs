//! A thread that does the same again and again for as long as it is wanted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Background {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a thread that calls `prepare` once, and then what that returns.
    pub(crate) fn start<F: FnMut()>(
        name: &str,
        prepare: impl FnOnce() -> F + Send + 'static,
    ) -> io::Result<Background> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            let mut again = prepare();
            // Ordering: Relaxed; nothing but the end hangs on it.
            while !stopped.load(Ordering::Relaxed) {
                again();
            }
        };
        let thread = thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Background { stop, thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and nobody would be left to tell.
            let _ = thread.join();
        }
    }
}
