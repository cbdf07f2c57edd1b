//! The list of everything that is compared.

use crate::common::notify_cost::{self, Waiter};
use crate::common::period::{self, Plan};
use crate::common::ping_pong::{self, Placement};
use crate::common::role::{Class, Mechanism, Pending};
use crate::common::{eventfd_poll, ours, pipe_poll, posix_sem, pthread_condvar, std_condvar};
use crate::locks::{self, Lock};
use crate::measure::{burst, contention, many_notifiers, many_waiters, pairs, uncontended};
use crate::peers;
use crate::permits::{self, Permits};

/// A wake-up mechanism, with each measurement compiled for it.
pub(crate) struct Wakeup {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    pub(crate) ours: bool,
    pending: Pending,
    capacity: u32,
    ping_pong: fn(u64, Placement) -> Result<f64, String>,
    uncontended: fn(u64) -> Result<f64, String>,
    notify_pending: fn(u32) -> Result<f64, String>,
    notify_single: notify_cost::Single,
    burst: fn(u64, burst::Waiter) -> Result<burst::Outcome, String>,
    period: fn(Plan) -> Result<period::Outcome, String>,
    many_notifiers: fn(u64, u64) -> Result<f64, String>,
    pairs: fn(usize) -> Result<pairs::Outcome, String>,
}

impl Wakeup {
    fn of<M: Mechanism<Notifier: 'static>>() -> Self {
        Wakeup {
            name: M::NAME,
            class: M::CLASS,
            ours: M::OURS,
            pending: M::PENDING,
            capacity: M::CAPACITY,
            ping_pong: ping_pong::play::<M>,
            uncontended: uncontended::run::<M>,
            notify_pending: notify_cost::pending::<M>,
            notify_single: notify_cost::single::<M>,
            burst: burst::run::<M>,
            period: period::run::<M>,
            many_notifiers: many_notifiers::run::<M>,
            pairs: pairs::run::<M>,
        }
    }

    pub(crate) fn class_name(&self) -> &'static str {
        match self.class {
            Class::Blocking => "blocking",
            Class::Spinning => "spinning",
            Class::Descriptor => "descriptor",
        }
    }

    pub(crate) fn ping_pong(&self, trips: u64, placement: Placement) -> Result<f64, String> {
        self.must_not_lose()?;
        if self.class == Class::Spinning
            && (placement.cpus[0].is_none() || placement.cpus[0] == placement.cpus[1])
        {
            return Err("spins, and needs a CPU for each side".into());
        }
        (self.ping_pong)(trips, placement)
    }

    pub(crate) fn uncontended(&self, n: u64) -> Result<f64, String> {
        self.must_not_lose()?;
        (self.uncontended)(n)
    }

    pub(crate) fn notify_pending(&self, batch: u32) -> Result<f64, String> {
        self.must_not_lose()?;
        self.must_hold(3)?;
        (self.notify_pending)(batch)
    }

    pub(crate) fn notify_single(&self, n: u64, state: Waiter, cpus: [usize; 2]) -> Result<Vec<u64>, String> {
        self.must_not_lose()?;
        if state == Waiter::Asleep && self.class == Class::Spinning {
            return Err("never sleeps".into());
        }
        (self.notify_single)(n, state, cpus.map(Some))
    }

    pub(crate) fn burst(&self, n: u64, state: burst::Waiter) -> Result<burst::Outcome, String> {
        self.must_not_lose()?;
        if state == burst::Waiter::Busy {
            self.must_hold(n)?;
        }
        self.must_hold(2)?;
        (self.burst)(n, state)
    }

    pub(crate) fn period(&self, plan: Plan) -> Result<period::Outcome, String> {
        self.must_hold(2)?;
        if self.class == Class::Spinning {
            return Err("spins, and would take a CPU from all others".into());
        }
        (self.period)(plan)
    }

    pub(crate) fn many_notifiers(&self, threads: u64, total: u64) -> Result<f64, String> {
        self.must_not_lose()?;
        self.must_hold(2)?;
        (self.many_notifiers)(threads, total)
    }

    pub(crate) fn pairs(&self, n: usize) -> Result<pairs::Outcome, String> {
        (self.pairs)(n)
    }

    /// Whether it loses notifications.
    pub(crate) fn loses(&self) -> bool {
        self.pending == Pending::MayBeLost
    }

    fn must_not_lose(&self) -> Result<(), String> {
        if self.loses() { Err("loses notifications, and would hang".into()) } else { Ok(()) }
    }

    fn must_hold(&self, n: u64) -> Result<(), String> {
        if u64::from(self.capacity) < n { Err(format!("holds {} at most", self.capacity)) } else { Ok(()) }
    }
}

