//! What the process holds: descriptors, and memory.

use std::fs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) descriptors: usize,
    /// Resident memory in pages.
    pub(crate) pages: u64,
}

impl Usage {
    pub(crate) fn now() -> Result<Usage, String> {
        let descriptors =
            fs::read_dir("/proc/self/fd").map_err(|error| format!("/proc/self/fd: {error}"))?.count();
        let statm =
            fs::read_to_string("/proc/self/statm").map_err(|error| format!("/proc/self/statm: {error}"))?;
        let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
        Ok(Usage { descriptors, pages: pages.ok_or("/proc/self/statm has no second number")? })
    }
}

/// The middle one of a few.
pub(crate) fn median(samples: &[Usage]) -> u64 {
    let mut pages: Vec<u64> = samples.iter().map(|usage| usage.pages).collect();
    pages.sort_unstable();
    pages[pages.len() / 2]
}
