//! The experiments: which cases make up which table.

use crate::common::clock;
use crate::common::cpu::{self, Priority};
use crate::common::notify_cost::Waiter;
use crate::common::period::{PERIOD, Plan};
use crate::common::ping_pong::Placement;
use crate::common::stats::Sorted;
use crate::load::Load;
use crate::measure::{burst, floor};
use crate::registry::{self, Wakeup};
use crate::results::Table;
use crate::rings::tables;
use crate::rounds::{self, Case, Head, Random, Rounds, Sample};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) rounds: Rounds,
    pub(crate) trips: u64,
    pub(crate) loops: u64,
    pub(crate) notifications: u64,
    pub(crate) periods: u64,
    pub(crate) contended: u64,
    pub(crate) critical_sections: u64,
    /// Whether the tables of a scaling experiment are for all numbers, or for the ends only.
    pub(crate) all_numbers: bool,
}

pub(crate) struct Context {
    pub(crate) size: Size,
    pub(crate) random: Random,
    /// Parts of the names of what is to be measured; none is all.
    pub(crate) mechanisms: Vec<String>,
}

/// An experiment makes one table or several.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Context) -> Vec<Table>,
}

pub(crate) const ALL: [Experiment; 12] = [
    Experiment { name: "ping-pong", about: "two threads wake each other in turn", run: ping_pong },
    Experiment { name: "uncontended", about: "notify and wait on one thread", run: uncontended },
    Experiment { name: "notify", about: "how long the notifier is held up", run: notify },
    Experiment { name: "burst", about: "1,000 notifications at once, system calls counted", run: burst },
    Experiment { name: "period", about: "a notification per 64 frames at 48 kHz", run: period },
    Experiment { name: "lost", about: "the same with a waiter that works: what is lost or late", run: lost },
    Experiment { name: "notifiers", about: "1 to 64 notifiers on one waiter", run: notifiers },
    Experiment { name: "pairs", about: "1 to 1,000 pairs: time, memory, descriptors", run: pairs },
    Experiment { name: "waiters", about: "1 to 64 waiters on a semaphore", run: waiters },
    Experiment { name: "locks", about: "locks, uncontended and contended", run: locks },
    Experiment { name: "rings", about: "rings and channels at full speed", run: tables::full_speed },
    Experiment { name: "rings-paced", about: "the same, with a block per period", run: tables::paced },
];

const TRIP: &str = "µs per round trip";

impl Context {
    pub(crate) fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.mechanisms.is_empty() || self.mechanisms.iter().any(|part| name.contains(&part.to_lowercase()))
    }

    fn wakeups(&self) -> Vec<Wakeup> {
        registry::wakeups().into_iter().filter(|wakeup| self.wants(wakeup.name)).collect()
    }

    pub(crate) fn take(&mut self, head: Head, cases: Vec<Case<'_>>) -> Table {
        rounds::take(head, cases, self.size.rounds, &mut self.random)
    }

    /// A table with a row for every wake-up.
    fn table<'a>(
        &mut self,
        head: Head,
        measure: impl Fn(&Wakeup) -> Result<Sample, String> + Copy + 'a,
    ) -> Table {
        self.table_with(head, Vec::new(), measure)
    }

    fn table_with<'a>(
        &mut self,
        head: Head,
        mut cases: Vec<Case<'a>>,
        measure: impl Fn(&Wakeup) -> Result<Sample, String> + Copy + 'a,
    ) -> Table {
        cases.extend(self.wakeups().into_iter().map(|wakeup| Case {
            name: wakeup.name.into(),
            class: wakeup.class_name(),
            ours: wakeup.ours,
            run: Box::new(move || measure(&wakeup)),
        }));
        self.take(head, cases)
    }
}

fn floor_case<'a>(name: &str, run: impl FnMut() -> Result<Sample, String> + 'a) -> Case<'a> {
    Case { name: name.into(), class: "floor", ours: false, run: Box::new(run) }
}

/// The first and the last CPU that may be used.
fn two_cpus() -> Option<[usize; 2]> {
    match cpu::allowed()[..] {
        [first, .., last] => Some([first, last]),
        _ => None,
    }
}

