//! The `latency` and `signal_handler` programs, as far as they need no JACK.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process, thread};

use rustix::process::Signal;

// The unit tests of these modules run here: `cargo test` runs none of an example.
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/args.rs"]
mod args;
#[allow(dead_code, reason = "a load's thread is one")]
#[path = "../examples/latency/background.rs"]
mod background;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/choices.rs"]
mod choices;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/load.rs"]
mod load;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/relock.rs"]
mod relock;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/stats.rs"]
mod stats;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/system.rs"]
mod system;
#[allow(dead_code, reason = "only its tests are wanted")]
#[path = "../examples/latency/time_base.rs"]
mod time_base;

#[allow(dead_code, reason = "the other tests need the rest")]
#[path = "support/programs.rs"]
mod programs;

use programs::{EVENTUALLY, Ended, Program, example};

fn latency(options: &str) -> Program {
    Program::start(example("latency").args(options.split_whitespace()))
}

/// A path that nobody else uses. Dropping it removes the file.
struct Output(PathBuf);

impl Output {
    fn new(name: &str) -> Output {
        Output(env::temp_dir().join(format!("rt-notify-latency-{}-{name}", process::id())))
    }

    fn option(&self, option: &str) -> String {
        format!("{option}={}", self.0.display())
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("it was written")
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Missing if the program failed, which the test says.
        let _ = fs::remove_file(&self.0);
    }
}

/// Of one second of the clock.
#[track_caller]
fn assert_nothing_lost(ended: &Ended) {
    ended.assert_code(0);
    assert_eq!(ended.stderr, "");
    assert_eq!((ended.value("counted "), ended.value("lost ")), ("750", "0"), "{}", ended.stdout);
}

/// One of the quantiles in the table, in microseconds.
#[track_caller]
fn quantile(ended: &Ended, row: &str, column: usize) -> f64 {
    let line = ended.stdout.lines().find_map(|line| line.strip_prefix(row)).expect(row);
    line.split_whitespace().nth(column).expect("a column").parse().expect("a number")
}

#[test]
fn the_clock_makes_every_callback_and_none_is_lost() {
    let ended = latency("--source clock --seconds 1").end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!(ended.stderr, "");
    assert_eq!(ended.value("callbacks "), "750");
    assert_eq!(ended.value("counted "), "750");
    assert_eq!(ended.value("lost "), "0");
    assert_eq!(ended.value("impossible "), "0");
}

#[test]
fn every_backend_counts_every_callback() {
    let mut backends = vec!["futex", "pollable", "pipe"];
    if cfg!(feature = "mio") {
        backends.push("mio");
    }
    for backend in backends {
        let ended =
            latency(&format!("--source clock --seconds 1 --backend {backend}")).end_within(EVENTUALLY);
        assert_nothing_lost(&ended);
        assert_eq!(ended.value("waits by ").trim_end_matches(','), backend);
        // A waiter counts its rings, the others only bound them.
        assert_eq!(ended.value("rings ") == "at", backend != "futex", "{}", ended.stdout);
    }
}

#[cfg(not(feature = "mio"))]
#[test]
fn without_the_feature_the_backend_mio_is_one_clear_line_and_exit_code_1() {
    let ended = latency("--source clock --backend mio").end_within(EVENTUALLY);
    ended.assert_code(1);
    assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("--features mio"), "{}", ended.stderr);
}

#[test]
fn every_strategy_counts_every_callback() {
    for strategy in
        ["block", "spin", "spin:20", "interval", "periodic", "periodic:hint", "periodic:1333", "bare"]
    {
        let ended =
            latency(&format!("--source clock --seconds 1 --strategy {strategy}")).end_within(EVENTUALLY);
        assert_nothing_lost(&ended);
    }
}

#[test]
fn a_waiter_that_looks_at_intervals_is_never_rung_for() {
    let ended = latency("--source clock --seconds 1 --strategy interval:100").end_within(EVENTUALLY);
    assert_nothing_lost(&ended);
    assert_eq!(ended.value("rings "), "0:");
}

#[test]
fn a_loaded_machine_loses_nothing() {
    let ended = latency("--source clock --seconds 1 --load 30").end_within(EVENTUALLY);
    assert_nothing_lost(&ended);
}

