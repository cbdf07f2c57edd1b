//! What a wake-up mechanism is, for the measurements: one side that notifies, one that waits.

/// The notifying side.
pub(crate) trait Notify: Send + Sync {
    fn notify(&self);

    /// How many of this notifier's notifications it knows to have been lost.
    fn lost(&self) -> u64 {
        0
    }
}

/// The waiting side. It stays on the thread on which it was made.
pub(crate) trait Wait {
    /// Sleeps until there is a notification, and says how many it took.
    fn wait(&mut self) -> u64;
}

/// A peer is compared with its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The waiter sleeps in the kernel, and can do nothing else meanwhile.
    Blocking,
    /// The waiter never sleeps.
    Spinning,
    /// The waiter sleeps on a descriptor, perhaps together with others.
    Descriptor,
}

/// What becomes of notifications that nobody has taken yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// They are counted, and each ends one wait.
    EndOneWaitEach,
    /// They are counted, and the next wait takes all.
    EndOneWaitTogether,
    /// Several are one.
    Merge,
    /// A notification can be lost.
    MayBeLost,
}

/// A way to wake a thread. One file each implements it.
pub(crate) trait Mechanism: 'static {
    const NAME: &'static str;
    const CLASS: Class;
    const PENDING: Pending;
    /// Whether it is this project's.
    const OURS: bool = false;
    /// How many notifications can be pending before the notifier blocks.
    const CAPACITY: u32 = u32::MAX;

    type Notifier: Notify;
    type Waiter: Wait;

    /// Makes a pair. The waiter's half comes as a function that its thread calls, since some cannot change threads.
    ///
    /// The error is a reason for a human: this machine does not have the mechanism.
    fn pair() -> Result<(Self::Notifier, impl FnOnce() -> Self::Waiter + Send + 'static), String>;
}