pub(crate) fn wakeups() -> Vec<Wakeup> {
    #[allow(unused_mut, reason = "without a C++20 compiler there is nothing to add")]
    let mut all = vec![
        Wakeup::of::<ours::Futex>(),
        Wakeup::of::<ours::Counting>(),
        Wakeup::of::<ours::Predicting>(),
        Wakeup::of::<ours::Spinning>(),
        Wakeup::of::<ours::Spun>(),
        Wakeup::of::<ours::Eventfd>(),
        Wakeup::of::<ours::Pipe>(),
        Wakeup::of::<ours::Loop>(),
        Wakeup::of::<pipe_poll::PipePoll>(),
        Wakeup::of::<eventfd_poll::EventfdPoll>(),
        Wakeup::of::<peers::socketpair::Socketpair>(),
        Wakeup::of::<peers::mio_waker::MioWaker>(),
        Wakeup::of::<peers::calloop_ping::CalloopPing>(),
        Wakeup::of::<pthread_condvar::PthreadCondvar<false>>(),
        Wakeup::of::<pthread_condvar::PthreadCondvar<true>>(),
        Wakeup::of::<std_condvar::StdCondvar>(),
        Wakeup::of::<peers::cond_trylock::CondTrylock>(),
        Wakeup::of::<posix_sem::PosixSem>(),
        Wakeup::of::<peers::named_sem::NamedSem>(),
        Wakeup::of::<peers::shared_sem::SharedSem>(),
        Wakeup::of::<peers::sem_trywait::SemTrywait>(),
        Wakeup::of::<peers::sysv_sem::SysvSem<false>>(),
        Wakeup::of::<peers::sysv_sem::SysvSem<true>>(),
        Wakeup::of::<peers::posix_mq::PosixMq>(),
        Wakeup::of::<peers::sysv_mq::SysvMq>(),
        Wakeup::of::<peers::raw_futex::RawFutex>(),
        Wakeup::of::<peers::std_park::StdPark>(),
        Wakeup::of::<peers::crossbeam_parker::CrossbeamParker>(),
        Wakeup::of::<peers::parking::Parking>(),
        Wakeup::of::<peers::event_listener::EventListener>(),
        Wakeup::of::<peers::tokio_notify::TokioNotify>(),
        Wakeup::of::<peers::std_channel::StdChannel>(),
        Wakeup::of::<peers::crossbeam_channel::CrossbeamChannel>(),
        Wakeup::of::<peers::spin::Spin>(),
    ];
    #[cfg(not(no_cpp20))]
    all.extend([
        Wakeup::of::<peers::cpp20::Cpp<peers::cpp20::CountingSemaphore>>(),
        Wakeup::of::<peers::cpp20::Cpp<peers::cpp20::BinarySemaphore>>(),
        Wakeup::of::<peers::cpp20::Cpp<peers::cpp20::AtomicFlag>>(),
        Wakeup::of::<peers::cpp20::Cpp<peers::cpp20::AtomicBool>>(),
        Wakeup::of::<peers::cpp20::Cpp<peers::cpp20::ConditionVariable>>(),
    ]);
    all
}

/// What is not in the list on this machine, and why.
pub(crate) fn left_out() -> Option<String> {
    cfg!(no_cpp20).then(|| format!("C++20 mechanisms are left out: compiler: {}", env!("COMPARE_CXX")))
}

