//! The block that says where results come from, and how much of the machine was one's own.

use std::fs::read_to_string;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::param::clock_ticks_per_second;
use rustix::system::uname;
use serde::{Deserialize, Serialize};

use crate::common::{clock, cpu};
use crate::measure::floor;
use crate::syscalls::Counter;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Environment {
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) kernel: String,
    pub(crate) preemption: String,
    /// Times from a virtual machine say little about a real one, where a sleeping CPU wakes much faster.
    pub(crate) virtual_machine: bool,
    pub(crate) rustc: String,
    pub(crate) cxx: String,
    pub(crate) commit: String,
    /// Nanoseconds that a look at the clock takes.
    pub(crate) clock_ns: f64,
    /// Whether system calls are counted, or why not.
    pub(crate) system_calls: String,
    /// Rounds in which the hypervisor took a larger share of the CPU time than this are not used.
    pub(crate) steal_limit: f64,
    /// What the order of the rounds was drawn with.
    pub(crate) random: u64,
    pub(crate) unix_time: u64,
}

impl Environment {
    pub(crate) fn look(steal_limit: f64, random: u64) -> Self {
        let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name| {
            cpuinfo.lines().find(|line| line.starts_with(name)).and_then(|line| line.split(": ").nth(1))
        };
        let uname = uname();
        let version = uname.version().to_string_lossy();
        Environment {
            cpu: field("model name").or(field("Model")).unwrap_or("unknown").to_owned(),
            cpus: cpu::allowed().len(),
            kernel: uname.release().to_string_lossy().into_owned(),
            preemption: preemption(&version).to_owned(),
            virtual_machine: field("flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            rustc: env!("COMPARE_RUSTC").to_owned(),
            cxx: env!("COMPARE_CXX").to_owned(),
            commit: commit().unwrap_or_else(|| "unknown".into()),
            clock_ns: floor::clock(100_000),
            system_calls: Counter::available().map_or_else(|reason| reason, |()| "counted".into()),
            steal_limit,
            random,
            unix_time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }

    /// Names and values, for people.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let virtual_machine = if self.virtual_machine { "yes: waking a sleeping CPU is slow" } else { "no" };
        vec![
            ("CPU", format!("{}, {} to run on", self.cpu, self.cpus)),
            ("virtual machine", virtual_machine.into()),
            ("kernel", format!("{}, {}", self.kernel, self.preemption)),
            ("rustc", self.rustc.clone()),
            ("C++", self.cxx.clone()),
            ("commit", self.commit.clone()),
            ("a look at the clock", format!("{:.0} ns", self.clock_ns)),
            ("system calls", self.system_calls.clone()),
            ("rounds not used", format!("with more than {:.1} % steal", self.steal_limit * 100.0)),
            ("order drawn with", self.random.to_string()),
            ("time", format!("{} s since 1970", self.unix_time)),
        ]
    }
}

/// What the kernel's version string says about preemption.
fn preemption(version: &str) -> &str {
    let known = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"];
    known.into_iter().find(|name| version.contains(name)).unwrap_or("no preemption")
}

fn commit() -> Option<String> {
    let directory = env!("CARGO_MANIFEST_DIR");
    let output =
        Command::new("git").args(["-C", directory, "describe", "--always", "--dirty"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The CPU time that the machine has spent so far, in nanoseconds, all CPUs together.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    at: u64,
    stolen: u64,
    busy: u64,
    own: u64,
}

/// Shares of the CPU time between two looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) stolen: f64,
    pub(crate) others: f64,
}

impl Spent {
    pub(crate) fn so_far() -> Self {
        let stat = read_to_string("/proc/stat").unwrap_or_default();
        let ticks: Vec<u64> =
            stat.lines().next().unwrap_or_default().split_whitespace().skip(1).flat_map(str::parse).collect();
        let tick = 1_000_000_000 / clock_ticks_per_second().max(1);
        let time = |i: usize| ticks.get(i).copied().unwrap_or(0) * tick;
        Spent {
            at: clock::now(),
            stolen: time(7),
            // user, nice, system, irq, softirq
            busy: [0, 1, 2, 5, 6].map(time).iter().sum(),
            own: own_cpu_time(),
        }
    }

    pub(crate) fn since(self, earlier: Spent) -> Shares {
        let all = self.at.saturating_sub(earlier.at).max(1) as f64 * online_cpus();
        let busy = self.busy.saturating_sub(earlier.busy) as f64;
        let own = self.own.saturating_sub(earlier.own) as f64;
        let stolen = self.stolen.saturating_sub(earlier.stolen) as f64;
        Shares { stolen: stolen / all, others: ((busy - own) / all).max(0.0) }
    }
}

fn own_cpu_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn online_cpus() -> f64 {
    let stat = read_to_string("/proc/stat").unwrap_or_default();
    let cpus = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    cpus.max(1) as f64
}
