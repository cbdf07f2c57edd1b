//! Semaphores with several posters and several waiters.

use std::thread;
use std::time::Instant;

use rt_notify::Semaphore;

use crate::pairs::{fork, micros, pause};
use crate::random::Random;
use crate::tally::Tally;

pub(crate) fn semaphores(random: &mut Random) -> Result<Tally, String> {
    let posters = random.up_to(3);
    let waiters = random.up_to(3);
    // Each poster posts so many for each waiter, who takes its share and no more.
    let share = random.below(20);
    let semaphore = &Semaphore::new(0);
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(posters + waiters);
        for _ in 0..posters {
            let mut random = fork(random);
            threads.push(scope.spawn(move || {
                let mut left = share * waiters;
                while left > 0 {
                    let many = random.up_to(left.min(5));
                    if many == 1 {
                        semaphore.post();
                    } else {
                        semaphore.post_many(u32::try_from(many).expect("it is small"));
                    }
                    left -= many;
                    pause(&mut random);
                }
            }));
        }
        for _ in 0..waiters {
            let mut random = fork(random);
            threads.push(scope.spawn(move || {
                let mut left = share * posters;
                while left > 0 {
                    let timeout = micros(random.below(300));
                    let taken = match random.below(4) {
                        0 => semaphore.try_wait(),
                        1 => semaphore.wait_timeout(timeout),
                        2 => semaphore.wait_deadline(Instant::now() + timeout),
                        _ => {
                            semaphore.wait();
                            true
                        }
                    };
                    left -= usize::from(taken);
                    pause(&mut random);
                }
            }));
        }
        // The scope itself waits until they are done, not until they have freed what is theirs.
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_owned()))
    })?;
    let sent = (share * waiters * posters) as u64;
    Tally::exact(sent, sent - u64::from(semaphore.count()))
}
