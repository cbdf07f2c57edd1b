//! `jack_capture` and `jack_playback`: first their parts alone, then the programs on a private JACK server without a
//! sound card.
//!
//! Without `jackd` the latter skip and say so. With `RT_NOTIFY_REQUIRE_JACK=1` a skip is a failure.

#![cfg(target_os = "linux")]

#[path = "../examples/jack_capture/disk.rs"]
mod disk;
#[path = "../examples/support/frame_time.rs"]
mod frame_time;
#[path = "../examples/support/frames.rs"]
mod frames;
#[path = "../examples/support/jack_client.rs"]
mod jack_client;
#[path = "../examples/support/jack_server.rs"]
mod jack_server;
#[path = "../examples/support/jack_session.rs"]
mod jack_session;
#[allow(dead_code, reason = "its own tests run here")]
#[path = "../examples/support/options.rs"]
mod options;
#[path = "../examples/support/output.rs"]
mod output;
#[path = "../examples/jack_playback/player.rs"]
mod player;
#[allow(dead_code, reason = "these programs neither read their input nor are watched asleep")]
#[path = "support/programs.rs"]
mod programs;
#[path = "../examples/jack_capture/recorder.rs"]
mod recorder;
#[path = "../examples/support/wav.rs"]
mod wav;

#[path = "jack_recorder/files.rs"]
mod files;
#[path = "jack_recorder/in_process.rs"]
mod in_process;
#[path = "jack_recorder/on_a_server.rs"]
mod on_a_server;
#[path = "jack_recorder/parts.rs"]
mod parts;

#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;
