//! Uses everything at random for a long time, and checks that nothing is lost and nothing is left behind.
//!
//!     cargo run --release --features ring --example soak -- --seconds 120 --seed 1
//!
//! Threads make pairs, notify, wait in every way, and drop them, over and over again. After each second or so all of it
//! must be over: then totals, descriptors and memory are looked at.

#[cfg(target_os = "linux")]
mod args;
#[cfg(target_os = "linux")]
mod lanes;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod pairs;
#[cfg(target_os = "linux")]
#[path = "../../tests/support/random.rs"]
mod random;
#[cfg(target_os = "linux")]
mod rings;
#[cfg(target_os = "linux")]
mod semaphores;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod tally;
#[cfg(target_os = "linux")]
mod usage;
#[cfg(target_os = "linux")]
mod workers;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    let ended = match args::Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => soak::run(&options),
        Ok(None) => {
            print!("{}", args::HELP);
            Ok(())
        }
        Err(message) => Err(message),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("soak: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("soak: descriptors and memory are looked up in Linux's /proc");
}
