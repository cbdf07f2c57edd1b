//! Two threads that contend for a lock, half a million times each.

use super::{Options, RUNS, lines, scaled, table};
use crate::registry;

const N: u32 = 500_000;

pub(super) fn run(options: Options) -> Result<String, String> {
    let each = scaled(N, options);
    let mutexes = registry::mutexes();
    let names: Vec<_> = mutexes.iter().map(|mutex| (mutex.name, None)).collect();
    let lines = lines(&names, RUNS, |name| {
        let mutex = mutexes.iter().find(|mutex| mutex.name == name).ok_or("no such lock")?;
        Ok((mutex.contention)(2, each)? * 2.0 * f64::from(N) / 1e9)
    });
    Ok(format!("500,000 critical sections by each of two threads\n\n{}", table(&lines, "pthread mutex")))
}