#[test]
fn cpus_that_are_kept_awake_lose_nothing_and_are_mentioned() {
    let ended = latency("--source clock --seconds 1 --awake").end_within(EVENTUALLY);
    assert_nothing_lost(&ended);
    assert!(ended.stdout.contains("\nCPUs             kept awake\n"), "{}", ended.stdout);
}

#[test]
fn the_worker_keeps_to_the_cpu_it_is_given_and_the_clock_to_another() {
    let cpus = system::allowed_cpus();
    let cpu = cpus[cpus.len() - 1];
    let ended = latency(&format!("--source clock --seconds 1 --cpu {cpu}")).end_within(EVENTUALLY);
    assert_nothing_lost(&ended);
    assert!(!ended.stdout.contains("on any CPU"), "{}", ended.stdout);
    if cpus.len() > 1 {
        assert!(ended.stdout.contains(&format!(", on CPU {}\n", cpus[0])), "{}", ended.stdout);
    }
    let ended = latency("--source clock --cpu 1023").end_within(EVENTUALLY);
    ended.assert_code(1);
    assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
}

#[test]
fn a_comparison_prints_a_row_for_each_strategy_and_writes_what_it_measured() {
    let (json, svg) = (Output::new("compare.json"), Output::new("compare.svg"));
    let options =
        format!("--source clock --seconds 1 --compare --rounds 1 --max-steal 100 {}", json.option("--json"));
    let ended = latency(&format!("{options} {}", svg.option("--svg"))).end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!(ended.stderr, "");
    let json = json.json();
    let strategies = json["strategies"].as_array().expect("an array");
    assert_eq!(strategies.len(), choices::Strategy::COMPARED.len());
    for (strategy, compared) in strategies.iter().zip(choices::Strategy::COMPARED) {
        let name = compared.to_string();
        assert_eq!(ended.value(&name), "1", "the number of rounds");
        assert_eq!(strategy["strategy"], name);
        let round = &strategy["rounds"][0];
        assert_eq!((&round["counted"], &round["lost"]), (&750.into(), &0.into()));
        assert!(round["wake_up"]["p50"].is_u64() && round["wait_stats"]["rings"].is_u64(), "{round}");
        assert!(svg.text().contains(&name));
    }
    assert_eq!(ended.value("discarded "), "0");
}

#[test]
fn named_strategies_are_compared_alone() {
    let ended = latency("--source clock --seconds 1 --strategy block,spin:50 --rounds 1 --max-steal 100")
        .end_within(EVENTUALLY);
    ended.assert_code(0);
    let rows = ["block", "spin:50", "interval:500", "periodic:learn", "periodic:hint"]
        .map(|name| ended.stdout.lines().filter(|line| line.starts_with(name)).count());
    assert_eq!(rows, [1, 1, 0, 0, 0], "{}", ended.stdout);
}

#[test]
fn an_interrupted_comparison_prints_the_table_so_far() {
    let mut latency = latency("--source clock --seconds 600 --compare");
    latency.wait_for_line("measuring ");
    latency.signal(Signal::INT);
    let ended = latency.end_within(EVENTUALLY);
    ended.assert_code(0);
    assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
    assert_eq!((ended.value("block "), ended.value("discarded ")), ("0", "1"));
}

