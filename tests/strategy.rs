//! Every strategy keeps every promise of the waits: exact counts, deadlines, ends; whatever it is configured with. What
//! it saves is `latency`'s to measure; nothing here depends on how fast anything is.
#![cfg(target_os = "linux")]

#[path = "support/child.rs"]
mod child;
#[path = "support/kernel.rs"]
mod kernel;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/strace.rs"]
mod strace;
#[path = "support/stress.rs"]
mod stress;
#[path = "support/threads.rs"]
mod threads;

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use child::in_child;
use rt_notify::{
    Closed, Notifier, OnDenied, Periodic, Priority, TryWaitError, WaitStats, WaitStrategy, WaitTimeoutError,
    Waiter, Worker,
};
use rustix::process::Resource;
use rustix::thread::CpuSet;
use strace::{section, trace};
use stress::{Random, Watchdog, rounds, until};
use threads::Sleeper;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);
/// A test that waited for so long would be taken for hanging.
const LONG: Duration = Duration::from_secs(1000);

/// One of each kind, and those that nearly never look or sleep.
fn strategies() -> Vec<WaitStrategy> {
    vec![
        WaitStrategy::Block,
        WaitStrategy::Spin(50 * US),
        WaitStrategy::Interval(100 * US),
        WaitStrategy::Periodic(Periodic::learn()),
        WaitStrategy::Periodic(Periodic::every(MS).max_cpu(1.0)),
    ]
}

/// At and beyond the limits of what clocks and numbers hold.
fn absurd_strategies() -> Vec<WaitStrategy> {
    let mut all = vec![
        WaitStrategy::Spin(Duration::ZERO),
        WaitStrategy::Spin(Duration::MAX),
        WaitStrategy::Interval(Duration::ZERO),
        WaitStrategy::Interval(Duration::MAX),
    ];
    let margins = [
        Duration::ZERO..=Duration::ZERO,
        Duration::ZERO..=Duration::MAX,
        Duration::MAX..=Duration::MAX,
        RangeInclusive::new(MS, US),
        RangeInclusive::new(Duration::MAX, Duration::ZERO),
    ];
    for margin in margins {
        for max_cpu in [0.0, 1.0, f32::NAN, -1.0, 2.0, f32::INFINITY] {
            let learnt = Periodic::learn();
            for periodic in [learnt, Periodic::every(Duration::ZERO), Periodic::every(Duration::MAX)] {
                all.push(WaitStrategy::Periodic(periodic.margin(margin.clone()).max_cpu(max_cpu)));
            }
        }
    }
    all
}

fn more_than_one_cpu() -> bool {
    let more = thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    if !more {
        strace::skip(thread::current().name().unwrap_or_default(), "with one CPU nothing spins");
    }
    more
}

