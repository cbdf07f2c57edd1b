//! What every JACK client of this crate does alike: open, guard the process callback, close.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fmt, mem, thread};

use assert_no_alloc::assert_no_alloc;
use jack::{AsyncClient, Client, ClientOptions, ClientStatus, Control, NotificationHandler};
use jack::{ProcessHandler, ProcessScope};
use rt_notify::Stopper;

/// What the server may take to answer a call.
pub(crate) const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// More than a shutdown callback takes, also on a busy machine.
const CALLBACK_TAKES: Duration = Duration::from_millis(300);
const NO_SERVER: ClientStatus = ClientStatus::SERVER_FAILED.union(ClientStatus::SERVER_ERROR);

/// Why no client could be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The JACK library is not installed, or cannot be loaded.
    NoLibrary(String),
    /// There is a library, but no server that answers.
    NoServer,
    /// The server accepts clients and then leaves them waiting: it hangs, or one of its clients does.
    NoAnswer,
    /// The server refused.
    Other(jack::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NoLibrary(reason) => write!(f, "the JACK library cannot be loaded: {reason}"),
            OpenError::NoServer => f.write_str("no JACK server is running"),
            OpenError::NoAnswer => f.write_str("the JACK server does not answer"),
            OpenError::Other(error) => write!(f, "the JACK server refused the client: {error}"),
        }
    }
}

/// Opens a client of the running server, and never starts one.
///
/// `name` must not be the server's own: the client's socket would replace the server's.
pub(crate) fn open(name: &str) -> Result<Client, OpenError> {
    let name = name.to_owned();
    let opened = within(ANSWERS_WITHIN, move || Client::new(&name, ClientOptions::NO_START_SERVER));
    match opened.ok_or(OpenError::NoAnswer)? {
        Ok((client, _status)) => Ok(client),
        Err(jack::Error::LibraryError(reason)) => Err(OpenError::NoLibrary(reason)),
        Err(jack::Error::ClientError(status)) if status.intersects(NO_SERVER) => Err(OpenError::NoServer),
        Err(error) => Err(OpenError::Other(error)),
    }
}

/// Starts the callbacks of a client. They may begin before this returns.
pub(crate) fn activate<N, P>(client: Client, events: N, process: P) -> Result<AsyncClient<N, P>, OpenError>
where
    N: NotificationHandler + Send + Sync + 'static,
    P: ProcessHandler + Send + 'static,
{
    let activated = within(ANSWERS_WITHIN, move || client.activate_async(events, process));
    activated.ok_or(OpenError::NoAnswer)?.map_err(OpenError::Other)
}

/// Deactivates and closes a client, and says whether that ended within `limit`.
pub(crate) fn close_within<N, P>(client: AsyncClient<N, P>, shutdown: &Arc<Shutdown>, limit: Duration) -> bool
where
    N: NotificationHandler + Send + Sync + 'static,
    P: ProcessHandler + Send + 'static,
{
    let shutdown = Arc::clone(shutdown);
    let close = move || {
        shutdown.wait_until_over();
        // An error only says that the server is gone: the client is closed all the same.
        drop(client.deactivate());
    };
    within(limit, close).is_some()
}

/// What the shutdown callback of a client leaves for the other threads: that it came, and in which thread.
///
/// Closing a client cancels the library's threads, at any instruction. One that is still in a callback of rust-jack
/// then takes the whole process with it (`FATAL: exception not rethrown`), because Rust does not let a cancellation
/// pass. The callback itself is what makes others close the client. So they have to let it get out of the way first:
/// the library's thread ends right after it.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    thread: AtomicI32,
}

// Ordering: Relaxed; the number stands for nothing else.
impl Shutdown {
    /// To be called by the callback, before it tells anybody. Async-signal-safe.
    pub(crate) fn has_begun(&self) {
        self.thread.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
    }

    /// Whether the callback has come.
    pub(crate) fn came(&self) -> bool {
        self.thread.load(Ordering::Relaxed) != 0
    }

    fn wait_until_over(&self) {
        let thread = format!("/proc/self/task/{}", self.thread.load(Ordering::Relaxed));
        // A server that only announces its end may leave the thread there; by the deadline the callback is over too.
        let deadline = Instant::now() + CALLBACK_TAKES;
        while self.came() && Path::new(&thread).exists() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Makes a call into the library, and gives up on it after `limit`.
///
/// Calls wait for the server without any limit of their own, and for ever if it hangs, or one of its clients does, or
/// if it died at the wrong moment. So each is made in a thread of its own, which is left behind in that case.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, answer) = mpsc::channel();
    let thread = thread::Builder::new().name("jack-call".into()).spawn(move || sender.send(call())).ok()?;
    let answer = answer.recv_timeout(limit).ok()?;
    // It has nothing left to do. Waiting for its end makes the program single-threaded again, if it was before.
    let _ = thread.join();
    Some(answer)
}

/// What ends a worker from a callback. Realtime-safe.
pub(crate) trait StopWorker: Send + 'static {
    fn stop(&self);
}

impl StopWorker for Stopper {
    fn stop(&self) {
        self.stop();
    }
}

/// A process callback that may not allocate (checked in debug builds) and whose panic ends the worker in order.
pub(crate) struct Guarded<F, S = Stopper> {
    process: F,
    stopper: S,
}

impl<F, S> Guarded<F, S>
where
    F: FnMut(&Client, &ProcessScope) -> Control + Send + 'static,
    S: StopWorker,
{
    pub(crate) fn new(stopper: S, process: F) -> Self {
        Guarded { process, stopper }
    }
}

impl<F, S> ProcessHandler for Guarded<F, S>
where
    F: FnMut(&Client, &ProcessScope) -> Control + Send + 'static,
    S: StopWorker,
{
    fn process(&mut self, client: &Client, scope: &ProcessScope) -> Control {
        let run = AssertUnwindSafe(|| assert_no_alloc(|| (self.process)(client, scope)));
        match catch_unwind(run) {
            Ok(control) => control,
            Err(payload) => {
                // Freeing is not for this thread.
                mem::forget(payload);
                // JACK tells nobody that a client quit: without this the worker would sleep for ever.
                self.stopper.stop();
                Control::Quit
            }
        }
    }
}