fn ping_pong(context: &mut Context) -> Vec<Table> {
    let Some(first) = cpu::allowed().first().copied() else { return Vec::new() };
    let one = Placement { cpus: [Some(first), Some(first)], priority: Priority::Inherit };
    let fifo = Placement { priority: Priority::Fifo(50), ..one };
    let mut variants = vec![
        ("one-cpu", "Ping-pong on one CPU", one, 1),
        ("one-cpu-fifo", "Ping-pong on one CPU, SCHED_FIFO: undisturbed by other programs", fifo, 1),
    ];
    if let Some(cpus) = two_cpus() {
        let two = Placement { cpus: cpus.map(Some), priority: Priority::Inherit };
        variants.push(("two-cpus", "Ping-pong across two CPUs", two, 4));
    }
    variants.push(("unpinned", "Ping-pong where the scheduler likes", Placement::ANYWHERE, 4));
    let trips = context.size.trips;
    let table = |(id, title, placement, slower): (&str, &str, Placement, u64)| {
        let trips = trips / slower;
        let head = Head {
            id: format!("ping-pong/{id}"),
            title: title.into(),
            note: format!("{trips} round trips a round. Two wake-ups make a round trip."),
            columns: &[TRIP],
        };
        let mut floors = Vec::new();
        if slower == 1 {
            let yielding = move || Ok(Sample::of(TRIP, floor::yielding(trips, placement)? / 1000.0));
            floors.push(floor_case("sched_yield in turn", yielding));
        }
        context.table_with(head, floors, |wakeup| {
            Ok(Sample::of(TRIP, wakeup.ping_pong(trips, placement)? / 1000.0))
        })
    };
    variants.into_iter().map(table).collect()
}

fn uncontended(context: &mut Context) -> Vec<Table> {
    const COLUMN: &str = "ns per notification and wait";
    let loops = context.size.loops;
    let head = Head {
        id: "uncontended".into(),
        title: "Notify and wait on one thread".into(),
        note: format!("{loops} times a round. Nobody sleeps, nobody is woken."),
        columns: &[COLUMN],
    };
    let floors = vec![
        floor_case("fetch_add", || Ok(Sample::of(COLUMN, floor::fetch_add(loops)))),
        floor_case("empty system call", || Ok(Sample::of(COLUMN, floor::system_call(loops)))),
    ];
    vec![context.table_with(head, floors, |wakeup| Ok(Sample::of(COLUMN, wakeup.uncontended(loops)?)))]
}

fn notify(context: &mut Context) -> Vec<Table> {
    const MEAN: &str = "ns per notify";
    const SINGLE: &[&str] = &["p50, ns", "p99, ns"];
    let mut tables = Vec::new();
    let head = Head {
        id: "notify/pending".into(),
        title: "Notify while notifications are pending".into(),
        note: "An average over up to 500 at once.".into(),
        columns: &[MEAN],
    };
    let floors = vec![
        floor_case("fetch_add", || Ok(Sample::of(MEAN, floor::fetch_add(500)))),
        floor_case("empty system call", || Ok(Sample::of(MEAN, floor::system_call(500)))),
    ];
    tables.push(context.table_with(head, floors, |wakeup| Ok(Sample::of(MEAN, wakeup.notify_pending(500)?))));
    let Some(cpus) = two_cpus() else { return tables };
    let n = context.size.notifications;
    for (id, title, state) in [
        ("awake", "Notify a waiter that is awake on another CPU", Waiter::Awake),
        ("asleep", "Notify a waiter that sleeps on another CPU", Waiter::Asleep),
    ] {
        let head = Head {
            id: format!("notify/{id}"),
            title: title.into(),
            note: format!("{n} single calls a round. A look at the clock is in each."),
            columns: SINGLE,
        };
        let clock = || Ok(single((0..64).map(|_| empty()).collect()));
        let floors = vec![floor_case("nothing: the clock alone", clock)];
        tables.push(
            context.table_with(head, floors, |wakeup| Ok(single(wakeup.notify_single(n, state, cpus)?))),
        );
    }
    tables
}

fn empty() -> u64 {
    let start = clock::now();
    clock::now() - start
}

fn single(took: Vec<u64>) -> Sample {
    let sorted = Sorted::new(took.clone());
    Sample {
        values: vec![("p50, ns", sorted.at(0.5)), ("p99, ns", sorted.at(0.99))],
        times: vec![("notify", took)],
    }
}

