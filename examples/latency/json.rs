//! All numbers of a run or a comparison, for other programs. Times are in nanoseconds.

use serde_json::{Value, json};

use super::args::Options;
use super::backend::Tally;
use super::report::Report;
use super::rounds::Rounds;
use super::stats::Times;

/// Everything as one JSON text.
pub(crate) fn text(options: &Options, source: &str, all: &[Rounds]) -> String {
    let strategies: Vec<Value> = all.iter().map(strategy).collect();
    let value = json!({
        "source": source,
        "backend": options.backend.to_string(),
        "seconds": options.seconds,
        "worker_priority": format!("{:?}", options.priority),
        "worker_cpu": options.cpu,
        "load_percent": options.load,
        "cpus_kept_awake": options.awake,
        "disturbed": options.disturb,
        "max_steal_percent": options.max_steal,
        "strategies": strategies,
    });
    format!("{value:#}\n")
}

fn strategy(rounds: &Rounds) -> Value {
    let used = rounds.used.iter().map(|report| round(report, true));
    let discarded = rounds.discarded.iter().map(|report| round(report, false));
    json!({
        "strategy": rounds.strategy.to_string(),
        "rounds": used.chain(discarded).collect::<Vec<Value>>(),
    })
}

fn round(report: &Report, used: bool) -> Value {
    let figures = &report.figures;
    json!({
        "used": used,
        "steal_share": report.steal_share(),
        "audio_thread": report.audio_thread,
        "worker": report.worker,
        "callbacks": report.callbacks,
        "counted": report.counted,
        "lost": report.lost(),
        "missed_periods": report.missed,
        "xruns": report.xruns,
        "waits": figures.waits,
        "unmeasured": figures.unmeasured,
        "rings_per_notification": report.rings_per_notification(),
        "worker_cpu_share": report.worker_cpu(),
        "locked_after": figures.relock.after(),
        "wait_stats": wait_stats(&figures.tally),
        "notify": times(&figures.notify),
        "wake_up": times(&figures.wake_up),
        "wake_up_from_due": times(&figures.from_due),
    })
}

fn wait_stats(tally: &Tally) -> Value {
    match tally {
        Tally::Exact(stats) => json!({
            "rings": stats.rings,
            "sleeps": stats.sleeps,
            "spurious": stats.spurious,
            "spin_hits": stats.spin_hits,
            "pending": stats.pending,
            "early": stats.early,
            "late": stats.late,
            "over_budget": stats.over_budget,
            "largest_pending": stats.largest_pending,
            "spinning_seconds": stats.spinning.as_secs_f64(),
            "period_seconds": stats.period.map(|period| period.as_secs_f64()),
            "margin_seconds": stats.margin.map(|margin| margin.as_secs_f64()),
        }),
        Tally::AtMost(rings) => json!({ "rings_at_most": rings }),
    }
}

fn times(times: &Times) -> Value {
    let Some([p50, p99, p99_9, max]) = times.quantiles() else { return Value::Null };
    json!({ "mean": times.mean(), "p50": p50, "p99": p99, "p99.9": p99_9, "max": max })
}
