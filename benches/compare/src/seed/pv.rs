//! Uncontended P and V: a POSIX semaphore stays in user space, a System V semaphore does not.

use super::{Options, RUNS, lines, scaled, table, wakeup};

const POSIX: &str = "POSIX sem_t";

pub(super) fn run(options: Options) -> Result<String, String> {
    let million = [
        (POSIX, Some(0.049)),
        ("System V semaphore", Some(1.01)),
        ("System V semaphore, SEM_UNDO", None),
        ("rt-notify Semaphore", None),
        ("rt-notify Waiter", None),
    ];
    let many = [
        (POSIX, None),
        ("System V semaphore", None),
        ("rt-notify Semaphore", None),
        ("rt-notify Waiter", None),
    ];
    let million = lines(&million, RUNS, |name| seconds(name, 1_000_000, options));
    let many = lines(&many, 1, |name| seconds(name, 100_000_000, options));
    Ok(format!(
        "1,000,000 P/V, one thread\n\n{}\n100,000,000 P/V, one thread, once\n\n{}",
        table(&million, POSIX),
        table(&many, POSIX)
    ))
}

/// For `n` P/V, from fewer if scaled.
fn seconds(name: &str, n: u32, options: Options) -> Result<f64, String> {
    Ok(wakeup(name)?.uncontended(scaled(n, options))? * f64::from(n) / 1e9)
}