type Form = (&'static str, fn(&mut Waiter) -> Result<u32, WaitTimeoutError>);

/// Every wait; those with a deadline often miss it.
const FORMS: [Form; 5] = [
    ("wait", |waiter| Ok(waiter.wait()?)),
    ("wait_timeout", |waiter| waiter.wait_timeout(70 * US)),
    ("wait_deadline", |waiter| waiter.wait_deadline(Instant::now() + 70 * US)),
    ("wait_for", |waiter| Ok(waiter.wait_for(3)?)),
    ("wait_for_deadline", |waiter| waiter.wait_for_deadline(3, Instant::now() + 70 * US)),
];

/// The sum of all counts until the end.
fn count(waiter: &mut Waiter, wait: impl Fn(&mut Waiter) -> Result<u32, WaitTimeoutError>) -> u32 {
    let mut total = 0;
    loop {
        match wait(waiter) {
            Ok(n) => total += n,
            Err(WaitTimeoutError::Timeout) => {}
            Err(_) => return total,
        }
    }
}

#[test]
fn counts_are_exact_with_each_strategy_and_each_wait() {
    let _watchdog = Watchdog::new();
    for strategy in strategies() {
        for (name, wait) in FORMS {
            let (notifier, waiter) = Notifier::new();
            let mut waiter = waiter.with_strategy(strategy.clone());
            let waiting = thread::spawn(move || (count(&mut waiter, wait), waiter.stats()));
            let each = rounds(1000);
            thread::scope(|scope| {
                for seed in 1..=2 {
                    let notifier = notifier.clone();
                    scope.spawn(move || {
                        let mut random = Random::new(seed);
                        for n in 0..each {
                            // Pauses in which it falls asleep, and others in which it does not.
                            random.spin(if n % 64 == 0 { 100_000 } else { 100 });
                            notifier.notify();
                        }
                    });
                }
            });
            drop(notifier);
            let (total, stats) = waiting.join().unwrap();
            assert_eq!(total, 2 * each, "{name}, {strategy:?}");
            assert!(stats.largest_pending <= total && stats.largest_pending > 0);
        }
    }
}

/// Each comes only once the one before is counted, so that none is made good by the next: with a period, at the edges of
/// where it is looked for, and anywhere; announced now and then, mostly wrongly.
#[test]
fn each_notification_alone_ends_a_wait_whenever_it_comes() {
    const PERIOD: Duration = Duration::from_micros(300);
    let _watchdog = Watchdog::new();
    for (seed, strategy) in strategies().into_iter().enumerate() {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy);
        let counted = Arc::new(AtomicU32::new(0));
        let its_counted = counted.clone();
        let waiting = thread::spawn(move || {
            while let Ok(n) = waiter.wait() {
                its_counted.fetch_add(n, Relaxed);
            }
        });
        let mut random = Random::new(seed as u64);
        let mut due = Instant::now();
        for n in 0..rounds(1000) {
            due += match random.below(8) {
                0..=4 => PERIOD,
                5 | 6 => PERIOD - 50 * US + random.below(100) * US,
                _ => random.below(1000) * US,
            };
            until("it is due", || Instant::now() >= due);
            if random.below(4) == 0 {
                notifier.expect_next(due + random.below(600) * US);
            }
            notifier.notify();
            until("it is counted", || counted.load(Relaxed) > n);
            due = due.max(Instant::now());
        }
        drop(notifier);
        waiting.join().unwrap();
    }
}

#[test]
fn absurd_configurations_count_exactly_and_end() {
    let _watchdog = Watchdog::new();
    for (n, strategy) in absurd_strategies().into_iter().enumerate() {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy.clone());
        let waiting = thread::spawn(move || {
            let total = count(&mut waiter, |waiter| {
                // None of its numbers may be one that no `Duration` can hold.
                let _ = waiter.stats();
                Ok(waiter.wait()?)
            });
            (total, waiter.try_wait())
        });
        let mut random = Random::new(n as u64);
        for n in 0..100 {
            if n % 3 == 0 {
                notifier.expect_next(Instant::now() + random.below(200) * US);
            }
            notifier.notify();
            random.spin(3000);
        }
        drop(notifier);
        assert_eq!(waiting.join().unwrap(), (100, Err(TryWaitError::Closed)), "{strategy:?}");
    }
}

#[test]
fn absurd_announcements_do_no_harm() {
    let _watchdog = Watchdog::new();
    let now = Instant::now();
    let far = [LONG, LONG * 1000, Duration::from_secs(1 << 33), Duration::from_secs(1 << 62)];
    let mut moments: Vec<_> = far.iter().filter_map(|&long| now.checked_add(long)).collect();
    moments.extend(far.iter().filter_map(|&long| now.checked_sub(long)));
    moments.extend([now, now + US, now + 500 * US]);
    for strategy in strategies() {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy);
        for at in &moments {
            notifier.expect_next(*at);
            assert_eq!(waiter.wait_timeout(US), Err(WaitTimeoutError::Timeout));
            notifier.notify();
            assert_eq!(waiter.wait(), Ok(1));
        }
    }
}

