//! A comparison of C++20's means by ping-pong: a million ball changes, five runs of each. After R. Grimm, "Performance
//! Comparison of Condition Variables and Atomics in C++20" (2020), which gives its figures as pictures.

use super::{Options, RUNS, lines, ping_pongs, placement_text, table};

const N: u32 = 1_000_000;

pub(super) fn run(options: Options) -> Result<String, String> {
    let names = [
        "C++ condition_variable",
        "C++20 atomic_flag wait",
        "C++20 atomic<bool> wait",
        "C++20 counting_semaphore",
        "C++20 binary_semaphore",
        "rt-notify Waiter",
        "rt-notify Semaphore",
    ];
    let lines = lines(&names.map(|name| (name, None)), RUNS, |name| ping_pongs(name, N, options));
    let place = placement_text(options);
    Ok(format!("1,000,000 ping-pongs, {RUNS} runs, {place}\n\n{}", table(&lines, "C++ condition_variable")))
}
