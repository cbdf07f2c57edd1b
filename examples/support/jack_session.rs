//! A program's time with a JACK server: what may end it, and what the server reports meanwhile.

#![allow(dead_code, reason = "each program, and the tests, use a part of it")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use jack::{
    AsyncClient, AudioIn, Client, ClientStatus, Control, NotificationHandler, Port, PortFlags, PortSpec,
    ProcessHandler,
};
use rt_notify::{Notifier, Stopper, WaitTimeoutError, Waiter};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::jack_client::{ANSWERS_WITHIN, OpenError, Shutdown, close_within, within};

/// A server is gone or hangs if it makes no callback in two looks. `PipeWire` tells its clients nothing when it is
/// killed. Two, since after a SIGSTOP of this process the first one comes too early.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const CLOSES_WITHIN: Duration = Duration::from_millis(500);
/// The server takes new connections over at the start of a period, which may be the next but one.
const CONNECTED_AFTER: u8 = 2;

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    /// A callback panicked. It can do no more than stop the session, so this is the cause if there is no other.
    Panicked,
    /// All is done.
    Complete,
    /// By Ctrl-C, SIGTERM or SIGHUP.
    Interrupted,
    /// The server shut down, or was killed.
    ServerGone,
    /// The server makes no callbacks any more.
    Silent,
    /// The worker ended before its time. It tells why itself.
    WorkerEnded,
}

impl End {
    const ALL: [End; 6] =
        [End::Panicked, End::Complete, End::Interrupted, End::ServerGone, End::Silent, End::WorkerEnded];

    /// What to tell the user, if it is not what was asked for.
    pub(crate) fn message(self) -> Option<&'static str> {
        match self {
            End::Complete | End::Interrupted | End::WorkerEnded => None,
            End::Panicked => Some("the process callback panicked"),
            End::ServerGone => Some("the JACK server went away"),
            End::Silent => Some("no callback for a second, the JACK server is gone or hangs"),
        }
    }

    /// The exit code of a session that ended so, with `late` frames that the ring had no room for, or not in time, and
    /// with `jack_late` things for which JACK was late.
    pub(crate) fn exit_code(self, late: u64, jack_late: u64) -> u8 {
        match self {
            End::Complete | End::Interrupted if late > 0 => 2,
            End::Complete | End::Interrupted if jack_late > 0 => 3,
            End::Complete | End::Interrupted => 0,
            _ => 1,
        }
    }
}

/// Ends a session from anywhere; the first cause counts. Realtime-safe and async-signal-safe.
#[derive(Clone, Debug)]
pub(crate) struct Ender {
    cause: Arc<AtomicU8>,
    stopper: Stopper,
}

impl Ender {
    pub(crate) fn end(&self, cause: End) {
        // Ordering: Relaxed; the stop publishes it.
        let none = End::Panicked as u8;
        let _ = self.cause.compare_exchange(none, cause as u8, Ordering::Relaxed, Ordering::Relaxed);
        self.stopper.stop();
    }

    /// For [`Guarded`](super::jack_client::Guarded): stopping without a cause means a panic.
    pub(crate) fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Ends the session when it is dropped: by a worker that ends, or panics.
    pub(crate) fn end_with_worker(self) -> impl Drop {
        struct OnDrop(Ender);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                self.0.end(End::WorkerEnded);
            }
        }
        OnDrop(self)
    }
}

/// What callbacks and server say of themselves.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    callbacks: AtomicU64,
    xruns: AtomicU64,
    freewheel: AtomicBool,
    connected: AtomicBool,
}

// Ordering: Relaxed throughout; each value stands for itself alone.
impl Signs {
    /// To be called by every process callback.
    pub(crate) fn called_back(&self) {
        self.callbacks.fetch_add(1, Ordering::Relaxed);
    }

    /// The server said that it was late.
    pub(crate) fn count_xrun(&self) {
        self.xruns.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn xruns(&self) -> u64 {
        self.xruns.load(Ordering::Relaxed)
    }

    /// Whether callbacks come as fast as they are worked off, and may take their time.
    pub(crate) fn is_freewheeling(&self) -> bool {
        self.freewheel.load(Ordering::Relaxed)
    }

    /// All ports are connected.
    pub(crate) fn set_connected(&self) {
        self.connected.store(true, Ordering::Relaxed);
    }
}

/// Keeps a process callback from its work until the server has taken over the connections of its ports.
#[derive(Debug)]
pub(crate) struct Gate {
    signs: Arc<Signs>,
    periods: u8,
}

impl Gate {
    pub(crate) fn new(signs: Arc<Signs>) -> Self {
        Gate { signs, periods: 0 }
    }

    /// To be asked once per callback.
    pub(crate) fn is_open(&mut self) -> bool {
        if self.periods < CONNECTED_AFTER && self.signs.connected.load(Ordering::Relaxed) {
            self.periods += 1;
            return false;
        }
        self.periods == CONNECTED_AFTER
    }
}

/// Called by threads of the library: nothing here but atomics.
#[derive(Debug)]
pub(crate) struct Events {
    ender: Ender,
    signs: Arc<Signs>,
    shutdown: Arc<Shutdown>,
}

impl NotificationHandler for Events {
    #[allow(unsafe_code, reason = "rust-jack declares it so: this may run like a signal handler")]
    unsafe fn shutdown(&mut self, _: ClientStatus, _: &str) {
        self.shutdown.has_begun();
        self.ender.end(End::ServerGone);
    }

