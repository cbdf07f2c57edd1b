//! A client in front of ours that works for a random share of each cycle: what our callback has to wait for.

use std::sync::Arc;
use std::time::Duration;

use jack::{AsyncClient, AudioOut, Client, ClientStatus, Control, NotificationHandler, ProcessScope};

use super::backend::Stop;
use super::jack_client::{Guarded, Shutdown, activate, close_within, open, within};
use super::load::RandomLoad;

const CLIENT_NAME: &str = "latency-load";
const CONNECTS_WITHIN: Duration = Duration::from_secs(5);

type Process = Box<dyn FnMut(&Client, &ProcessScope) -> Control + Send>;

/// The client at work.
pub(crate) struct Upstream {
    client: AsyncClient<Events, Guarded<Process, Stop>>,
    gone: Arc<Shutdown>,
}

impl Upstream {
    /// Starts it in front of the client that has the port `input` and is active.
    pub(crate) fn start(percent: u32, input: String, stop_worker: Stop) -> Result<Self, String> {
        let client = open(CLIENT_NAME).map_err(|error| error.to_string())?;
        let rate = client.sample_rate().max(1);
        let output = client.register_port("out", AudioOut::default());
        let output = output.and_then(|port| port.name()).map_err(|error| error.to_string())?;
        let mut load = RandomLoad::new(percent);
        let process: Process = Box::new(move |_, scope| {
            load.work(u64::from(scope.n_frames()) * 1_000_000_000 / u64::from(rate));
            Control::Continue
        });
        let gone = Arc::new(Shutdown::default());
        let events = Events(Arc::clone(&gone));
        let client = activate(client, events, Guarded::new(stop_worker, process))
            .map_err(|error| error.to_string())?;
        // Only what is connected waits.
        let connect = move || {
            let connected = client.as_client().connect_ports_by_name(&output, &input);
            (connected, client)
        };
        let (connected, client) =
            within(CONNECTS_WITHIN, connect).ok_or("the JACK server does not answer")?;
        connected.map_err(|error| format!("the load's client could not be connected: {error}"))?;
        Ok(Upstream { client, gone })
    }

    /// Says whether the client is certainly closed.
    pub(crate) fn close_within(self, limit: Duration) -> bool {
        close_within(self.client, &self.gone, limit)
    }
}

struct Events(Arc<Shutdown>);

impl NotificationHandler for Events {
    #[allow(unsafe_code, reason = "rust-jack declares it so: this may run like a signal handler")]
    unsafe fn shutdown(&mut self, _: ClientStatus, _: &str) {
        self.0.has_begun();
    }
}