#[test]
fn timeouts_are_never_early_and_take_nothing() {
    let _watchdog = Watchdog::new();
    let patient = [WaitStrategy::Spin(LONG), WaitStrategy::Interval(LONG)];
    for strategy in strategies().into_iter().chain(patient) {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy.clone());
        for (round, timeout) in [US, 300 * US, 3 * MS].into_iter().cycle().take(30).enumerate() {
            let start = Instant::now();
            assert_eq!(waiter.wait_timeout(timeout), Err(WaitTimeoutError::Timeout));
            assert!(start.elapsed() >= timeout, "{strategy:?}");
            let deadline = Instant::now() + timeout;
            assert_eq!(waiter.wait_deadline(deadline), Err(WaitTimeoutError::Timeout));
            assert!(Instant::now() >= deadline, "{strategy:?}");
            notifier.notify();
            // Over such a moment it would spin.
            notifier.expect_next(Instant::now() + timeout);
            let deadline = Instant::now() + timeout;
            assert_eq!(waiter.wait_for_deadline(2, deadline), Err(WaitTimeoutError::Timeout));
            assert!(Instant::now() >= deadline, "{strategy:?}");
            assert_eq!(waiter.try_wait(), Ok(1));
            assert_eq!(waiter.stats().timeouts, 3 * (round as u64 + 1), "{strategy:?}");
        }
    }
}

#[test]
fn a_deadline_before_the_expected_moment_ends_the_planned_sleep_and_no_other_follows() {
    if !more_than_one_cpu() {
        return;
    }
    let _watchdog = Watchdog::new();
    let (notifier, waiter) = Notifier::new();
    let mut waiter = waiter.with_strategy(WaitStrategy::Periodic(Periodic::learn()));
    for round in 1..=20 {
        notifier.expect_next(Instant::now() + 500 * MS);
        assert_eq!(waiter.wait_timeout(MS), Err(WaitTimeoutError::Timeout));
        let stats = waiter.stats();
        assert_eq!(stats.sleeps - stats.spurious, round);
        assert_eq!((stats.timeouts, stats.spinning), (round, Duration::ZERO));
    }
}

#[test]
fn a_stop_and_the_last_drop_end_a_wait_that_would_look_only_much_later() {
    let _watchdog = Watchdog::new();
    let expected = WaitStrategy::Periodic(Periodic::every(LONG));
    let patient = [WaitStrategy::Spin(LONG), WaitStrategy::Interval(LONG), expected];
    for strategy in strategies().into_iter().chain(patient) {
        for stops in [true, false] {
            let (notifier, waiter) = Notifier::new();
            let mut waiter = waiter.with_strategy(strategy.clone());
            let stopper = waiter.stopper();
            notifier.expect_next(Instant::now() + Duration::from_secs(9));
            let sleeper = Sleeper::spawn(move || (waiter.wait_for(2), waiter.wait()));
            if !matches!(strategy, WaitStrategy::Spin(LONG)) {
                sleeper.wait_asleep();
            }
            if stops {
                stopper.stop();
            } else {
                drop(notifier);
            }
            assert_eq!(sleeper.join(), (Err(Closed), Err(Closed)), "{strategy:?}");
        }
    }
}

#[test]
fn a_stop_hands_out_what_a_patient_interval_has_not_seen() {
    let _watchdog = Watchdog::new();
    let (notifier, waiter) = Notifier::new();
    let mut waiter = waiter.with_strategy(WaitStrategy::Interval(LONG));
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || (waiter.wait(), waiter.wait()));
    notifier.notify_many(3);
    stopper.stop();
    assert_eq!(sleeper.join(), (Ok(3), Err(Closed)));
}

#[test]
fn a_wait_for_some_ends_with_the_last_of_them_or_by_a_flush() {
    let _watchdog = Watchdog::new();
    for strategy in strategies() {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(strategy.clone());
        for _ in 0..20 {
            let waiting = thread::spawn(move || (waiter.wait_for(5), waiter));
            notifier.notify_many(2);
            notifier.notify_many(2);
            notifier.notify();
            let (taken, then) = waiting.join().unwrap();
            assert_eq!(taken, Ok(5), "{strategy:?}");
            waiter = then;

            let waiting = thread::spawn(move || (waiter.wait_for(5), waiter));
            notifier.notify_many(4);
            notifier.flush();
            let (taken, then) = waiting.join().unwrap();
            assert_eq!(taken, Ok(4), "{strategy:?}");
            waiter = then;
            assert_eq!(waiter.try_wait(), Err(TryWaitError::Empty));
        }
    }
}

