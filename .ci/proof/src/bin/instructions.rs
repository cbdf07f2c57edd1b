//! Counts, with callgrind, the instructions of the realtime-safe functions while nobody sleeps, against those of a bare
//! `fetch_add` behind the same kind of pointer.
//!
//! Callgrind counts what runs between a function's entry and its return: the counts are exact, and the same in every run
//! and on every x86-64 machine. What runs is built with the release profile.
//!
//! ```text
//! .ci/instructions
//! ```

use std::hint::black_box;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use rt_notify::{Notifier, Semaphore};
use rt_notify_proof as probes;

/// A function, and how often it is to be called.
struct Case {
    /// Which probe's instructions are counted.
    symbol: &'static str,
    note: &'static str,
    /// The most instructions that the function may have beyond those of `fetch_add`.
    most_more: u64,
    run: fn(u32),
}

const CASES: [Case; 11] = [
    Case { symbol: "probe_fetch_add", note: "the result not used", most_more: 0, run: fetch_add },
    Case { symbol: "probe_notify", note: "the worker is awake", most_more: FEW, run: notify },
    Case { symbol: "probe_notify_many", note: "the worker is awake", most_more: 12, run: notify_many },
    Case { symbol: "probe_flush", note: "the worker is awake", most_more: FEW, run: flush },
    // Nearly all of it is std's subtraction of two moments.
    Case { symbol: "probe_expect_next", note: "", most_more: 100, run: expect_next },
    Case { symbol: "probe_is_closed", note: "", most_more: FEW, run: is_closed },
    Case { symbol: "probe_notifier_clone", note: "", most_more: FEW, run: notifier_clone_and_drop },
    Case {
        symbol: "probe_notifier_drop",
        note: "not the last",
        most_more: FEW,
        run: notifier_clone_and_drop,
    },
    Case { symbol: "probe_stopper_clone", note: "", most_more: FEW, run: stopper_clone_and_drop },
    Case { symbol: "probe_stopper_drop", note: "", most_more: FEW, run: stopper_clone_and_drop },
    Case { symbol: "probe_post", note: "nobody waits", most_more: FEW, run: post },
];

/// What the project has set itself for a function whose argument is not a number.
const FEW: u64 = 8;

/// Fewer than saturate a count.
const CALLS: u32 = 1000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare(),
        // Under valgrind.
        ["run", symbol, calls] => {
            let case = CASES.iter().find(|case| case.symbol == symbol).expect("a known symbol");
            (case.run)(calls.parse().expect("a number"));
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("no arguments, please");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table and compares it with the bounds.
fn compare() -> ExitCode {
    let mut base = None;
    let mut failures = 0;
    println!("{:16} {:>12} {:>18}", "", "instructions", "beyond fetch_add");
    for case in &CASES {
        // The difference cancels whatever the first call has to itself.
        let (once, twice) = (count(case.symbol, CALLS), count(case.symbol, 2 * CALLS));
        let each = (twice - once) / u64::from(CALLS);
        assert_eq!(twice - once, each * u64::from(CALLS), "{}: calls differ", case.symbol);
        // An unknown symbol would count nothing.
        assert!(each > 1, "{} was not called", case.symbol);

        let base = *base.get_or_insert(each);
        let holds = each <= base + case.most_more;
        let more = i128::from(each) - i128::from(base);
        let verdict = if holds { "" } else { "  FAILED: too many" };
        let name = case.symbol.trim_start_matches("probe_");
        println!(
            "{name:16} {each:>12} {:>18}  {}{verdict}",
            format!("{more:+} of {:+}", case.most_more),
            case.note
        );
        failures += u32::from(!holds);
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many instructions this program executes inside `symbol`, called `calls` times.
fn count(symbol: &str, calls: u32) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &format!("--toggle-collect={symbol}")])
        .arg(std::env::current_exe().expect("this program has a path"))
        .args(["run", symbol, &calls.to_string()])
        .output()
        .unwrap_or_else(|error| panic!("cannot run valgrind (package valgrind): {error}"));
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "valgrind failed:\n{report}");
    // `==1234== Collected : 9000`
    let collected = report.lines().find_map(|line| line.split_once("Collected : "));
    let collected = collected.and_then(|(_, counts)| counts.split_whitespace().next()?.parse().ok());
    collected.unwrap_or_else(|| panic!("no count in what valgrind said:\n{report}"))
}

fn fetch_add(calls: u32) {
    let word = AtomicU32::new(0);
    for _ in 0..calls {
        probes::probe_fetch_add(black_box(&&word));
    }
}

fn notify(calls: u32) {
    let (notifier, mut waiter) = Notifier::new();
    for _ in 0..calls {
        probes::probe_notify(&notifier);
    }
    assert_eq!(waiter.try_wait(), Ok(calls));
}

fn notify_many(calls: u32) {
    let (notifier, mut waiter) = Notifier::new();
    for _ in 0..calls {
        probes::probe_notify_many(&notifier, 64);
    }
    assert_eq!(waiter.try_wait(), Ok(64 * calls));
}

fn flush(calls: u32) {
    let (notifier, mut waiter) = Notifier::new();
    for _ in 0..calls {
        probes::probe_flush(&notifier);
    }
    assert_eq!(waiter.wait_for(2), Ok(0));
}

fn expect_next(calls: u32) {
    let (notifier, _waiter) = Notifier::new();
    let at = Instant::now();
    for _ in 0..calls {
        probes::probe_expect_next(&notifier, &at);
    }
}

fn is_closed(calls: u32) {
    let (notifier, _waiter) = Notifier::new();
    for _ in 0..calls {
        assert!(!probes::probe_is_closed(&notifier));
    }
}

fn notifier_clone_and_drop(calls: u32) {
    let (notifier, _waiter) = Notifier::new();
    for _ in 0..calls {
        let mut clone = MaybeUninit::uninit();
        probes::probe_notifier_clone(&notifier, &mut clone);
        // SAFETY: written by the call above.
        let mut clone = ManuallyDrop::new(unsafe { clone.assume_init() });
        // SAFETY: not used afterwards.
        unsafe { probes::probe_notifier_drop(&mut clone) };
    }
}

fn stopper_clone_and_drop(calls: u32) {
    let (_notifier, waiter) = Notifier::new();
    let stopper = waiter.stopper();
    for _ in 0..calls {
        let mut clone = MaybeUninit::uninit();
        probes::probe_stopper_clone(&stopper, &mut clone);
        // SAFETY: written by the call above.
        let mut clone = ManuallyDrop::new(unsafe { clone.assume_init() });
        // SAFETY: not used afterwards.
        unsafe { probes::probe_stopper_drop(&mut clone) };
    }
}

fn post(calls: u32) {
    let semaphore = Semaphore::new(0);
    for _ in 0..calls {
        probes::probe_post(&semaphore);
    }
    assert_eq!(semaphore.count(), calls);
}
