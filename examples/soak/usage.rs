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

/// Resident memory after the warm-up and at the end, in pages: medians of a third of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Growth {
    /// From one sample per second or so. `None` if there are too few: allocators and stacks grow to their size at first.
    pub(crate) fn of(samples: &[Usage]) -> Option<Growth> {
        const ENOUGH: usize = 55;
        if samples.len() < ENOUGH {
            return None;
        }
        let warm = &samples[samples.len() / 2..];
        let third = warm.len() / 3;
        Some(Growth { first: median(&warm[..third]), last: median(&warm[warm.len() - third..]) })
    }

    /// Within 1 %.
    pub(crate) fn is_flat(self) -> bool {
        self.first.abs_diff(self.last) * 100 <= self.first
    }
}

fn median(samples: &[Usage]) -> u64 {
    let mut pages: Vec<u64> = samples.iter().map(|usage| usage.pages).collect();
    pages.sort_unstable();
    pages[pages.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The growth in a run of so many phases, whose memory is `pages`.
    fn growth(phases: u64, pages: impl Fn(u64) -> u64) -> Option<Growth> {
        let samples: Vec<Usage> =
            (0..phases).map(|phase| Usage { descriptors: 6, pages: pages(phase) }).collect();
        Growth::of(&samples)
    }

    #[test]
    fn memory_that_grows_in_the_warm_up_only_is_flat() {
        assert!(growth(90, |phase| 600 + phase.min(30) * 8).unwrap().is_flat());
    }

    #[test]
    fn a_page_in_each_second_is_a_leak() {
        assert!(!growth(90, |phase| 850 + phase).unwrap().is_flat());
    }

    #[test]
    fn a_page_in_a_minute_is_a_leak_in_half_an_hour() {
        assert!(!growth(1800, |phase| 850 + phase / 60).unwrap().is_flat());
    }

    #[test]
    fn one_wild_sample_decides_nothing() {
        assert!(growth(90, |phase| if phase % 20 == 0 { 5000 } else { 850 }).unwrap().is_flat());
    }

    #[test]
    fn a_short_run_is_not_judged() {
        assert_eq!(growth(10, |phase| 850 + 100 * phase), None);
    }
}
