//! JACK as the source: the running server, or a private one.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jack::{
    AsyncClient, AudioIn, Client, ClientStatus, Control, NotificationHandler, ProcessHandler, ProcessScope,
};

use super::args::Options;
use super::backend::Stop;
use super::disturb::{Disturbance, Mode, Spells};
use super::jack_client::{Guarded, OpenError, Shutdown, StopWorker, activate, close_within, open};
use super::jack_load::Upstream;
use super::jack_server::{JackServer, ServerName};
use super::load::work_for;
use super::probe::{Probe, Shared};
use super::run::LOOK_EVERY;
use super::source::{End, HOW_TO_GET_JACK, Running, Source};
use super::stats::{Period, missed_periods};
use super::time_base::TimeBase;

/// What closing the client may take while the server lives.
const CLOSES_WITHIN: Duration = Duration::from_secs(5);
/// What it may take without one: with [`SILENCE`] before it, the run still ends within 2 s.
const DEAD_CLOSES_WITHIN: Duration = Duration::from_millis(500);
const CLIENT_NAME: &str = "latency";
/// A server that makes no callbacks for so long is gone or hangs. `PipeWire` tells its clients nothing when it is killed.
const SILENCE: Duration = Duration::from_secs(1);

pub(crate) struct JackSource {
    seconds: u32,
    load: Option<u32>,
    disturb: bool,
    /// What it says of itself, and its clients' priority, while it lives.
    description: String,
    priority: Option<u8>,
    /// For the next start. Each start needs a new one.
    client: Option<Client>,
    /// Behind the client, to be dropped after it.
    _server: Option<JackServer>,
}

impl JackSource {
    /// The error is the reason why there is no server to measure with.
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        match open(CLIENT_NAME) {
            Ok(_) if options.disturb => {
                Err("a JACK server is running: --disturb needs one of its own, which nobody else uses".into())
            }
            Ok(client) => Ok(JackSource::new(options, client, None)),
            Err(OpenError::NoServer) if JackServer::is_installed() => {
                let server = ServerName::claim()
                    .and_then(|name| JackServer::start(name, options.rate, options.period))
                    .map_err(|error| error.to_string())?;
                choose_server(server.name());
                let client = open(CLIENT_NAME).map_err(|error| error.to_string())?;
                Ok(JackSource::new(options, client, Some(server)))
            }
            Err(error @ OpenError::NoServer) => {
                Err(format!("{error} and jackd is not installed; {HOW_TO_GET_JACK}"))
            }
            Err(error @ OpenError::NoLibrary(_)) => Err(format!("{error}; {HOW_TO_GET_JACK}")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn new(options: &Options, client: Client, server: Option<JackServer>) -> Self {
        let kind = match &server {
            None => "running JACK server".to_owned(),
            Some(server) => format!("private JACK server {}", server.name()),
        };
        let description = format!("{kind}, {} frames at {} Hz", client.buffer_size(), client.sample_rate());
        let priority = client_priority(&client);
        let Options { seconds, load, disturb, .. } = *options;
        JackSource { seconds, load, disturb, description, priority, client: Some(client), _server: server }
    }
}

/// Makes the library look for this server from now on.
#[allow(unsafe_code, reason = "rust-jack has no other way to name a server, and std has no safe one")]
fn choose_server(name: &str) {
    // SAFETY: this program is still single-threaded, but for what libjack may have started, and that reads no variables.
    unsafe { std::env::set_var("JACK_DEFAULT_SERVER", name) };
}

#[allow(unsafe_code, reason = "rust-jack does not wrap this call")]
fn client_priority(client: &Client) -> Option<u8> {
    // SAFETY: the client is open. The call only reads what the server told it.
    let priority = unsafe { jack::jack_sys::jack_client_real_time_priority(client.raw()) };
    // -1 without realtime scheduling
    u8::try_from(priority).ok().filter(|&priority| priority > 0)
}

impl Source for JackSource {
    fn describe(&self) -> String {
        self.description.clone()
    }

    fn audio_priority(&self) -> Option<u8> {
        self.priority
    }

    fn start(&mut self, probe: Probe, stop_worker: Stop) -> Result<Box<dyn Running>, String> {
        let client = match self.client.take() {
            Some(client) => client,
            None => open(CLIENT_NAME).map_err(|error| error.to_string())?,
        };
        let input = match self.load {
            Some(_) => client.register_port("in", AudioIn::default()).and_then(|port| port.name()),
            None => Ok(String::new()),
        };
        let input = input.map_err(|error| error.to_string())?;
        let shared = Arc::clone(&probe.shared);
        let gone = Arc::new(Shutdown::default());
        let mode = Arc::new(Mode::default());
        let events = Events { shared: Arc::clone(&shared), gone: Arc::clone(&gone), mode: Arc::clone(&mode) };
        let spells = Spells::new(Arc::clone(&mode), client.sample_rate());
        // Both are the monotonic clock here, but JACK does not say so everywhere.
        let base = TimeBase::read(|| client.time().saturating_mul(1_000));
        let process = Guarded::new(stop_worker.clone(), process(probe, base, spells));
        let client = activate(client, events, process).map_err(|error| error.to_string())?;
        let start = |percent| Upstream::start(percent, input, stop_worker);
        let load = self.load.map(start).transpose()?;
        let length = Duration::from_secs(self.seconds.into());
        let disturbance = self.disturb.then(|| Disturbance::start(length, mode)).transpose()?;
        let now = Instant::now();
        Ok(Box::new(RunningJack {
            client,
            load,
            disturbance,
            shared,
            gone,
            over: now + length,
            looked: now,
            silent: Duration::ZERO,
            callbacks: 0,
        }))
    }
}

impl StopWorker for Stop {
    fn stop(&self) {
        self.stop();
    }
}

fn process(
    mut probe: Probe,
    base: TimeBase,
    mut spells: Spells,
) -> impl FnMut(&Client, &ProcessScope) -> Control + Send + 'static {
    let mut last = None;
    move |_, scope| {
        let period = Period { time: scope.last_frame_time(), frames: scope.n_frames() };
        if let Some(before) = last.replace(period) {
            let missed = missed_periods(before, period);
            probe.shared.missed.fetch_add(missed, Ordering::Relaxed);
        }
        let (spell, work) = spells.callback(period.frames);
        probe.spell = spell;
        work_for(work);
        let next = if probe.takes_hints { next_cycle(scope, base) } else { None };
        probe.callback(None, next);
        Control::Continue
    }
}

/// When the next cycle begins, as far as the server can tell.
fn next_cycle(scope: &ProcessScope, base: TimeBase) -> Option<Instant> {
    let times = scope.cycle_times().ok()?;
    base.instant(times.next_usecs.saturating_mul(1_000))
}

/// Called by threads of the library: nothing here but atomics.
struct Events {
    shared: Arc<Shared>,
    gone: Arc<Shutdown>,
    mode: Arc<Mode>,
}

impl NotificationHandler for Events {
    // The worker is not stopped from here: a callback that is still running would then count as lost.
    #[allow(unsafe_code, reason = "rust-jack declares it so: this may run like a signal handler")]
    unsafe fn shutdown(&mut self, _: ClientStatus, _: &str) {
        self.gone.has_begun();
    }

