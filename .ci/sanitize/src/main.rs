//! Runs what is named, under a sanitizer, which ends the program with an exit code of its own if it finds a fault.
//!
//!     rt-notify-sanitize realtime          # all functions that are promised to be realtime-safe: no fault
//!     rt-notify-sanitize planted-…         # a fault that must be found

mod planted;
#[cfg(rt_notify_realtime_sanitizer)]
mod realtime;

use std::process::ExitCode;

const PLANTED: [(&str, fn()); 4] = [
    ("planted-race", planted::race),
    ("planted-order", planted::order),
    ("planted-leak", planted::leak),
    ("planted-use-after-free", planted::use_after_free),
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    #[cfg(rt_notify_realtime_sanitizer)]
    if let Some((_, run)) = realtime::ALL.iter().find(|(known, _)| *known == name) {
        run();
        return ExitCode::SUCCESS;
    }
    match PLANTED.iter().find(|(known, _)| *known == name) {
        Some((_, run)) => {
            run();
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("rt-notify-sanitize: there is no `{name}`");
            ExitCode::from(2)
        }
    }
}
