//! Two threads that contend for a lock, half a million times each.

use super::{Line, Options, scaled, table, watched};
use crate::registry;

const N: u32 = 500_000;

pub(super) fn run(options: Options) -> Result<String, String> {
    let each = scaled(N, options);
    let line = |mutex: registry::Mutex| Line {
        name: mutex.name.into(),
        published: None,
        today: watched(mutex.name, || (mutex.contention)(2, each))
            .map(|ns| vec![ns * 2.0 * f64::from(N) / 1e9]),
    };
    let lines: Vec<Line> = registry::mutexes().into_iter().map(line).collect();
    Ok(format!("500,000 critical sections by each of two threads\n\n{}", table(&lines, "pthread mutex")))
}