#[test]
fn the_shortest_interval_is_10_us() {
    let _watchdog = Watchdog::new();
    let (_notifier, waiter) = Notifier::new();
    let mut waiter = waiter.with_strategy(WaitStrategy::Interval(Duration::ZERO));
    let start = Instant::now();
    assert_eq!(waiter.wait_timeout(20 * MS), Err(WaitTimeoutError::Timeout));
    let most = start.elapsed().as_micros() / 10 + 1;
    let sleeps = waiter.stats().sleeps;
    assert!(sleeps > 0 && u128::from(sleeps) <= most, "{sleeps} sleeps, {most} at most");
}

#[test]
fn another_strategy_keeps_what_is_pending_and_what_was_counted() {
    let _watchdog = Watchdog::new();
    let (notifier, mut waiter) = Notifier::new();
    let none = Periodic::learn().max_cpu(0.0);
    waiter.set_strategy(WaitStrategy::Periodic(none));
    notifier.expect_next(Instant::now() + Duration::from_secs(9));
    assert_eq!(waiter.wait_timeout(MS), Err(WaitTimeoutError::Timeout));
    for strategy in strategies().into_iter().chain(strategies()) {
        notifier.notify_many(3);
        assert_eq!(waiter.wait(), Ok(3));
        notifier.notify_many(2);
        let before = waiter.stats();
        waiter.set_strategy(strategy.clone());
        let after = waiter.stats();
        assert_eq!(after.period, None);
        assert_eq!(after.margin.is_some(), matches!(strategy, WaitStrategy::Periodic(_)));
        let known = |stats: WaitStats| {
            let WaitStats { sleeps, rings, timeouts, pending, largest_pending, spinning, .. } = stats;
            (sleeps, rings, timeouts, pending, largest_pending, spinning, stats.over_budget)
        };
        assert_eq!(known(before), known(after));
        assert_eq!(waiter.wait(), Ok(2));
    }
    let stats = waiter.stats();
    assert_eq!((stats.pending, stats.largest_pending, stats.timeouts), (20, 3, 1));
    if more_than_one_cpu() {
        assert_eq!(stats.over_budget, 1);
    }
}

#[test]
fn signals_at_1_khz_end_no_wait() {
    static HANDLED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn handler(_signal: i32) {
        HANDLED.fetch_add(1, Relaxed);
    }

    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR1, handler);
    let patient = [WaitStrategy::Spin(LONG), WaitStrategy::Interval(LONG)];
    let waits: Vec<_> = strategies()
        .into_iter()
        .chain(patient)
        .map(|strategy| {
            let (notifier, waiter) = Notifier::new();
            let mut waiter = waiter.with_strategy(strategy);
            // Some of the time it is asleep until then.
            notifier.expect_next(Instant::now() + 500 * MS);
            (notifier, waiter.stopper(), Sleeper::spawn(move || (waiter.wait_for(2), waiter.wait())))
        })
        .collect();
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < Duration::from_secs(1) {
        for (_, _, sleeper) in &waits {
            signals::send(sleeper.probe().tid, libc::SIGUSR1);
        }
        sent += 1;
        thread::sleep(MS);
    }
    assert!(HANDLED.load(Relaxed) >= sent);
    for (notifier, stopper, sleeper) in waits {
        assert!(!sleeper.is_finished());
        notifier.notify();
        assert!(!sleeper.is_finished());
        notifier.notify();
        stopper.stop();
        assert_eq!(sleeper.join(), (Ok(2), Err(Closed)));
    }
}