/// A semaphore for several waiters.
pub(crate) struct Sem {
    pub(crate) name: &'static str,
    pub(crate) ours: bool,
    pub(crate) many_waiters: fn(u64, u64) -> Result<f64, String>,
}

impl Sem {
    fn of<P: Permits>() -> Self {
        Sem { name: P::NAME, ours: P::OURS, many_waiters: many_waiters::run::<P> }
    }
}

pub(crate) fn semaphores() -> Vec<Sem> {
    #[allow(unused_mut, reason = "without a C++20 compiler there is nothing to add")]
    let mut all = vec![
        Sem::of::<rt_notify::Semaphore>(),
        Sem::of::<posix_sem::Sem>(),
        Sem::of::<peers::sysv_sem::Sem<false>>(),
        Sem::of::<permits::Monitor>(),
    ];
    #[cfg(not(no_cpp20))]
    all.push(Sem::of::<peers::cpp20::Object<peers::cpp20::CountingSemaphore>>());
    all
}

/// A lock.
pub(crate) struct Mutex {
    pub(crate) name: &'static str,
    pub(crate) ours: bool,
    pub(crate) contention: fn(u64, u64) -> Result<f64, String>,
}

impl Mutex {
    fn of<L: Lock>() -> Self {
        Mutex { name: L::NAME, ours: L::OURS, contention: contention::run::<L> }
    }
}

pub(crate) fn mutexes() -> Vec<Mutex> {
    vec![
        Mutex::of::<locks::pthread::Pthread>(),
        Mutex::of::<locks::std_mutex::StdMutex>(),
        Mutex::of::<locks::parking_lot::ParkingLot>(),
        Mutex::of::<locks::fast::Fast>(),
        Mutex::of::<locks::spin_then_block::SpinThenBlock>(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Whether the kernel, or the container, does not offer it.
    fn is_not_there(reason: &str) -> bool {
        ["mq_open", "msgget", "semget", "sem_open"].iter().any(|call| reason.starts_with(call))
    }

    #[test]
    fn names_differ() {
        let wakeups = wakeups();
        let names: BTreeSet<_> = wakeups.iter().map(|wakeup| wakeup.name).collect();
        assert_eq!(names.len(), wakeups.len());
    }

    #[test]
    fn every_mechanism_accounts_for_every_notification() {
        for wakeup in wakeups() {
            let mut checked = Vec::new();
            if wakeup.class != Class::Spinning && !wakeup.loses() {
                checked.push(wakeup.ping_pong(20, Placement::ANYWHERE).map(drop));
            }
            if !wakeup.loses() {
                checked.push(wakeup.uncontended(20).map(drop));
                checked.push(wakeup.notify_single(5, Waiter::Awake, [0, 0]).map(drop));
            }
            if !wakeup.loses() && wakeup.capacity > 20 {
                checked.push(wakeup.notify_pending(10).map(drop));
                checked.push(wakeup.burst(20, burst::Waiter::Asleep).map(drop));
                checked.push(wakeup.burst(20, burst::Waiter::Busy).map(drop));
                checked.push(wakeup.many_notifiers(3, 60).map(drop));
            }
            checked.push(wakeup.pairs(2).map(drop));
            for reason in checked.into_iter().filter_map(Result::err) {
                assert!(is_not_there(&reason), "{}: {reason}", wakeup.name);
            }
        }
    }

    #[test]
    fn locks_exclude_and_semaphores_count() {
        for mutex in mutexes() {
            assert_eq!((mutex.contention)(3, 1000).map(drop), Ok(()), "{}", mutex.name);
        }
        for sem in semaphores() {
            let counted = (sem.many_waiters)(3, 300).map(drop);
            assert!(
                counted.as_ref().map_or_else(|reason| is_not_there(reason), |()| true),
                "{}: {counted:?}",
                sem.name
            );
        }
    }
}
