//! Checks in machine code what the guarantees table says of the realtime-safe functions.
//!
//! Each, with all that it calls, must be straight-line code: no loop, not even a backward branch, no recursion, no
//! instruction that repeats itself, no thread-local, no panic, no call but the crate's own, down to the inline system
//! call of the wake, and that at most once on any path. `Clone` may besides end the process by `std::process::abort`.
//!
//! ```text
//! .ci/disassembly               # checks, and checks that faults would be found
//! .ci/disassembly --self-test   # only the latter, with all that is found
//! .ci/disassembly --aarch64     # the same for AArch64 with LSE
//! ```

mod check;
mod image;
mod processor;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use check::{Checker, Fault, Paths, Range, Report};
use image::Image;
use processor::Processor;

/// A checked function: how many system calls it makes, and whether it may abort.
struct Probe {
    name: &'static str,
    system_calls: Range,
    may_abort: bool,
}

const fn probe(name: &'static str, least: u32, most: u32) -> Probe {
    Probe { name, system_calls: Range { least, most }, may_abort: false }
}

const PROBES: [Probe; 12] = [
    probe("probe_expect_next", 0, 0),
    probe("probe_fetch_add", 0, 0),
    probe("probe_flush", 0, 1),
    probe("probe_is_closed", 0, 0),
    Probe { may_abort: true, ..probe("probe_notifier_clone", 0, 0) },
    probe("probe_notifier_drop", 0, 1),
    probe("probe_notify", 0, 1),
    probe("probe_notify_many", 0, 1),
    probe("probe_post", 0, 1),
    probe("probe_stop", 1, 1),
    Probe { may_abort: true, ..probe("probe_stopper_clone", 0, 0) },
    probe("probe_stopper_drop", 0, 0),
];

/// What must be found in the functions of `planted.rs`.
const PLANTED: [(&str, Fault); 11] = [
    ("planted_abort", Fault::Abort),
    ("planted_allocation", Fault::ForeignCall),
    ("planted_compare_exchange_loop", Fault::Loop),
    ("planted_indirect_call", Fault::UnknownDestination),
    ("planted_lock", Fault::ForeignCall),
    ("planted_loop", Fault::Loop),
    ("planted_panic", Fault::ForeignCall),
    ("planted_recursion", Fault::Recursion),
    ("planted_repeated_instruction", Fault::RepeatedInstruction),
    ("planted_second_system_call", Fault::SystemCalls),
    ("planted_thread_local", Fault::ThreadLocal),
];

/// Besides, where an addition may be a call.
const PLANTED_ON_AARCH64: [(&str, Fault); 1] = [("planted_outlined_addition", Fault::ForeignCall)];

/// How a program that uses the crate may be built.
#[derive(Clone, Copy)]
struct Build {
    opt_level: &'static str,
    panic: &'static str,
    lto: &'static str,
}

const BUILDS: [Build; 7] = [
    Build { opt_level: "2", panic: "unwind", lto: "off" },
    Build { opt_level: "2", panic: "abort", lto: "off" },
    Build { opt_level: "3", panic: "unwind", lto: "off" },
    Build { opt_level: "3", panic: "abort", lto: "off" },
    Build { opt_level: "s", panic: "unwind", lto: "off" },
    Build { opt_level: "s", panic: "abort", lto: "off" },
    // Nothing stops the optimiser at the crate's border.
    Build { opt_level: "3", panic: "abort", lto: "fat" },
];

/// Fewer, since each way to panic or to link needs a std of its own.
const BUILDS_OF_AARCH64: [Build; 3] = [
    Build { opt_level: "2", panic: "unwind", lto: "off" },
    Build { opt_level: "3", panic: "unwind", lto: "off" },
    Build { opt_level: "s", panic: "unwind", lto: "off" },
];

/// Whose level of optimisation is varied: all that the functions are made of.
const PACKAGES: [&str; 3] = ["rt-notify-proof", "rt-notify", "rustix"];