#[test]
fn with_one_cpu_nothing_spins() {
    in_child("with_one_cpu_nothing_spins", || {
        let own = rustix::thread::sched_getaffinity(None).unwrap();
        let mut one = CpuSet::new();
        one.set((0..CpuSet::MAX_CPU).find(|&cpu| own.is_set(cpu)).unwrap());
        // The test's thread is not the process's first.
        rustix::thread::sched_setaffinity(None, &one).unwrap();
        rustix::thread::sched_setaffinity(Some(rustix::process::getpid()), &one).unwrap();
        let periodic = WaitStrategy::Periodic(Periodic::every(MS).max_cpu(1.0));
        for strategy in [WaitStrategy::Spin(LONG), periodic] {
            let (notifier, waiter) = Notifier::new();
            let mut waiter = waiter.with_strategy(strategy);
            let waiting =
                thread::spawn(move || (count(&mut waiter, |waiter| Ok(waiter.wait()?)), waiter.stats()));
            for _ in 0..200 {
                notifier.notify();
                notifier.expect_next(Instant::now() + MS);
                thread::sleep(MS);
            }
            drop(notifier);
            let (total, stats) = waiting.join().unwrap();
            assert_eq!(total, 200);
            assert_eq!((stats.spinning, stats.spin_hits), (Duration::ZERO, 0));
        }
    });
}

#[test]
fn a_thread_kept_to_one_cpu_spins_if_the_process_has_more() {
    if !more_than_one_cpu() {
        return;
    }
    let _watchdog = Watchdog::new();
    let (_notifier, waiter) = Notifier::new();
    let waiter = waiter.with_strategy(WaitStrategy::Spin(LONG));
    let own = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| own.is_set(cpu)).unwrap();
    let worker = Worker::builder().cpus(&[cpu]).spawn(waiter, |mut waiter| {
        assert_eq!(waiter.wait_timeout(MS), Err(WaitTimeoutError::Timeout));
        waiter.stats().spinning
    });
    assert!(worker.unwrap().join().unwrap() > Duration::ZERO);
}

/// Under an `RLIMIT_RTTIME` of 200 ms, which kills the process, lets FIFO workers wait for 2 s with each strategy that
/// can keep them busy. `turn` is what comes before each wait.
fn survives_rttime(name: &str, beside: fn(&Notifier), turn: fn(&Notifier)) {
    const DURATION: Duration = Duration::from_secs(2);
    if !kernel::privileged() {
        return;
    }
    in_child(name, || {
        kernel::limit(Resource::Rttime, 200_000).unwrap();
        let eager = Periodic::every(MS).margin(LONG..=LONG).max_cpu(1.0);
        for strategy in [
            WaitStrategy::Spin(Duration::ZERO),
            WaitStrategy::Spin(LONG),
            WaitStrategy::Periodic(Periodic::learn()),
            WaitStrategy::Periodic(eager),
            WaitStrategy::Interval(Duration::ZERO),
        ] {
            let (notifier, waiter) = Notifier::new();
            let waiter = waiter.with_strategy(strategy.clone());
            let done = Arc::new(AtomicBool::new(false));
            let (its_notifier, its_done) = (notifier.clone(), done.clone());
            let builder = Worker::builder().priority(Priority::Fifo(1)).on_denied(OnDenied::Fail);
            let worker = builder.spawn(waiter, move |mut waiter| {
                let start = Instant::now();
                while start.elapsed() < DURATION {
                    turn(&its_notifier);
                    let _ = waiter.wait_timeout(500 * MS);
                }
                its_done.store(true, Relaxed);
                kernel::status(kernel::tid(), "voluntary_ctxt_switches").parse::<u128>().unwrap()
            });
            while !done.load(Relaxed) {
                beside(&notifier);
            }
            let blocked = worker.unwrap().join().unwrap();
            assert!(blocked >= DURATION.as_millis() / 100, "{strategy:?} blocked only {blocked} times");
        }
    });
}

