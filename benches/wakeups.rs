//! The wake-ups that the project was asked to compare, and ours: `cargo bench --bench wakeups`.
//!
//! An own harness, since means mislead here: a wake-up's cost has a long tail that is the scheduler's, not the
//! mechanism's. Ping-pong and notify cost are medians over rounds, in which the mechanisms take turns; a
//! notification per period is given by percentiles. Without `--bench` (`cargo test --benches`) it is a quick check
//! that all of them work. `benches/compare` has more mechanisms, experiments and a report.

#[allow(dead_code, reason = "the comparison uses the rest")]
mod common;

use common::cpu::{self, Priority};
use common::notify_cost::{self, Cpus, Waiter};
use common::period::{self, Plan};
use common::ping_pong::{self, Placement};
use common::role::Mechanism;
use common::stats::{Estimate, Sorted};
use common::{eventfd_poll, ours, pipe_poll, posix_sem, pthread_condvar, std_condvar};

/// How much to measure.
#[derive(Clone, Copy)]
struct Size {
    rounds: usize,
    trips: u64,
    notifications: u64,
    periods: u64,
}

const FULL: Size = Size { rounds: 15, trips: 5000, notifications: 500, periods: 150 };
const QUICK: Size = Size { rounds: 2, trips: 50, notifications: 10, periods: 10 };

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let size = if full { FULL } else { QUICK };
    let cpus = cpu::allowed();
    let (first, last) = (cpus.first().copied(), cpus.last().copied());
    let apart = cpus.len() > 1;

    let one = Placement { cpus: [first, first], priority: Priority::Inherit };
    table("Ping-pong on one CPU, µs per round trip", size, |row| row.ping_pong(size, one));
    if apart {
        let two = Placement { cpus: [first, last], priority: Priority::Inherit };
        table("Ping-pong across two CPUs, µs per round trip", size, |row| {
            row.ping_pong(Size { trips: size.trips / 5, ..size }, two)
        });
        for (title, state) in [
            ("Notify, ns: waiter awake, clock included", Some(Waiter::Awake)),
            ("Notify, ns: notifications pending", None),
            ("Notify, ns: waiter asleep, clock included", Some(Waiter::Asleep)),
        ] {
            table(title, size, |row| row.notify(size, state, [first, last]));
        }
    }
    for (title, waiter) in [
        ("A notification per 1.33 ms, µs until the waiter runs: SCHED_FIFO 60", Priority::Fifo(60)),
        ("A notification per 1.33 ms, µs until the waiter runs: nice -20", Priority::Nice(-20)),
    ] {
        percentiles(title, size, Plan::new(size.periods, waiter));
    }
}

/// One mechanism's measurements.
struct Row {
    name: &'static str,
    ping_pong: fn(u64, Placement) -> Result<f64, String>,
    pending: fn(u32) -> Result<f64, String>,
    single: notify_cost::Single,
    period: fn(Plan) -> Result<period::Outcome, String>,
}

impl Row {
    fn of<M: Mechanism>() -> Self {
        Row {
            name: M::NAME,
            ping_pong: ping_pong::play::<M>,
            pending: notify_cost::pending::<M>,
            single: notify_cost::single::<M>,
            period: period::run::<M>,
        }
    }

    fn ping_pong(&self, size: Size, placement: Placement) -> Result<f64, String> {
        (self.ping_pong)(size.trips, placement).map(|ns| ns / 1000.0)
    }

    fn notify(&self, size: Size, state: Option<Waiter>, cpus: Cpus) -> Result<f64, String> {
        match state {
            None => (self.pending)(500),
            Some(state) => {
                let took = (self.single)(size.notifications, state, cpus)?;
                Ok(Sorted::new(took).at(0.5))
            }
        }
    }
}

fn rows() -> [Row; 11] {
    [
        Row::of::<pipe_poll::PipePoll>(),
        Row::of::<eventfd_poll::EventfdPoll>(),
        Row::of::<pthread_condvar::PthreadCondvar<false>>(),
        Row::of::<pthread_condvar::PthreadCondvar<true>>(),
        Row::of::<std_condvar::StdCondvar>(),
        Row::of::<posix_sem::PosixSem>(),
        Row::of::<ours::Futex>(),
        Row::of::<ours::Counting>(),
        Row::of::<ours::Eventfd>(),
        Row::of::<ours::Pipe>(),
        Row::of::<ours::Loop>(),
    ]
}

/// Measures every mechanism once a round, beginning with another one each time, and prints the medians.
fn table(title: &str, size: Size, measure: impl Fn(&Row) -> Result<f64, String>) {
    let rows = rows();
    let mut values = vec![Vec::new(); rows.len()];
    for round in 0..size.rounds {
        for step in 0..rows.len() {
            let i = (round * 4 + step) % rows.len();
            match measure(&rows[i]) {
                Ok(value) => values[i].push(value),
                Err(why) => return println!("\n{title}: not measured: {why}"),
            }
        }
    }
    println!("\n{title}\n{:40} {:>10}   95 % interval", "", "median");
    for (row, values) in rows.iter().zip(&values) {
        if let Some(Estimate { median, low, high, .. }) = Estimate::of(values) {
            println!("{:40} {median:10.2}   {low:.2} … {high:.2}", row.name);
        }
    }
}

/// Measures every mechanism once a round, and prints percentiles of all rounds together.
fn percentiles(title: &str, size: Size, plan: Plan) {
    const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
    let rows = rows();
    let mut wakes = vec![Vec::new(); rows.len()];
    for _ in 0..size.rounds {
        for (row, wakes) in rows.iter().zip(&mut wakes) {
            match (row.period)(plan) {
                Ok(outcome) => wakes.extend(outcome.wake),
                Err(why) => return println!("\n{title}: not measured: {why}"),
            }
        }
    }
    println!("\n{title}\n{:40} {:>10} {:>10} {:>10} {:>10}", "", "p50", "p90", "p99", "max");
    for (row, wakes) in rows.iter().zip(wakes) {
        let wakes = Sorted::new(wakes);
        let shares = SHARES.map(|share| format!("{:10.1}", wakes.at(share) / 1000.0));
        println!("{:40} {}", row.name, shares.join(" "));
    }
}
