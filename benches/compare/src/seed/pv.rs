//! Uncontended P and V: a POSIX semaphore stays in user space, a System V semaphore does not.

use super::{Line, Options, scaled, table, wakeup, watched};

const POSIX: &str = "POSIX sem_t";

pub(super) fn run(options: Options) -> Result<String, String> {
    let million = [
        (POSIX, Some(0.049)),
        ("System V semaphore", Some(1.01)),
        ("System V semaphore, SEM_UNDO", None),
        ("rt-notify Semaphore", None),
        ("rt-notify Waiter", None),
    ];
    let many = [(POSIX, None), ("rt-notify Semaphore", None), ("rt-notify Waiter", None)];
    let million = million.map(|(name, published)| line(name, published, 1_000_000, options));
    let many = many.map(|(name, published)| line(name, published, 100_000_000, options));
    Ok(format!(
        "1,000,000 P/V, one thread\n\n{}\n100,000,000 P/V, one thread; System V is left out, it would take minutes\n\n{}",
        table(&million, POSIX),
        table(&many, POSIX)
    ))
}

fn line(name: &str, published: Option<f64>, n: u32, options: Options) -> Line {
    let loops = scaled(n, options);
    let each = watched(name, || wakeup(name)?.uncontended(loops));
    let today = each.map(|each| vec![each * f64::from(n) / 1e9]);
    Line { name: name.into(), published, today }
}