#[test]
fn a_realtime_worker_survives_rttime_while_notifications_are_periodic() {
    let beside: fn(&Notifier) = |notifier| {
        notifier.notify();
        thread::sleep(MS);
    };
    survives_rttime(
        "a_realtime_worker_survives_rttime_while_notifications_are_periodic",
        beside,
        |_notifier| {},
    );
}

#[test]
fn a_realtime_worker_survives_rttime_while_there_is_always_something_pending() {
    survives_rttime(
        "a_realtime_worker_survives_rttime_while_there_is_always_something_pending",
        |_notifier| thread::sleep(MS),
        Notifier::notify,
    );
}

/// Something nearly always comes between a look and the sleep that it calls for: no sleep begins.
#[test]
fn a_realtime_worker_survives_rttime_while_notifications_come_too_fast_to_sleep() {
    survives_rttime(
        "a_realtime_worker_survives_rttime_while_notifications_come_too_fast_to_sleep",
        Notifier::notify,
        |_notifier| {},
    );
}

#[test]
fn with_an_interval_notifications_make_no_call() {
    let Some(trace) = trace("with_an_interval_notifications_make_no_call", || {
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(WaitStrategy::Interval(MS));
        let sleeper = Sleeper::spawn_asleep(move || count(&mut waiter, |waiter| Ok(waiter.wait()?)));
        section("notify", || (0..1000).for_each(|_| notifier.notify()));
        section("notify_many", || (0..100).for_each(|_| notifier.notify_many(10)));
        section("flush", || notifier.flush());
        section("expect_next", || notifier.expect_next(Instant::now()));
        sleeper.wait_asleep();
        section("the last drop", || drop(notifier));
        assert_eq!(sleeper.join(), 2000);
    }) else {
        return;
    };
    for name in ["notify", "notify_many", "flush", "expect_next"] {
        assert_eq!(trace.calls(name), "", "{name}");
    }
    assert_eq!(trace.calls("the last drop"), "1 FUTEX_WAKE");
}

/// No number of hits: on a busy machine most predictions fail. But some hold.
#[test]
fn periodic_notifications_are_met_while_spinning_and_counted_exactly() {
    if !more_than_one_cpu() {
        return;
    }
    let _watchdog = Watchdog::new();
    let period = 2 * MS;
    for strategy in [Periodic::learn(), Periodic::every(period)] {
        let (notifier, waiter) = Notifier::new();
        let waiter = waiter.with_strategy(WaitStrategy::Periodic(strategy.max_cpu(0.5)));
        let hit = Arc::new(AtomicBool::new(false));
        let its_hit = hit.clone();
        let worker = Worker::builder().spawn(waiter, move |mut waiter| {
            let mut total = 0;
            while let Ok(n) = waiter.wait() {
                total += n;
                its_hit.store(waiter.stats().spin_hits > 0, Relaxed);
            }
            total
        });
        let mut notified = 0;
        let mut next = Instant::now();
        until("a prediction holds", || {
            next += period;
            thread::sleep(next.saturating_duration_since(Instant::now()));
            notifier.notify();
            notified += 1;
            hit.load(Relaxed)
        });
        drop(notifier);
        assert_eq!(worker.unwrap().join().unwrap(), notified);
    }
}

#[test]
fn a_handler_announces_and_keeps_errno() {
    static NOTIFIER: OnceLock<Notifier> = OnceLock::new();
    static KEPT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn handler(_signal: i32) {
        signals::set_errno(1234);
        if let Some(notifier) = NOTIFIER.get() {
            notifier.notify();
            notifier.expect_next(Instant::now() + MS);
        }
        KEPT.fetch_add(u32::from(signals::errno() == 1234), Relaxed);
    }

    let _watchdog = Watchdog::new();
    signals::on(libc::SIGUSR2, handler);
    let (notifier, waiter) = Notifier::new();
    assert!(NOTIFIER.set(notifier).is_ok());
    let mut waiter = waiter.with_strategy(WaitStrategy::Periodic(Periodic::learn()));
    let stopper = waiter.stopper();
    let sleeper = Sleeper::spawn_asleep(move || count(&mut waiter, |waiter| Ok(waiter.wait()?)));
    for n in 0..100 {
        // In the thread that waits, which may be spinning or asleep, and in this one. A signal that is still to be
        // delivered would swallow the next.
        signals::send(sleeper.probe().tid, libc::SIGUSR2);
        until("the handler has kept errno", || KEPT.load(Relaxed) == 2 * n + 1);
        thread::sleep(MS);
        signals::raise(libc::SIGUSR2);
        assert_eq!(KEPT.load(Relaxed), 2 * n + 2);
    }
    sleeper.wait_asleep();
    stopper.stop();
    assert_eq!(sleeper.join(), 200);
}