fn main() -> ExitCode {
    let (mut self_test, mut processor) = (false, Processor::X86_64);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--self-test" => self_test = true,
            "--aarch64" => processor = Processor::Aarch64,
            other => {
                eprintln!("unknown argument {other}; there are --self-test and --aarch64");
                return ExitCode::FAILURE;
            }
        }
    }
    if processor == Processor::X86_64 && !cfg!(target_arch = "x86_64") {
        eprintln!("this is no x86-64, for which this program would be built");
        return ExitCode::FAILURE;
    }
    let builds: &[Build] = match processor {
        Processor::X86_64 => &BUILDS,
        Processor::Aarch64 => &BUILDS_OF_AARCH64,
    };

    let mut failures = 0;
    for build in builds {
        println!("\n{processor:?}, opt-level {}, panic {}, lto {}", build.opt_level, build.panic, build.lto);
        let image = Image::read(&build.run(processor), processor);
        failures += check_planted(&image, processor, self_test);
        if !self_test {
            failures += check_probes(&image);
        }
    }
    println!();
    if failures == 0 {
        println!("disassembly: all {} builds hold", builds.len());
        ExitCode::SUCCESS
    } else {
        println!("disassembly: {failures} FAILED");
        ExitCode::FAILURE
    }
}

impl Build {
    /// Builds the probes and returns the shared library.
    fn run(self, processor: Processor) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = root.join("target/proof");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo
            .current_dir(&root)
            .args(["rustc", "--quiet", "--release", "--package", "rt-notify-proof", "--lib"])
            .args(["--crate-type", "cdylib"])
            .arg("--config")
            .arg(format!("profile.release.panic={}", toml(self.panic)))
            .arg("--config")
            .arg(format!("profile.release.lto={}", toml(self.lto)))
            .arg("--target-dir")
            .arg(&target);
        for package in PACKAGES {
            let option = format!("profile.release.package.{package}.opt-level={}", toml(self.opt_level));
            cargo.arg("--config").arg(option);
        }
        processor.choose(&mut cargo);
        assert!(cargo.status().expect("cargo runs").success(), "the probes do not build");
        target.join(processor.directory()).join("librt_notify_proof.so")
    }
}

/// A number, or a string.
fn toml(value: &str) -> String {
    if value.parse::<u32>().is_ok() { value.to_owned() } else { format!("{value:?}") }
}

/// Every probe is free of faults. Returns how many are not.
fn check_probes(image: &Image) -> usize {
    let exported = image.exported("probe_");
    let expected: BTreeSet<&str> = PROBES.iter().map(|probe| probe.name).collect();
    // Else a probe that was added to the library would stay unchecked.
    assert!(exported.keys().copied().eq(expected), "the library exports {exported:?}");

    println!("  {:24} {:>14}  {:>12}", "", "instructions", "system calls");
    let mut failures = 0;
    for probe in &PROBES {
        let (paths, reports) = examine(image, exported[probe.name], probe);
        let cost = paths.to_return.unwrap_or_default();
        let name = probe.name.trim_start_matches("probe_");
        let note = if paths.aborts && probe.may_abort { "  or aborts" } else { "" };
        println!("  {name:24} {:>14}  {:>12}{note}", cost.instructions, cost.system_calls);
        for (fault, place) in &reports {
            println!("    FAILED: {fault:?}: {place}");
        }
        failures += usize::from(!reports.is_empty());
    }
    failures
}

/// Every planted fault is found. Returns how many are not.
fn check_planted(image: &Image, processor: Processor, verbose: bool) -> usize {
    let exported = image.exported("planted_");
    let mut planted = PLANTED.to_vec();
    if processor == Processor::Aarch64 {
        planted.extend(PLANTED_ON_AARCH64);
    }
    let mut failures = 0;
    for &(name, fault) in &planted {
        let (paths, mut reports) = examine(image, exported[name], &probe(name, 0, 1));
        // Most of them make none, which is no fault.
        let system_calls = paths.to_return.unwrap_or_default().system_calls;
        reports.retain(|(found, _)| *found != Fault::SystemCalls || system_calls.most > 1);
        let found = reports.iter().any(|(found, _)| *found == fault);
        if verbose || !found {
            let verdict = if found { "found" } else { "FAILED: not found" };
            println!("  {name:32} {fault:?}: {verdict}");
            for (fault, place) in &reports {
                println!("    {fault:?}: {place}");
            }
        }
        failures += usize::from(!found);
    }
    println!("  {} of {} planted faults found", planted.len() - failures, planted.len());
    failures
}

fn examine(image: &Image, start: u64, probe: &Probe) -> (Paths, BTreeSet<Report>) {
    let paths = Checker::new(image).follow(start);
    let mut reports = paths.reports.clone();
    if paths.aborts && !probe.may_abort {
        reports.insert((Fault::Abort, format!("{} may abort", probe.name)));
    }
    if let Some(cost) = paths.to_return
        && cost.system_calls != probe.system_calls
    {
        let (found, expected) = (cost.system_calls, probe.system_calls);
        reports.insert((Fault::SystemCalls, format!("{} makes {found}, not {expected}", probe.name)));
    }
    (paths, reports)
}