fn burst(context: &mut Context) -> Vec<Table> {
    const N: u64 = 1000;
    const COLUMNS: &[&str] = &[
        "ns per notify",
        "ns per notification until all are taken",
        "waits",
        "system calls of the notifier",
        "system calls of the waiter",
    ];
    let variants = [
        (
            "asleep",
            "1,000 notifications to a waiter that sleeps",
            "System calls are counted in a second burst. A waiter that wakes during the burst takes what there is, and \
             sleeps again: each of its sleeps costs the notifier a call, so the number depends on how fast it comes back \
             on the other CPU, from 1 to hundreds.",
            burst::Waiter::Asleep,
        ),
        (
            "busy",
            "1,000 notifications to a busy waiter, which then takes them",
            "System calls are counted in a second burst.",
            burst::Waiter::Busy,
        ),
    ];
    let table = |(id, title, note, state): (&str, &str, &str, _)| {
        let head =
            Head { id: format!("burst/{id}"), title: title.into(), note: note.into(), columns: COLUMNS };
        context.table(head, |wakeup| {
            let outcome = wakeup.burst(N, state)?;
            let mut values = vec![
                (COLUMNS[0], outcome.notify),
                (COLUMNS[1], outcome.all),
                (COLUMNS[2], outcome.wakes as f64),
            ];
            if let Some([notifier, waiter]) = outcome.calls {
                values.extend([(COLUMNS[3], notifier as f64), (COLUMNS[4], waiter as f64)]);
            }
            Ok(Sample { values, times: Vec::new() })
        })
    };
    variants.into_iter().map(table).collect()
}

const PERIOD_COLUMNS: &[&str] = &[
    "wake p50, µs",
    "wake p99, µs",
    "notify p50, µs",
    "notify p99, µs",
    "CPU of the notifier, µs per period",
    "CPU of the waiter, µs per period",
    "switches of the waiter per period",
];

fn period(context: &mut Context) -> Vec<Table> {
    let priorities =
        [("fifo", "SCHED_FIFO 60", Priority::Fifo(60)), ("nice", "nice −20", Priority::Nice(-20))];
    let loads = [
        ("idle", "machine idle", Load::Idle),
        ("awake", "CPUs kept awake", Load::Awake),
        ("loaded", "CPUs loaded", Load::Loaded),
    ];
    let periods = context.size.periods;
    let mut tables = Vec::new();
    for (id, priority_name, priority) in priorities {
        for (load_id, load_name, load) in loads {
            let head = Head {
                id: format!("period/{id}-{load_id}"),
                title: format!("A notification per period, waiter at {priority_name}, {load_name}"),
                note: format!(
                    "{periods} periods of 1.333 ms a round, notified by a SCHED_FIFO 70 thread. From just before the \
                     notification until the waiter has seen it."
                ),
                columns: PERIOD_COLUMNS,
            };
            tables.push(context.table(head, |wakeup| {
                let _spinners = load.start()?;
                let outcome = wakeup.period(Plan::new(periods, priority))?;
                let (wake, notify) = (Sorted::new(outcome.wake.clone()), Sorted::new(outcome.notify.clone()));
                let each = periods as f64;
                let micros = [
                    wake.at(0.5),
                    wake.at(0.99),
                    notify.at(0.5),
                    notify.at(0.99),
                    outcome.notifier.cpu_ns as f64 / each,
                    outcome.waiter.cpu_ns as f64 / each,
                ];
                let mut values: Vec<_> =
                    PERIOD_COLUMNS.iter().copied().zip(micros.map(|ns| ns / 1000.0)).collect();
                values.push((PERIOD_COLUMNS[6], outcome.waiter.switches as f64 / each));
                Ok(Sample { values, times: vec![("wake", outcome.wake), ("notify", outcome.notify)] })
            }));
        }
    }
    tables
}

fn lost(context: &mut Context) -> Vec<Table> {
    const COLUMNS: &[&str] = &["% lost", "wake p50, µs", "wake p90, µs", "% later than a period"];
    const MOST_WORK: u64 = PERIOD + PERIOD / 2;
    let periods = context.size.periods;
    let head = Head {
        id: "lost".into(),
        title: "A notification per period to a waiter that works after each".into(),
        note: "As a disk writer does: up to 1.5 periods, evenly spread, so that one in three outlasts a period. Lost \
               is a signal that the callback could not send, since the mutex was taken."
            .into(),
        columns: COLUMNS,
    };
    vec![context.table(head, |wakeup| {
        let plan = Plan { work_up_to: MOST_WORK, ..Plan::new(periods, Priority::Nice(-20)) };
        let outcome = wakeup.period(plan)?;
        let late = outcome.wake.iter().filter(|&&ns| ns > PERIOD).count() as f64;
        let wake = Sorted::new(outcome.wake);
        let percent = |n: f64| 100.0 * n / periods as f64;
        let values =
            [percent(outcome.lost as f64), wake.at(0.5) / 1000.0, wake.at(0.9) / 1000.0, percent(late)];
        Ok(Sample { values: COLUMNS.iter().copied().zip(values).collect(), times: Vec::new() })
    })]
}