#[cfg(feature = "ring")]
#[test]
fn rings_wait_with_each_strategy_and_lose_nothing() {
    let _watchdog = Watchdog::new();
    let items = 10_000;
    for strategy in strategies() {
        let (mut producer, mut reader) = rt_notify::ring::capture(64);
        reader.waiter_mut().set_strategy(strategy.clone());
        let reading = thread::spawn(move || {
            let mut expected = 0;
            while reader.wait_for(8).is_ok() {
                while let Ok(item) = reader.pop() {
                    assert_eq!(item, expected);
                    expected += 1;
                }
            }
            expected
        });
        for item in 0..items {
            // A push that does not fit would be counted as lost.
            until("there is room", || producer.slots() > 0);
            producer.push(item).unwrap();
        }
        drop(producer);
        assert_eq!(reading.join().unwrap(), items, "{strategy:?}");

        let (mut writer, mut consumer) = rt_notify::ring::playback(64);
        writer.waiter_mut().set_strategy(strategy.clone());
        let writing = thread::spawn(move || {
            for item in 0..items {
                writer.wait_for(1).unwrap();
                writer.push(item).unwrap();
            }
        });
        for expected in 0..items {
            until("there is an item", || consumer.slots() > 0);
            assert_eq!(consumer.pop(), Ok(expected), "{strategy:?}");
        }
        writing.join().unwrap();
    }
}

#[test]
fn the_timers_of_a_worker_are_exact_and_those_of_others_as_before() {
    let slack = || rustix::thread::current_timer_slack().unwrap();
    let before = slack();
    let (_notifier, waiter) = Notifier::new();
    let worker = Worker::builder().spawn(waiter, move |_| slack()).unwrap();
    assert_eq!(worker.join().unwrap(), 1);
    assert_eq!(slack(), before);
    assert_eq!(thread::spawn(slack).join().unwrap(), before);
}

mod stats {
    use super::*;

    fn slept(sleeper: &Sleeper<WaitStats>) -> u64 {
        kernel::status(sleeper.probe().tid, "voluntary_ctxt_switches").parse().unwrap()
    }

    /// One wait, in a thread that is asleep.
    fn waiting(waiter: Waiter, strategy: WaitStrategy) -> Sleeper<WaitStats> {
        let mut waiter = waiter.with_strategy(strategy);
        Sleeper::spawn_asleep(move || {
            assert_eq!(waiter.wait(), Ok(1));
            waiter.stats()
        })
    }

    #[test]
    fn a_sleep_that_a_notifier_ends_is_a_ring() {
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        let sleeper = waiting(waiter, WaitStrategy::Block);
        notifier.notify();
        let stats = sleeper.join();
        let mut expected = WaitStats::default();
        (expected.sleeps, expected.rings, expected.largest_pending) = (1, 1, 1);
        assert_eq!(stats, expected);
    }

    #[test]
    fn signals_and_flushes_for_another_wait_are_spurious() {
        extern "C" fn nothing(_signal: i32) {}

        let _watchdog = Watchdog::new();
        signals::on(libc::SIGURG, nothing);
        let (notifier, waiter) = Notifier::new();
        let sleeper = waiting(waiter, WaitStrategy::Block);
        for wake in [&|| signals::send(sleeper.probe().tid, libc::SIGURG) as _, &|| notifier.flush()]
            as [&dyn Fn(); 2]
        {
            let before = slept(&sleeper);
            wake();
            until("it sleeps again", || slept(&sleeper) > before && sleeper.probe().is_asleep());
        }
        notifier.notify();
        let stats = sleeper.join();
        assert_eq!((stats.sleeps, stats.spurious, stats.rings), (3, 2, 1));
    }

