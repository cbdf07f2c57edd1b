//! The experiment: which rings make up which table.

use super::registry::{self, BLOCK, Entry};
use super::{Manner, full_speed, paced};
use crate::common::cpu;
use crate::common::stats::Sorted;
use crate::experiments::Context;
use crate::load::Load;
use crate::results::Table;
use crate::rounds::{Case, Head, Sample};

type Run = fn(full_speed::Plan) -> Result<full_speed::Outcome, String>;

/// In blocks: a third of a second at 48 kHz.
const CAPACITY: usize = 256;
/// In blocks: 4,096 frames.
const WANTED: usize = 64;

pub(crate) fn full_speed(context: &mut Context) -> Vec<Table> {
    let mut tables = Vec::new();
    if let [first, .., last] = cpu::allowed()[..] {
        let cpus = [Some(first), Some(last)];
        let messages = context.size.contended;
        let plan = full_speed::Plan { messages: messages * 10, capacity: CAPACITY, wanted: WANTED, cpus };
        tables.push(full_speed_table(context, "blocks", "Blocks of 64 stereo frames", plan, |entry| {
            entry.blocks
        }));
        let plan = full_speed::Plan {
            messages: messages * 100,
            capacity: CAPACITY * BLOCK,
            wanted: WANTED * BLOCK,
            cpus,
        };
        tables.push(full_speed_table(context, "items", "Single items", plan, |entry| entry.items));
    }
    tables
}

pub(crate) fn paced(context: &mut Context) -> Vec<Table> {
    vec![
        paced_table(context, "idle", "machine idle", Load::Idle),
        paced_table(context, "loaded", "CPUs loaded", Load::Loaded),
    ]
}

fn cases<'a>(
    context: &Context,
    measure: impl Fn(&Entry) -> Result<Sample, String> + Copy + 'a,
) -> Vec<Case<'a>> {
    let entries = registry::all().into_iter().filter(|entry| context.wants(entry.name));
    let case = |entry: Entry| Case {
        name: entry.name.into(),
        class: entry.manner.name(),
        ours: entry.ours,
        run: Box::new(move || measure(&entry)),
    };
    entries.map(case).collect()
}

fn full_speed_table(
    context: &mut Context,
    id: &str,
    title: &str,
    plan: full_speed::Plan,
    run: fn(&Entry) -> Run,
) -> Table {
    const COLUMNS: &[&str] = &["ns per message", "sleeps of the reader per 1,000 messages"];
    let head = Head {
        id: format!("rings/{id}"),
        title: format!("{title} through a ring, both sides at full speed"),
        note: format!(
            "{} messages a round; 1,000 divided by the first column is millions per second. The ring holds {}. Each \
             side has a CPU. Every item is written and checked one by one, which is in the time. Readers that can wait \
             for more than one message wait for {}.",
            plan.messages, plan.capacity, plan.wanted
        ),
        columns: COLUMNS,
    };
    let cases = cases(context, move |entry| {
        let outcome = run(entry)(plan)?;
        let values = vec![(COLUMNS[0], outcome.ns), (COLUMNS[1], outcome.sleeps * 1000.0)];
        Ok(Sample { values, times: Vec::new() })
    });
    context.take(head, cases)
}

/// The second and the fifth are what the project promises something about.
pub(super) const PACED_COLUMNS: &[&str] = &[
    "wake p50, µs",
    "wake p99, µs",
    "write p50, µs",
    "write p99, µs",
    "system calls of the writer per block",
    "sleeps of the reader per block",
    "CPU of the reader, µs per block",
];

fn paced_table(context: &mut Context, id: &str, what: &str, load: Load) -> Table {
    let plan = paced::Plan {
        // The reader is to get what it wants every time.
        blocks: usize::try_from(context.size.periods * 5).unwrap_or(0).next_multiple_of(WANTED),
        capacity: CAPACITY,
        wanted: WANTED,
    };
    let head = Head {
        id: format!("rings-paced/{id}"),
        title: format!(
            "A block of 64 stereo frames per period at 48 kHz, to a reader that wants 4,096, {what}"
        ),
        note: format!(
            "{} blocks a round, a period of 1.333 ms apart, from a SCHED_FIFO 70 thread to one of nice −20. A wake is \
             from just before the block by which there were enough until the reader saw that; the p99 of the few in a \
             round is their largest. The writer's sleeps between the blocks are not among its system calls. Who can \
             wait for one message only wakes for each, and keeps the CPU from falling asleep deeply.",
            plan.blocks
        ),
        columns: PACED_COLUMNS,
    };
    let cases = cases(context, move |entry| {
        // Refused before the load starts.
        if entry.manner == Manner::Spinning {
            return (entry.paced)(plan).map(|_| Sample::default());
        }
        let _spinners = load.start()?;
        let outcome = (entry.paced)(plan)?;
        let (wake, write) = (Sorted::new(outcome.wake.clone()), Sorted::new(outcome.write.clone()));
        let blocks = plan.blocks as f64;
        let micros = [wake.at(0.5), wake.at(0.99), write.at(0.5), write.at(0.99)].map(|ns| ns / 1000.0);
        let mut values: Vec<_> = PACED_COLUMNS.iter().copied().zip(micros).collect();
        values.extend(outcome.rings.map(|rings| (PACED_COLUMNS[4], rings as f64 / blocks)));
        values.push((PACED_COLUMNS[5], outcome.reader.sleeps as f64 / blocks));
        values.push((PACED_COLUMNS[6], outcome.reader.cpu_ns as f64 / 1000.0 / blocks));
        Ok(Sample { values, times: vec![("wake", outcome.wake), ("write", outcome.write)] })
    });
    context.take(head, cases)
}
