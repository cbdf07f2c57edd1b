//! What befalls an audio graph in mid-run: a callback that takes long, another period, freewheeling.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jack::Client;

use super::jack_client::{open, within};
use super::relock::Spell;

const CLIENT_NAME: &str = "latency-disturb";
/// 64 frames become 1024.
const LONGER: u32 = 16;
/// What a heavy callback takes, in percent of the period.
const HEAVY: u64 = 60;

/// What callbacks are told of it.
#[derive(Debug, Default)]
pub(crate) struct Mode {
    heavy: AtomicBool,
    freewheeling: AtomicBool,
}

// Ordering: Relaxed; each flag stands for nothing else.
impl Mode {
    /// To be called between the last callback of the one kind and the first of the other.
    pub(crate) fn set_freewheeling(&self, on: bool) {
        self.freewheeling.store(on, Ordering::Relaxed);
    }

    fn set_heavy(&self, on: bool) {
        self.heavy.store(on, Ordering::Relaxed);
    }
}

/// What the callback itself notices: one spell after the other.
#[derive(Debug)]
pub(crate) struct Spells {
    mode: Arc<Mode>,
    rate: u32,
    last: Option<(u32, bool, bool)>,
    number: u64,
}

impl Spells {
    pub(crate) fn new(mode: Arc<Mode>, rate: u32) -> Self {
        Spells { mode, rate, last: None, number: 0 }
    }

    /// Returns of which spell a callback of so many frames is, and for how many nanoseconds it is to work. Realtime-safe.
    pub(crate) fn callback(&mut self, frames: u32) -> (u64, u64) {
        let heavy = self.mode.heavy.load(Ordering::Relaxed);
        let kind = (frames, heavy, self.mode.freewheeling.load(Ordering::Relaxed));
        let is_new = self.last.replace(kind).is_some_and(|last| last != kind);
        self.number += u64::from(is_new);
        let period = u64::from(frames) * 1_000_000_000 / u64::from(self.rate.max(1));
        (self.number, if heavy { period * HEAVY / 100 } else { 0 })
    }
}

/// A thread with a client of its own, since each of its calls waits for the server.
pub(crate) struct Disturbance {
    /// Dropping it ends the thread before its time.
    stop: Sender<()>,
    thread: JoinHandle<Result<(), String>>,
}

impl Disturbance {
    /// Spreads the spells evenly over `length`.
    pub(crate) fn start(length: Duration, mode: Arc<Mode>) -> Result<Self, String> {
        let client = open(CLIENT_NAME).map_err(|error| error.to_string())?;
        let (stop, stopped) = mpsc::channel::<()>();
        let start = Instant::now();
        let run = move || {
            let short = client.buffer_size();
            let each = length / Spell::ALL.len().try_into().unwrap_or(u32::MAX);
            let mut due = start;
            for spell in Spell::ALL {
                let left = due.saturating_duration_since(Instant::now());
                if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                match spell {
                    Spell::Start => {}
                    Spell::Heavy => mode.set_heavy(true),
                    Spell::Light => mode.set_heavy(false),
                    Spell::LongPeriod => set_period(&client, short * LONGER)?,
                    Spell::ShortPeriod => set_period(&client, short)?,
                    Spell::Freewheel => freewheel(&client, true)?,
                    Spell::Realtime => freewheel(&client, false)?,
                }
                due += each;
            }
            Ok(())
        };
        let thread = thread::Builder::new().name("disturb".into()).spawn(run);
        Ok(Disturbance { stop, thread: thread.map_err(|error| error.to_string())? })
    }

    /// Says whether all went as planned, as far as it went.
    pub(crate) fn close_within(self, limit: Duration) -> bool {
        let Disturbance { stop, thread } = self;
        drop(stop);
        match within(limit, || thread.join()) {
            Some(Ok(Ok(()))) => true,
            Some(Ok(Err(message))) => {
                eprintln!("latency: {message}");
                false
            }
            Some(Err(_)) | None => false,
        }
    }
}

fn set_period(client: &Client, frames: u32) -> Result<(), String> {
    let set = client.set_buffer_size(frames);
    set.map_err(|error| format!("the server did not change its period to {frames} frames: {error}"))
}

#[allow(unsafe_code, reason = "rust-jack does not wrap this call")]
fn freewheel(client: &Client, on: bool) -> Result<(), String> {
    // SAFETY: the client is open, and this is none of its callbacks.
    let refused = unsafe { jack::jack_sys::jack_set_freewheel(client.raw(), on.into()) } != 0;
    if refused { Err("the server did not change its freewheel mode".into()) } else { Ok(()) }
}
