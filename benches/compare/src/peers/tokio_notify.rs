//! tokio's `Notify`, waited for by a thread with a runtime of its own.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify as TokioSync;

use crate::common::role::{Class, Mechanism, Notify, Pending, Wait};

pub(crate) struct TokioNotify;
pub(crate) struct Notifier(Arc<TokioSync>);
pub(crate) struct Waiter {
    runtime: Runtime,
    notify: Arc<TokioSync>,
}

impl Mechanism for TokioNotify {
    const NAME: &'static str = "tokio Notify, block_on";
    const CLASS: Class = Class::Blocking;
    const PENDING: Pending = Pending::Merge;
    type Notifier = Notifier;
    type Waiter = Waiter;

    fn pair() -> Result<(Notifier, impl FnOnce() -> Waiter + Send), String> {
        let runtime =
            Builder::new_current_thread().build().map_err(|error| format!("no runtime: {error}"))?;
        let notify = Arc::new(TokioSync::new());
        Ok((Notifier(Arc::clone(&notify)), || Waiter { runtime, notify }))
    }
}

impl Notify for Notifier {
    fn notify(&self) {
        self.0.notify_one();
    }
}

impl Wait for Waiter {
    fn wait(&mut self) -> u64 {
        self.runtime.block_on(self.notify.notified());
        1
    }
}