    /// The server waits for this before it goes on in the other mode.
    fn freewheel(&mut self, _: &Client, on: bool) {
        self.mode.set_freewheeling(on);
    }

    fn xrun(&mut self, _: &Client) -> Control {
        self.shared.xruns.fetch_add(1, Ordering::Relaxed);
        Control::Continue
    }
}

struct RunningJack<P: 'static> {
    client: AsyncClient<Events, P>,
    load: Option<Upstream>,
    disturbance: Option<Disturbance>,
    shared: Arc<Shared>,
    gone: Arc<Shutdown>,
    over: Instant,
    looked: Instant,
    silent: Duration,
    callbacks: u64,
}

impl<P: ProcessHandler + Send + 'static> Running for RunningJack<P> {
    fn end(&mut self) -> Option<End> {
        if self.gone.came() {
            return Some(End::ServerGone);
        }
        let now = Instant::now();
        let since_last_look = now - mem::replace(&mut self.looked, now);
        let callbacks = self.shared.notified();
        if mem::replace(&mut self.callbacks, callbacks) != callbacks {
            self.silent = Duration::ZERO;
        } else {
            // Time in which this process did not run, as after a SIGSTOP, is no silence of the server.
            self.silent += since_last_look.min(LOOK_EVERY * 4);
        }
        if self.silent > SILENCE {
            return Some(End::Silent);
        }
        (now >= self.over).then_some(End::Complete)
    }

    fn close(self: Box<Self>) -> bool {
        let gone = self.gone.came() || self.silent > SILENCE;
        let limit = if gone { DEAD_CLOSES_WITHIN } else { CLOSES_WITHIN };
        let went_as_planned = self.disturbance.is_none_or(|disturbance| disturbance.close_within(limit));
        let closed = close_within(self.client, &self.gone, limit) && went_as_planned;
        self.load.is_none_or(|load| load.close_within(limit)) && closed
    }
}
