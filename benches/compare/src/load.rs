//! What else the CPUs do meanwhile.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use crate::common::cpu::{self, Priority};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Nothing: the CPUs fall asleep.
    Idle,
    /// A `SCHED_IDLE` thread on each spins, and gives way to everything: they do not fall asleep.
    Awake,
    /// An ordinary thread on each spins.
    Loaded,
}

/// Threads that spin until this is dropped.
pub(crate) struct Spinners {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(self) -> Result<Spinners, String> {
        let over = Arc::new(AtomicBool::new(false));
        let priority = match self {
            Load::Idle => return Ok(Spinners { over, threads: Vec::new() }),
            Load::Awake => Priority::Idle,
            Load::Loaded => Priority::Inherit,
        };
        priority.check()?;
        let spin = |cpu| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                // Both have been seen to work; where they do not, there is less load.
                let _ = cpu::pin(cpu).and(priority.apply());
                // Ordering: Relaxed; sooner or later.
                while !over.load(Relaxed) {
                    spin_loop();
                }
            })
        };
        let threads = cpu::allowed().into_iter().map(spin).collect();
        Ok(Spinners { over, threads })
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        // Ordering: Relaxed; as above.
        self.over.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            // It cannot panic.
            let _ = thread.join();
        }
    }
}
