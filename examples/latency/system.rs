//! What the kernel says: times, a thread's scheduling, CPUs, and time that the hypervisor took.

use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use super::stats::stamp;

/// Unit of `/proc/stat`: `USER_HZ`, which is 100 on every Linux that JACK runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Nanoseconds on the monotonic clock, for every stamp of this program. Realtime-safe.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    stamp(time.tv_sec, time.tv_nsec)
}

/// Nanoseconds for which the calling thread has had a CPU.
pub(crate) fn thread_cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    stamp(time.tv_sec, time.tv_nsec)
}

/// The CPUs that the calling thread may use.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    // Without the call nothing is known, and nobody can be placed.
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Keeps the calling thread to one CPU, as far as the kernel allows.
pub(crate) fn keep_to(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let _ = sched_setaffinity(None, &set);
}

/// Has the calling thread run only while no other thread wants its CPU. Tells whether the kernel agrees.
#[allow(unsafe_code, reason = "neither std nor rustix has this call")]
pub(crate) fn run_only_when_idle() -> bool {
    // SAFETY: all integers, and no pointer in it; any bits are a value of it.
    let none: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a value that lives for as long as the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &none) == 0 }
}

/// Policy and priority of a thread of this process, as the kernel reports them.
pub(crate) fn scheduling(thread: i32) -> Option<String> {
    parse_scheduling(&fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?)
}

fn parse_scheduling(stat: &str) -> Option<String> {
    // The name, in parentheses, may itself contain spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    // `fields` starts with the third field of proc(5): nice is its 19th, rt_priority its 40th, policy its 41st.
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let (nice, priority, policy) = (fields.get(16)?, fields.get(37)?, fields.get(38)?);
    Some(match *policy {
        "0" => format!("nice {nice}"),
        "1" => format!("SCHED_FIFO {priority}"),
        "2" => format!("SCHED_RR {priority}"),
        "5" => "SCHED_IDLE".to_owned(),
        other => format!("policy {other}"),
    })
}

/// Seconds that the hypervisor has withheld from all CPUs since boot.
pub(crate) fn steal_seconds() -> Option<f64> {
    let ticks = parse_steal(&fs::read_to_string("/proc/stat").ok()?)?;
    Some(f64::from(u32::try_from(ticks).ok()?) / TICKS_PER_SECOND)
}

fn parse_steal(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("cpu "))?.split_whitespace().nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_is_read_behind_a_name_with_parentheses() {
        let stat = |nice, priority, policy| {
            let zeros = "0 ".repeat(20);
            format!("7 (a) b) c) S {}{nice} {zeros}{priority} {policy} 0 0", "0 ".repeat(15))
        };
        assert_eq!(parse_scheduling(&stat("-20", "0", "0")).as_deref(), Some("nice -20"));
        assert_eq!(parse_scheduling(&stat("0", "65", "1")).as_deref(), Some("SCHED_FIFO 65"));
        assert_eq!(parse_scheduling("nonsense"), None);
    }

    #[test]
    fn scheduling_of_a_real_thread_is_known() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(scheduling(thread).is_some());
    }

    #[test]
    fn a_thread_that_runs_only_when_idle_is_known_as_one() {
        std::thread::spawn(|| {
            assert!(run_only_when_idle());
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            assert_eq!(scheduling(thread).as_deref(), Some("SCHED_IDLE"));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn steal_is_the_eighth_number_of_all_cpus() {
        assert_eq!(parse_steal("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 0 0 0 0 0 0 0 1 0 0\n"), Some(88));
        assert_eq!(parse_steal("intr 5\n"), None);
    }

    #[test]
    fn a_thread_has_no_more_cpu_time_than_has_passed() {
        let (began, before) = (now(), thread_cpu_time());
        while thread_cpu_time() == before {}
        assert!(thread_cpu_time() - before <= now() - began);
    }

    #[test]
    fn a_thread_keeps_to_the_cpu_it_is_given() {
        let cpus = allowed_cpus();
        std::thread::spawn(move || {
            let last = *cpus.last().unwrap();
            keep_to(last);
            assert_eq!(allowed_cpus(), [last]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let before = now();
        assert!(before > 0 && now() >= before);
    }
}
