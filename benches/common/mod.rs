//! What the `wakeups` bench and the comparison share: the roles, the mechanisms that the project was asked to compare,
//! ours, and how they are measured. The comparison includes this directory by path.

pub(crate) mod clock;
pub(crate) mod cpu;
pub(crate) mod notify_cost;
pub(crate) mod period;
pub(crate) mod ping_pong;
pub(crate) mod role;
pub(crate) mod stats;

pub(crate) mod eventfd_poll;
pub(crate) mod ours;
pub(crate) mod pipe_poll;
pub(crate) mod posix_sem;
pub(crate) mod pthread;
pub(crate) mod pthread_condvar;
pub(crate) mod std_condvar;
