//! End to end: real JACK callbacks notify a real worker, on a private server without a sound card.
//!
//! Without `jackd` these tests skip and say so. With `RT_NOTIFY_REQUIRE_JACK=1` a skip is a failure.

#![cfg(target_os = "linux")]

use std::env;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use assert_no_alloc::permit_alloc;
use jack::{AsyncClient, Client, ClientStatus, Control, NotificationHandler, ProcessScope};
use rt_notify::{Notifier, Stopper, Worker};

#[path = "../examples/support/jack_client.rs"]
mod jack_client;
#[path = "../examples/support/jack_server.rs"]
mod jack_server;
#[path = "support/programs.rs"]
mod programs;

#[path = "jack/examples.rs"]
mod examples;

use jack_client::{Guarded, OpenError, Shutdown, activate, close_within, open};
use jack_server::{JackServer, ServerName};
use programs::EVENTUALLY;

#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

const RATE: u32 = 48_000;
const PERIOD: u32 = 64;
/// What a server's end may take to reach the worker.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);
/// What closing a client may take, also one whose server is gone.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// The right to use JACK: one test at a time, because all clients of a process look for the same server.
struct Turn {
    server_name: &'static ServerName,
    _turn: MutexGuard<'static, ()>,
}

impl Turn {
    /// `None`, said aloud, if there is no JACK here.
    fn take() -> Option<Turn> {
        if !JackServer::is_installed() {
            let test = thread::current().name().unwrap_or("a test").to_owned();
            assert!(
                env::var_os("RT_NOTIFY_REQUIRE_JACK").is_none_or(|value| value != "1"),
                "jackd is not installed"
            );
            // Not eprintln!, which the test harness hides when a test passes.
            let _ =
                writeln!(io::stderr(), "{test}: SKIPPED, jackd is not installed (apt-get install jackd2)");
            return None;
        }
        static TURN: Mutex<()> = Mutex::new(());
        // A test that failed leaves nothing behind: its server and its client are dropped before its turn.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Turn { server_name: server_name(), _turn: turn })
    }

    fn start_server(&self) -> JackServer {
        JackServer::start(self.server_name.clone(), RATE, PERIOD).expect("a private server starts")
    }
}

/// The name that every client of this process asks for.
#[allow(unsafe_code, reason = "rust-jack has no other way to name a server, and std has no safe one")]
fn server_name() -> &'static ServerName {
    static NAME: OnceLock<ServerName> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = ServerName::claim().expect("a free name");
        // SAFETY: this is the first turn, so no code of JACK runs yet. The test harness reads variables only through
        // std, which locks.
        unsafe { env::set_var("JACK_DEFAULT_SERVER", name.as_str()) };
        name
    })
}

/// What both sides say of themselves.
#[derive(Default)]
struct Counts {
    /// Notifications sent.
    notified: AtomicU64,
    /// Those of them after which the pair was still open: they must be handed out, whatever happens later.
    before_close: AtomicU64,
    /// Those that the worker was told of.
    counted: AtomicU64,
}