fn notifiers(context: &mut Context) -> Vec<Table> {
    const COLUMN: &str = "ns per notification";
    let total = context.size.contended;
    let numbers: &[u64] = if context.size.all_numbers { &[1, 2, 4, 8, 16, 32, 64] } else { &[1, 64] };
    let table = |&n: &u64| {
        let head = Head {
            id: format!("notifiers/{n}"),
            title: format!("One waiter, notifiers: {n}"),
            note: format!(
                "{total} notifications in all, as fast as they can, until the waiter has taken the last."
            ),
            columns: &[COLUMN],
        };
        context.table(head, |wakeup| Ok(Sample::of(COLUMN, wakeup.many_notifiers(n, total)?)))
    };
    numbers.iter().map(table).collect()
}

fn pairs(context: &mut Context) -> Vec<Table> {
    const COLUMNS: &[&str] = &["µs to make", "µs to drop", "bytes", "descriptors"];
    let numbers: &[usize] = if context.size.all_numbers { &[1, 10, 100, 1000] } else { &[1, 100] };
    let table = |&n: &usize| {
        let head = Head {
            id: format!("pairs/{n}"),
            title: format!("Pairs at once: {n}"),
            note: "For each pair. Bytes are the allocator's; what the kernel keeps is not in them.".into(),
            columns: COLUMNS,
        };
        context.table(head, |wakeup| {
            let outcome = wakeup.pairs(n)?;
            let values =
                [outcome.make_ns / 1000.0, outcome.drop_ns / 1000.0, outcome.bytes, outcome.descriptors];
            Ok(Sample { values: COLUMNS.iter().copied().zip(values).collect(), times: Vec::new() })
        })
    };
    numbers.iter().map(table).collect()
}

fn waiters(context: &mut Context) -> Vec<Table> {
    const COLUMN: &str = "ns per permit";
    let total = context.size.contended;
    let numbers: &[u64] = if context.size.all_numbers { &[1, 2, 4, 8, 16, 32, 64] } else { &[1, 64] };
    let table = |&n: &u64| {
        let head = Head {
            id: format!("waiters/{n}"),
            title: format!("One semaphore, waiters: {n}"),
            note: format!(
                "{total} permits in all, posted as fast as possible, until the last has been taken."
            ),
            columns: &[COLUMN],
        };
        let semaphores = registry::semaphores().into_iter().filter(|sem| context.wants(sem.name));
        let cases = semaphores.map(|sem| Case {
            name: sem.name.into(),
            class: "semaphore",
            ours: sem.ours,
            run: Box::new(move || Ok(Sample::of(COLUMN, (sem.many_waiters)(n, total)?))),
        });
        let cases = cases.collect();
        context.take(head, cases)
    };
    numbers.iter().map(table).collect()
}

fn locks(context: &mut Context) -> Vec<Table> {
    const COLUMN: &str = "ns per critical section";
    let each = context.size.critical_sections;
    let numbers: &[u64] = if context.size.all_numbers { &[1, 2, 4, 8] } else { &[1, 2] };
    let table = |&n: &u64| {
        let head = Head {
            id: format!("locks/{n}"),
            title: format!("One lock, threads: {n}"),
            note: format!("{each} critical sections by each thread, which add to a number."),
            columns: &[COLUMN],
        };
        let mutexes = registry::mutexes().into_iter().filter(|mutex| context.wants(mutex.name));
        let cases = mutexes.map(|mutex| Case {
            name: mutex.name.into(),
            class: "lock",
            ours: mutex.ours,
            run: Box::new(move || Ok(Sample::of(COLUMN, (mutex.contention)(n, each)?))),
        });
        let cases = cases.collect();
        context.take(head, cases)
    };
    numbers.iter().map(table).collect()
}