#[test]
fn a_single_run_is_written_as_json_and_svg() {
    let (json, svg) = (Output::new("run.json"), Output::new("run.svg"));
    let options = format!("--source clock --seconds 1 --backend pipe {}", json.option("--json"));
    let ended = latency(&format!("{options} {}", svg.option("--svg"))).end_within(EVENTUALLY);
    assert_nothing_lost(&ended);
    let json = json.json();
    assert_eq!((&json["backend"], &json["load_percent"]), (&"pipe".into(), &serde_json::Value::Null));
    let round = &json["strategies"][0]["rounds"][0];
    assert!(round["wait_stats"]["rings_at_most"].is_u64() && round["worker_cpu_share"].is_f64(), "{round}");
    assert!(svg.text().starts_with("<svg") && svg.text().contains("wake-up"));
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
    for option in ["--json", "--svg"] {
        let ended = latency(&format!("--source clock {option} /dev/null/file")).end_within(EVENTUALLY);
        ended.assert_code(1);
        assert_eq!((ended.stderr.lines().count(), ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
        assert!(ended.stderr.contains("/dev/null/file"), "{}", ended.stderr);
    }
}

#[test]
fn any_priority_runs_and_what_was_granted_is_shown() {
    for (asked, granted) in [("nice:5", "nice"), ("inherit", "nice")] {
        let ended = latency(&format!("--source clock --seconds 1 --priority {asked}")).end_within(EVENTUALLY);
        ended.assert_code(0);
        assert_eq!(ended.value("worker "), granted, "{asked}");
    }
    // Above the audio thread's: lowered or denied, but said.
    let ended = latency("--source clock --seconds 1 --priority fifo:99").end_within(EVENTUALLY);
    ended.assert_code(0);
    let worker = ended.stdout.lines().find(|line| line.starts_with("worker ")).expect("a worker");
    assert!(worker.contains('(') && !worker.contains("SCHED_FIFO 99 ("), "{worker}");
}

#[test]
fn a_bad_option_is_one_clear_line_and_exit_code_1() {
    for options in [
        "--nonsense",
        "--seconds",
        "--seconds never",
        "--period 0",
        "--priority fast",
        "--source alsa",
        "--backend epoll",
        "--backend pipe --strategy spin",
        "--strategy nap",
        "--strategy spin:0",
        "--strategy bare --priority fifo:60",
        "--rounds 0",
        "--cpu one",
        "--load 51",
        "--max-steal 101",
    ] {
        let ended = latency(options).end_within(EVENTUALLY);
        ended.assert_code(1);
        assert_eq!(
            (ended.stderr.lines().count(), ended.stdout.as_str()),
            (1, ""),
            "{options}: {}",
            ended.stderr
        );
        assert!(ended.stderr.starts_with("latency: "), "{}", ended.stderr);
    }
}

#[test]
fn help_names_every_option_and_exits_with_0() {
    let ended = latency("--help").end_within(EVENTUALLY);
    ended.assert_code(0);
    let options = [
        "--source",
        "--seconds",
        "--period",
        "--rate",
        "--priority",
        "--cpu",
        "--load",
        "--backend",
        "--strategy",
        "--compare",
        "--rounds",
        "--max-steal",
        "--json",
        "--svg",
        "--help",
    ];
    for option in options {
        assert!(ended.stdout.contains(option), "{option}");
    }
}

#[cfg(not(feature = "jack"))]
#[test]
fn without_the_feature_jack_is_refused_and_auto_falls_back_to_the_clock() {
    let ended = latency("--source jack").end_within(Duration::from_secs(3));
    ended.assert_code(1);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("--features jack"), "{}", ended.stderr);

    let ended = latency("--seconds 1").end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("apt-get install") && ended.stderr.contains("--features jack"));
    assert!(ended.stdout.contains("built-in clock"), "{}", ended.stdout);
}

#[test]
fn an_interrupt_ends_the_run_with_the_numbers_so_far() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut latency = latency("--source clock --seconds 600");
        latency.wait_for_line("source ");
        latency.signal(signal);
        let ended = latency.end_within(EVENTUALLY);
        ended.assert_code(0);
        assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
        assert_eq!(ended.value("lost "), "0");
    }
}

#[test]
fn a_stall_of_a_second_shows_as_many_samples_spread_over_it() {
    // 1 kHz for 2 s, of which the program is stopped for one.
    let latency = latency("--source clock --seconds 2 --period 48");
    // The clock sleeps before each callback: its schedule has begun.
    latency.wait_for_sleeps("clock", 10);
    latency.signal(Signal::STOP);
    thread::sleep(Duration::from_secs(1));
    latency.signal(Signal::CONT);
    let ended = latency.end_within(EVENTUALLY);
    ended.assert_code(0);
    assert_eq!((ended.value("callbacks "), ended.value("lost ")), ("2000", "0"));
    // Half of the 2000 samples were due while it was stopped. A single late sample would leave p99 untouched.
    assert!(quantile(&ended, "wake-up from due", 1) > 500_000.0, "{}", ended.stdout);
    assert!(quantile(&ended, "wake-up from due", 3) > 900_000.0, "{}", ended.stdout);
    let missed: u64 = ended.value("missed periods ").parse().expect("a number");
    assert!(missed > 900, "{}", ended.stdout);
}

#[test]
fn the_signal_handler_example_sees_every_signal() {
    Program::start(&mut example("signal_handler")).end_within(EVENTUALLY).assert_code(0);
}
