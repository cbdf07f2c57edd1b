//! Measurements that others published, done again, with their figures beside today's.
//!
//! A figure is only given where it is known. Machines differ by decades: what can be compared is the ratios.

mod cpp20;
mod ipc;
mod ipc_rings;
mod lad2006;
mod mutexes;
mod pv;

use crate::common::cpu::{self, Priority};
use crate::common::ping_pong::Placement;
use crate::common::stats::Estimate;
use crate::registry::{self, Wakeup};
use crate::report::markdown::grid;
use crate::report::show;
use crate::watchdog;

pub(crate) use ipc::receive;

/// What can be asked of a preset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Of the original number of repetitions.
    pub(crate) scale: f64,
    /// Lets the scheduler place the threads, instead of all on one CPU.
    pub(crate) unpinned: bool,
}

pub(crate) struct Seed {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(Options) -> Result<String, String>,
}

pub(crate) const ALL: [Seed; 5] = [
    Seed {
        name: "lad2006",
        about: "1,000,000 ping-pongs: pipe, condition variable, semaphore",
        run: lad2006::run,
    },
    Seed { name: "cpp20", about: "1,000,000 ping-pongs with C++20's means, five runs", run: cpp20::run },
    Seed { name: "pv", about: "1,000,000 and 100,000,000 P/V: POSIX and System V", run: pv::run },
    Seed {
        name: "ipc",
        about: "100,000 messages of 2,000 bytes between two processes, and between two threads",
        run: ipc::run,
    },
    Seed { name: "mutexes", about: "500,000 critical sections by each of two threads", run: mutexes::run },
];

/// How often each is measured.
const RUNS: u32 = 5;

/// A line of a preset's table.
struct Line {
    name: String,
    /// Seconds, where a figure is known.
    published: Option<f64>,
    /// Seconds, several times or once, for the original number of repetitions; or why there are none.
    today: Result<Vec<f64>, String>,
}

/// The table. Ratios are to the line called `reference`.
fn table(lines: &[Line], reference: &str) -> String {
    let median = |line: &Line| Some(Estimate::of(line.today.as_ref().ok()?)?.median);
    let base = lines.iter().find(|line| line.name == reference);
    let published_base = base.and_then(|line| line.published);
    let today_base = base.and_then(median);
    let ratio = |value: Option<f64>, base: Option<f64>| {
        value.zip(base).map_or_else(|| "–".into(), |(value, base)| format!("{:.2}", value / base))
    };
    let row = |line: &Line| {
        let today = match &line.today {
            Err(reason) => reason.clone(),
            Ok(runs) => Estimate::of(runs).map_or("–".into(), |Estimate { median, .. }| {
                let least = runs.iter().copied().fold(f64::MAX, f64::min);
                let most = runs.iter().copied().fold(0.0, f64::max);
                if runs.len() > 1 {
                    format!("{} ({}…{})", show(median), show(least), show(most))
                } else {
                    show(median)
                }
            }),
        };
        vec![
            line.name.clone(),
            line.published.map_or_else(|| "–".into(), show),
            ratio(line.published, published_base),
            today,
            ratio(median(line), today_base),
        ]
    };
    let head = ["".into(), "published, s".into(), "ratio".into(), "today, s".into(), "ratio".into()];
    let mut text = grid(&head, &lines.iter().map(row).collect::<Vec<_>>(), &[1, 2, 3, 4]);
    text += &format!("\nToday's are medians, with the least and the most. Ratios are to {reference}.");
    if lines.iter().all(|line| line.published.is_none()) {
        text += " No published figures are at hand: only today's are given.";
    }
    text + "\n"
}

fn wakeup(name: &str) -> Result<Wakeup, String> {
    registry::wakeups()
        .into_iter()
        .find(|wakeup| wakeup.name == name)
        .ok_or_else(|| registry::left_out().unwrap_or_else(|| format!("no mechanism `{name}`")))
}

fn placement(options: Options) -> Placement {
    match cpu::allowed().first() {
        Some(&cpu) if !options.unpinned => Placement { cpus: [Some(cpu); 2], priority: Priority::Inherit },
        _ => Placement::ANYWHERE,
    }
}

fn placement_text(options: Options) -> &'static str {
    if options.unpinned { "placed by the scheduler" } else { "on one CPU" }
}

/// Measures all, in turn, `runs` times. Names, and seconds where a figure is known.
fn lines(
    names: &[(&str, Option<f64>)],
    runs: u32,
    measure: impl Fn(&str) -> Result<f64, String>,
) -> Vec<Line> {
    let new = |&(name, published): &(&str, _)| Line { name: name.into(), published, today: Ok(Vec::new()) };
    let mut lines: Vec<Line> = names.iter().map(new).collect();
    for _ in 0..runs {
        for line in &mut lines {
            if let Ok(times) = &mut line.today {
                match watchdog::watch(format!("preset: {}", line.name), || measure(&line.name)) {
                    Ok(seconds) => times.push(seconds),
                    Err(reason) => line.today = Err(reason),
                }
            }
        }
    }
    lines
}

/// `n`, scaled.
fn scaled(n: u32, options: Options) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a scale is between 0 and 1")]
    let scaled = (f64::from(n) * options.scale).round() as u64;
    scaled.max(10)
}

/// Seconds for `n` ping-pongs, from fewer if scaled.
fn ping_pongs(name: &str, n: u32, options: Options) -> Result<f64, String> {
    let trips = scaled(n, options);
    let each = wakeup(name)?.ping_pong(trips, placement(options))?;
    Ok(each * f64::from(n) / 1e9)
}
