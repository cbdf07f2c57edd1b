//! From what was asked to what can be had.

use std::io;

use super::{Granted, Policy, Priority, PriorityError, State};

/// What promotion needs from the platform. Every method is about the calling thread; whatever is set resets on
/// fork. The tests put a model of the kernel's rules in its place.
pub(crate) trait Scheduler {
    fn current(&self) -> State;
    /// `priority` is 1 to 99 for a realtime policy, else 0.
    fn set_policy(&self, policy: Policy, priority: u8) -> io::Result<()>;
    fn set_nice(&self, nice: i8) -> io::Result<()>;
    /// The strongest realtime priority that needs no privilege; 0 if none.
    fn rtprio_limit(&self) -> u8;
    /// The strongest nice value that needs no privilege. May exceed 19: then not even that one may be returned to.
    fn nice_floor(&self) -> i8;
}

/// A priority to be reached, with [`Priority::Inherit`] already resolved and numbers within their range.
#[derive(Debug)]
pub(crate) struct Order {
    /// For error messages.
    asked: Priority,
    /// `Unknown` leaves the policy as it is.
    policy: Policy,
    priority: u8,
    /// `None` leaves the nice value as it is.
    nice: Option<i8>,
    /// A priority below that of the audio thread was demanded, and this is why that is not what was asked.
    lowered: Option<PriorityError>,
}

impl Order {
    /// `spawner` is what the spawning thread has. Without `asked`, the new thread gets what the kernel would give
    /// to a child of a thread that resets on fork, whether or not that thread does.
    pub(crate) fn new(asked: Option<Priority>, spawner: State) -> Self {
        let (asked, policy, priority, nice) = match asked {
            None => {
                let nice = spawner.nice.max(0);
                let policy = if spawner.policy.is_realtime() { Policy::Other } else { spawner.policy };
                (Priority::Nice(nice), policy, 0, Some(nice))
            }
            Some(Priority::Inherit) => {
                let asked = match spawner.policy {
                    Policy::Fifo => Priority::Fifo(spawner.priority),
                    Policy::RoundRobin => Priority::RoundRobin(spawner.priority),
                    Policy::Deadline => Priority::Inherit,
                    _ => Priority::Nice(spawner.nice),
                };
                let nice = (!spawner.policy.is_realtime()).then_some(spawner.nice);
                (asked, spawner.policy, spawner.priority, nice)
            }
            Some(asked @ Priority::Nice(nice)) => (asked, Policy::Other, 0, Some(nice.clamp(-20, 19))),
            Some(asked @ Priority::Fifo(n)) => (asked, Policy::Fifo, n.clamp(1, 99), None),
            Some(asked @ Priority::RoundRobin(n)) => (asked, Policy::RoundRobin, n.clamp(1, 99), None),
        };
        Order { asked, policy, priority, nice, lowered: None }
    }

    /// Keeps a realtime priority below `audio`.
    pub(crate) fn below(mut self, audio: u8) -> Self {
        if self.policy.is_realtime() && self.priority >= audio {
            let cause = format!("it is not below the audio thread's {audio}");
            let cause = io::Error::new(io::ErrorKind::InvalidInput, cause);
            self.lowered = Some(PriorityError::new(self.asked, cause));
            self.priority = audio.saturating_sub(1);
        }
        self
    }

    /// Takes out the reason why the order is weaker than what was asked, if it is.
    pub(crate) fn take_lowered(&mut self) -> Option<PriorityError> {
        self.lowered.take()
    }

    /// Reaches the order, or a weaker priority of the same kind, or changes nothing.
    pub(crate) fn apply(self, scheduler: &impl Scheduler) -> Result<Granted, PriorityError> {
        match self.reach(scheduler) {
            Ok(denied) => Ok(self.report(scheduler, denied)),
            Err(denied) => Err(PriorityError::new(self.asked, denied)),
        }
    }

    /// Reaches the order, or as much as can be had: in place of a realtime priority the strongest nice value.
    pub(crate) fn apply_or_fall_back(self, scheduler: &impl Scheduler) -> Granted {
        let denied = if self.policy.is_realtime() && self.priority == 0 && self.lowered.is_some() {
            // No realtime priority is weak enough.
            fall_back(scheduler);
            None
        } else {
            self.reach(scheduler).unwrap_or_else(|denied| {
                if self.policy.is_realtime() {
                    fall_back(scheduler);
                } else {
                    // Even if the nice value was refused, the realtime policy of the spawner was not asked for.
                    let _ = scheduler.set_policy(self.policy, 0);
                }
                Some(denied)
            })
        };
        self.report(scheduler, denied)
    }

