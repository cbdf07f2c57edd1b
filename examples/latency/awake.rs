//! Keeps the CPUs from falling asleep, so that waking one up is not part of what is measured.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::Duration;

use super::background::Background;
use super::system::{allowed_cpus, keep_to, run_only_when_idle};

/// A thread on each CPU that this process may use, which runs only while nobody else wants to. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Awake {
    _threads: Vec<Background>,
}

impl Awake {
    pub(crate) fn keep() -> io::Result<Awake> {
        let threads = allowed_cpus().into_iter().map(|cpu| {
            Background::start("awake", move || {
                keep_to(cpu);
                let out_of_the_way = run_only_when_idle();
                move || {
                    if out_of_the_way {
                        // Without the processor's hint that this is a spin loop: a hypervisor takes that for a wish to sleep.
                        (0..1_000).for_each(|turn| _ = black_box(turn));
                    } else {
                        // Rather not at all than in everybody's way.
                        thread::sleep(Duration::from_millis(10));
                    }
                }
            })
        });
        Ok(Awake { _threads: threads.collect::<io::Result<_>>()? })
    }
}
