//! Measures how fast a worker reacts to `notify()` from an audio callback, and checks that no notification is lost.
//!
//!     cargo run --release --features jack --example latency
//!
//! Callbacks come from a running JACK server; else from a private one without a sound card; else, or without the
//! feature, from a clock. What the worker sleeps on and how it waits can be chosen, and compared: see `--help`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[path = "app.rs"]
mod app;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    app::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("latency: this example needs Linux");
    ExitCode::FAILURE
}