impl Counts {
    /// Waits until the worker has been told of `n` callbacks.
    fn wait_for(&self, n: u64) {
        let deadline = Instant::now() + EVENTUALLY;
        while self.counted.load(Ordering::Relaxed) < n {
            assert!(Instant::now() < deadline, "no callbacks, or the worker sleeps through them");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What every recorder does when the server goes away: nothing but stop.
struct StopOnShutdown {
    stopper: Stopper,
    shutdown: Arc<Shutdown>,
    /// How long the callback goes on after that.
    lingers: Duration,
}

impl NotificationHandler for StopOnShutdown {
    #[allow(unsafe_code, reason = "rust-jack declares it so: this may run like a signal handler")]
    unsafe fn shutdown(&mut self, _: ClientStatus, _: &str) {
        self.shutdown.has_begun();
        self.stopper.stop();
        thread::sleep(self.lingers);
    }
}

/// A client whose callbacks notify a worker that counts.
struct Session<P: 'static> {
    client: AsyncClient<StopOnShutdown, P>,
    shutdown: Arc<Shutdown>,
    counts: Arc<Counts>,
    worker: Worker<()>,
}

type Process = Guarded<Box<dyn FnMut(&Client, &ProcessScope) -> Control + Send>>;

impl Session<Process> {
    fn open() -> Self {
        Session::open_with(None, Duration::ZERO)
    }

    /// `panics_at`: the callback that panics instead of notifying. `lingers`: see [`StopOnShutdown`].
    fn open_with(panics_at: Option<u64>, lingers: Duration) -> Self {
        let client = open("notifying").expect("the server is ready");
        let (notifier, waiter) = Notifier::new();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let worker = Worker::builder()
            .spawn(waiter, move |mut waiter| {
                while let Ok(n) = waiter.wait() {
                    counted.counted.fetch_add(n.into(), Ordering::Relaxed);
                }
            })
            .expect("a thread");
        let sent = Arc::clone(&counts);
        let process = Box::new(move |_: &Client, _: &ProcessScope| {
            if panics_at == Some(sent.notified.load(Ordering::Relaxed)) {
                permit_alloc(|| panic!("on purpose"));
            }
            sent.notified.fetch_add(1, Ordering::Relaxed);
            notifier.notify();
            if !notifier.is_closed() {
                sent.before_close.fetch_add(1, Ordering::Relaxed);
            }
            Control::Continue
        });
        let process = Guarded::new(worker.stopper(), process as Box<_>);
        let shutdown = Arc::new(Shutdown::default());
        let events = StopOnShutdown { stopper: worker.stopper(), shutdown: Arc::clone(&shutdown), lingers };
        let client = activate(client, events, process).expect("the server is ready");
        Session { client, shutdown, counts, worker }
    }

    /// Ends in order, and checks that every callback was counted. Returns their number.
    fn close_and_compare(self) -> u64 {
        assert!(close_within(self.client, &self.shutdown, CLOSED_WITHIN), "closing hangs");
        self.worker.stop().expect("the worker does not panic");
        let counted = self.counts.counted.load(Ordering::Relaxed);
        assert_eq!(counted, self.counts.notified.load(Ordering::Relaxed));
        counted
    }

    /// Waits for the worker to end by itself, and checks that nothing sent before that is missing.
    fn join_and_compare(self) -> u64 {
        let noticed_by = Instant::now() + NOTICED_WITHIN;
        while !self.worker.is_finished() {
            assert!(Instant::now() < noticed_by, "the worker was not told");
            thread::sleep(Duration::from_millis(1));
        }
        self.worker.join().expect("the worker does not panic");
        let counted = self.counts.counted.load(Ordering::Relaxed);
        assert!(close_within(self.client, &self.shutdown, CLOSED_WITHIN), "closing hangs");
        assert!(counted >= self.counts.before_close.load(Ordering::Relaxed));
        assert!(counted <= self.counts.notified.load(Ordering::Relaxed));
        counted
    }
}

#[allow(unsafe_code, reason = "rust-jack does not wrap this call")]
fn set_freewheel(client: &Client, on: bool) {
    // SAFETY: the client is open.
    let result = unsafe { jack::jack_sys::jack_set_freewheel(client.raw(), on.into()) };
    assert_eq!(result, 0, "freewheel {on}");
}

#[test]
fn every_callback_is_counted() {
    let Some(turn) = Turn::take() else { return };
    let _server = turn.start_server();
    let session = Session::open();
    session.counts.wait_for(1_500);
    assert!(session.close_and_compare() >= 1_500);
}

#[test]
fn every_callback_of_a_freewheeling_server_is_counted() {
    let Some(turn) = Turn::take() else { return };
    let _server = turn.start_server();
    let session = Session::open();
    session.counts.wait_for(10);
    set_freewheel(session.client.as_client(), true);
    session.counts.wait_for(250_000);
    set_freewheel(session.client.as_client(), false);
    assert!(session.close_and_compare() >= 250_000);
}

#[test]
fn a_killed_server_ends_the_worker() {
    let Some(turn) = Turn::take() else { return };
    let mut server = turn.start_server();
    let session = Session::open();
    session.counts.wait_for(100);
    server.kill().expect("it runs");
    assert!(session.join_and_compare() >= 100);
}

#[test]
fn a_stopped_server_ends_the_worker() {
    let Some(turn) = Turn::take() else { return };
    let mut server = turn.start_server();
    let session = Session::open();
    session.counts.wait_for(100);
    server.stop().expect("it runs");
    assert!(session.join_and_compare() >= 100);
}

#[test]
fn a_client_may_be_closed_as_soon_as_its_shutdown_callback_stops_the_worker() {
    let Some(turn) = Turn::take() else { return };
    let mut server = turn.start_server();
    let session = Session::open_with(None, Duration::from_millis(50));
    session.counts.wait_for(10);
    server.kill().expect("it runs");
    // Without care, this aborts the whole process: the library cancels the thread that is in the callback.
    assert!(session.join_and_compare() >= 10);
}

#[test]
fn after_each_of_many_deaths_of_the_server_a_new_client_opens() {
    let Some(turn) = Turn::take() else { return };
    for _ in 0..20 {
        let mut server = turn.start_server();
        let session = Session::open();
        session.counts.wait_for(10);
        server.kill().expect("it runs");
        assert!(session.join_and_compare() >= 10);
    }
}

#[test]
fn a_panicking_callback_ends_the_worker_and_nothing_else() {
    let Some(turn) = Turn::take() else { return };
    let _server = turn.start_server();
    let session = Session::open_with(Some(100), Duration::ZERO);
    assert_eq!(session.join_and_compare(), 100);
    // The server and this process go on.
    let session = Session::open();
    session.counts.wait_for(10);
    session.close_and_compare();
}

#[test]
fn without_a_server_opening_fails_at_once_and_says_so() {
    let Some(_turn) = Turn::take() else { return };
    let opened = panic::catch_unwind(AssertUnwindSafe(|| open("notifying").err())).expect("no panic");
    assert!(matches!(opened, Some(OpenError::NoServer)), "{opened:?}");
}