    /// `Ok(Some(_))`: something weaker of the same kind, because of this error.
    fn reach(&self, scheduler: &impl Scheduler) -> io::Result<Option<io::Error>> {
        if self.policy.is_realtime() {
            return reach_realtime(scheduler, self.policy, self.priority);
        }
        let before = scheduler.current();
        // The kernel may refuse to let a thread leave SCHED_IDLE, and refuses nothing else that follows a granted
        // nice value. So only from there the policy comes first.
        let policy_first = before.policy == Policy::Idle && self.policy != Policy::Unknown;
        if policy_first {
            scheduler.set_policy(self.policy, 0)?;
        }
        let denied = match self.nice {
            Some(nice) => reach_nice(scheduler, nice).inspect_err(|_| {
                if policy_first {
                    // Entering SCHED_IDLE is always allowed.
                    let _ = scheduler.set_policy(Policy::Idle, 0);
                }
            })?,
            None => None,
        };
        if !policy_first && self.policy != Policy::Unknown {
            match scheduler.set_policy(self.policy, 0) {
                // Only reset-on-fork is missing. The kernel never refuses that; a sandbox that does is no reason to
                // deny a nice value, or to fail a worker for which nothing was asked.
                Err(_) if before.policy == self.policy => {}
                result => result?,
            }
        }
        Ok(denied)
    }

    fn report(self, scheduler: &impl Scheduler, denied: Option<io::Error>) -> Granted {
        let state = scheduler.current();
        let reached = (self.policy == Policy::Unknown || state.policy == self.policy)
            && state.priority == self.priority
            && self.nice.is_none_or(|nice| state.nice == nice);
        let shortfall = match (denied, self.lowered) {
            (Some(denied), _) => Some(PriorityError::new(self.asked, denied)),
            (None, Some(lowered)) => Some(lowered),
            (None, None) if reached => None,
            // Some sandboxes answer such requests with a success that means nothing.
            (None, None) => Some(PriorityError::new(
                self.asked,
                io::Error::other("accepted by the system, but without effect"),
            )),
        };
        Granted::new(state, shortfall)
    }
}

impl Policy {
    fn is_realtime(self) -> bool {
        matches!(self, Policy::Fifo | Policy::RoundRobin | Policy::Deadline)
    }
}

fn reach_realtime(scheduler: &impl Scheduler, policy: Policy, priority: u8) -> io::Result<Option<io::Error>> {
    let Err(denied) = scheduler.set_policy(policy, priority) else { return Ok(None) };
    if denied.kind() != io::ErrorKind::PermissionDenied {
        return Err(denied);
    }
    let before = scheduler.current();
    // What the thread inherited may exceed the limit, and may be kept.
    let kept = if before.policy == policy { before.priority } else { 0 };
    let allowed = scheduler.rtprio_limit().max(kept).min(priority);
    if allowed >= 1 && scheduler.set_policy(policy, allowed).is_ok() { Ok(Some(denied)) } else { Err(denied) }
}

fn reach_nice(scheduler: &impl Scheduler, nice: i8) -> io::Result<Option<io::Error>> {
    let before = scheduler.current().nice;
    if nice == before {
        return Ok(None);
    }
    let Err(denied) = scheduler.set_nice(nice) else { return Ok(None) };
    if denied.kind() != io::ErrorKind::PermissionDenied {
        return Err(denied);
    }
    let allowed = scheduler.nice_floor().max(nice);
    // A negative value that the thread has already is a weaker one of the same kind: asking twice answers alike.
    let kept = before < 0;
    let improved = allowed < before && scheduler.set_nice(allowed).is_ok();
    if improved || kept { Ok(Some(denied)) } else { Err(denied) }
}

/// The best that is left where a realtime policy cannot be had. What is refused here as well stays as it is: the
/// first refusal is the one worth reporting.
fn fall_back(scheduler: &impl Scheduler) {
    let _ = reach_nice(scheduler, -20);
    let _ = scheduler.set_policy(Policy::Other, 0);
}

#[cfg(all(test, not(rt_notify_loom)))]
mod tests;