    #[test]
    fn what_is_there_at_the_start_is_pending_and_the_largest_count_is_kept() {
        let (notifier, mut waiter) = Notifier::new();
        for n in [3, 7, 2] {
            notifier.notify_many(n);
            assert_eq!(waiter.wait(), Ok(n));
        }
        notifier.notify_many(9);
        assert_eq!(waiter.try_wait(), Ok(9), "which does not count");
        let stats = waiter.stats();
        assert_eq!((stats.pending, stats.largest_pending, stats.sleeps), (3, 7, 0));
    }

    #[test]
    fn a_hit_while_spinning_needs_no_ring() {
        if !more_than_one_cpu() {
            return;
        }
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        let mut waiter = waiter.with_strategy(WaitStrategy::Spin(LONG));
        let started = Arc::new(AtomicBool::new(false));
        let its = started.clone();
        let waiting = thread::spawn(move || {
            its.store(true, Relaxed);
            assert_eq!(waiter.wait(), Ok(1));
            waiter.stats()
        });
        until("it starts", || started.load(Relaxed));
        thread::sleep(5 * MS);
        notifier.notify();
        let stats = waiting.join().unwrap();
        assert_eq!((stats.rings, stats.sleeps), (0, 0));
        // Unless it had not begun to wait.
        assert_eq!(stats.spin_hits + stats.pending, 1);
        assert_eq!(stats.spin_hits > 0, stats.spinning > Duration::ZERO);
    }

    #[test]
    fn a_notification_before_the_announced_moment_is_early() {
        if !more_than_one_cpu() {
            return;
        }
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        notifier.expect_next(Instant::now() + Duration::from_secs(9));
        let sleeper = waiting(waiter, WaitStrategy::Periodic(Periodic::learn()));
        notifier.notify();
        let stats = sleeper.join();
        assert_eq!((stats.early, stats.late, stats.rings, stats.spin_hits), (1, 0, 1, 0));
    }

    #[test]
    fn a_notification_after_the_announced_moment_is_late() {
        if !more_than_one_cpu() {
            return;
        }
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        notifier.expect_next(Instant::now() + 500 * MS);
        let sleeper = waiting(waiter, WaitStrategy::Periodic(Periodic::learn()));
        let before = slept(&sleeper);
        until("it gives up", || slept(&sleeper) > before && sleeper.probe().is_asleep());
        notifier.notify();
        let stats = sleeper.join();
        assert_eq!((stats.early, stats.late, stats.rings, stats.spin_hits), (0, 1, 1, 0));
        assert!(stats.spinning > Duration::ZERO);
    }

    #[test]
    fn a_known_period_is_the_period_from_the_first_notification_on() {
        if !more_than_one_cpu() {
            return;
        }
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        let sleeper = waiting(waiter, WaitStrategy::Periodic(Periodic::every(3 * MS).margin(US..=20 * US)));
        notifier.notify();
        let stats = sleeper.join();
        assert_eq!((stats.period, stats.margin), (Some(3 * MS), Some(20 * US)));
    }

    #[test]
    fn what_spinning_may_not_take_is_over_budget() {
        if !more_than_one_cpu() {
            return;
        }
        let _watchdog = Watchdog::new();
        let (notifier, waiter) = Notifier::new();
        notifier.expect_next(Instant::now() + Duration::from_secs(9));
        let sleeper = waiting(waiter, WaitStrategy::Periodic(Periodic::learn().max_cpu(0.0)));
        notifier.notify();
        let stats = sleeper.join();
        assert_eq!((stats.over_budget, stats.early, stats.spinning), (1, 0, Duration::ZERO));
    }
}