    fn freewheel(&mut self, _: &Client, on: bool) {
        self.signs.freewheel.store(on, Ordering::Relaxed);
    }

    fn xrun(&mut self, _: &Client) -> Control {
        self.signs.count_xrun();
        Control::Continue
    }
}

/// What the main thread waits for.
#[derive(Debug)]
pub(crate) struct Session {
    ender: Ender,
    signs: Arc<Signs>,
    shutdown: Arc<Shutdown>,
    waiter: Waiter,
    /// Keeps the pair open: only an [`Ender`] closes it.
    _notifier: Notifier,
}

impl Session {
    /// Begins a session. From here on, signals that would end the program end the session.
    pub(crate) fn begin() -> io::Result<Self> {
        let (notifier, waiter) = Notifier::new();
        let ender = Ender { cause: Arc::new(AtomicU8::new(End::Panicked as u8)), stopper: waiter.stopper() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            end_by_signal(signal, ender.clone())?;
        }
        Ok(Session { ender, signs: Arc::default(), shutdown: Arc::default(), waiter, _notifier: notifier })
    }

    pub(crate) fn ender(&self) -> Ender {
        self.ender.clone()
    }

    pub(crate) fn signs(&self) -> Arc<Signs> {
        Arc::clone(&self.signs)
    }

    /// What the server's notifications go to.
    pub(crate) fn events(&self) -> Events {
        Events { ender: self.ender(), signs: self.signs(), shutdown: Arc::clone(&self.shutdown) }
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> End {
        let mut callbacks = self.signs.callbacks.load(Ordering::Relaxed);
        let mut silent_looks = 0;
        while self.waiter.wait_timeout(LOOK_EVERY) == Err(WaitTimeoutError::Timeout) {
            let now = self.signs.callbacks.load(Ordering::Relaxed);
            silent_looks = if now == callbacks { silent_looks + 1 } else { 0 };
            callbacks = now;
            if silent_looks == 2 {
                self.ender.end(End::Silent);
            }
        }
        End::ALL[usize::from(self.ender.cause.load(Ordering::Relaxed))]
    }

    /// Connects pairs of ports, by name: from the first to the second. The client comes back, unless the server hangs.
    pub(crate) fn connect<P: ProcessHandler + Send + 'static>(
        &self,
        client: AsyncClient<Events, P>,
        pairs: Vec<(String, String)>,
    ) -> Result<AsyncClient<Events, P>, String> {
        let shutdown = Arc::clone(&self.shutdown);
        let connected = within(ANSWERS_WITHIN, move || {
            for (from, to) in pairs {
                if let Err(error) = client.as_client().connect_ports_by_name(&from, &to) {
                    close_within(client, &shutdown, CLOSES_WITHIN);
                    return Err(format!("cannot connect {from} to {to}: {error}"));
                }
            }
            Ok(client)
        });
        let client = connected.ok_or_else(|| OpenError::NoAnswer.to_string())??;
        self.signs.set_connected();
        Ok(client)
    }

    /// First no more callbacks: this drops what they own, and thereby ends the worker.
    pub(crate) fn close<P: ProcessHandler + Send + 'static>(
        &self,
        program: &str,
        client: AsyncClient<Events, P>,
    ) {
        if !close_within(client, &self.shutdown, CLOSES_WITHIN) {
            eprintln!("{program}: the callbacks could not be ended in order");
        }
    }
}

#[allow(unsafe_code, reason = "signal-hook cannot know that the action is async-signal-safe")]
fn end_by_signal(signal: i32, ender: Ender) -> io::Result<()> {
    // SAFETY: the action is an atomic read-modify-write and `Stopper::stop`, which is async-signal-safe.
    unsafe { signal_hook::low_level::register(signal, move || ender.end(End::Interrupted)) }?;
    Ok(())
}

/// Registers `prefix_1`, `prefix_2` … `prefix_n`, and returns them with their full names.
pub(crate) fn register_ports<S: PortSpec + Copy>(
    client: &Client,
    prefix: &str,
    spec: S,
    n: usize,
) -> Result<(Vec<Port<S>>, Vec<String>), String> {
    let register = |n| {
        let port = client.register_port(&format!("{prefix}_{n}"), spec)?;
        let name = port.name()?;
        Ok((port, name))
    };
    let ports: Result<Vec<_>, jack::Error> = (1..=n).map(register).collect();
    ports
        .map(|ports| ports.into_iter().unzip())
        .map_err(|error| format!("the JACK server refused a port: {error}"))
}

/// Whether the server has all these audio ports, with the direction that `flag` says.
pub(crate) fn find_ports(client: &Client, names: &[String], flag: PortFlags) -> Result<(), String> {
    let kind = if flag == PortFlags::IS_OUTPUT { "output" } else { "input" };
    let is_found = |name: &&String| {
        client.port_by_name(name).is_some_and(|port| {
            port.flags().contains(flag)
                && port.port_type().is_ok_and(|kind| kind == AudioIn::default().jack_port_type())
        })
    };
    match names.iter().find(|name| !is_found(name)) {
        Some(name) => Err(format!("the JACK server has no audio {kind} port {name}")),
        None => Ok(()),
    }
}
