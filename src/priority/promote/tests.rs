//! The decisions, against a model of the kernel's rules: few machines that run tests may raise a limit.

use std::cell::Cell;
use std::io;

use super::*;
use crate::priority::PriorityError;

/// Follows sched(7), setpriority(2) and getrlimit(2) for a thread without `CAP_SYS_NICE`.
struct Model {
    state: Cell<State>,
    rtprio: u8,
    nice_floor: i8,
    /// The cgroup has no realtime budget.
    no_budget: bool,
    /// Refuses every call that sets a policy, as other sandboxes do.
    no_policies: bool,
    /// Answers with success and does nothing, as some sandboxes do.
    lies: bool,
}

impl Model {
    fn new(rtprio: u8, nice_floor: i8) -> Self {
        Model {
            state: Cell::new(PLAIN),
            rtprio,
            nice_floor,
            no_budget: false,
            no_policies: false,
            lies: false,
        }
    }

    fn starting(self, state: State) -> Self {
        self.state.set(state);
        self
    }

    fn edit(&self, edit: impl FnOnce(&mut State)) {
        let mut state = self.state.get();
        edit(&mut state);
        if !self.lies {
            self.state.set(state);
        }
    }
}

const PLAIN: State = State { policy: Policy::Other, priority: 0, nice: 0 };

fn fifo(priority: u8) -> State {
    State { policy: Policy::Fifo, priority, nice: 0 }
}

fn nice(nice: i8) -> State {
    State { policy: Policy::Other, priority: 0, nice }
}

impl Scheduler for Model {
    fn current(&self) -> State {
        self.state.get()
    }

    fn set_policy(&self, policy: Policy, priority: u8) -> io::Result<()> {
        let now = self.state.get();
        let permitted = match policy {
            Policy::Fifo | Policy::RoundRobin if !(1..=99).contains(&priority) => {
                return Err(io::Error::from_raw_os_error(EINVAL));
            }
            Policy::Fifo | Policy::RoundRobin => {
                let change = policy == now.policy || self.rtprio > 0;
                let rise = priority <= now.priority || priority <= self.rtprio;
                change && rise && !self.no_budget
            }
            Policy::Other | Policy::Batch => now.policy != Policy::Idle || now.nice >= self.nice_floor,
            Policy::Idle => true,
            _ => return Err(io::Error::from_raw_os_error(EINVAL)),
        };
        if !permitted || self.no_policies {
            return Err(io::Error::from_raw_os_error(EPERM));
        }
        self.edit(|state| {
            state.policy = policy;
            state.priority = priority;
        });
        Ok(())
    }

    fn set_nice(&self, nice: i8) -> io::Result<()> {
        if nice < self.state.get().nice && nice < self.nice_floor {
            return Err(io::Error::from_raw_os_error(EACCES));
        }
        self.edit(|state| state.nice = nice);
        Ok(())
    }

    fn rtprio_limit(&self) -> u8 {
        self.rtprio
    }

    fn nice_floor(&self) -> i8 {
        self.nice_floor
    }
}

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;

fn order(priority: Priority) -> Order {
    Order::new(Some(priority), PLAIN)
}

fn state(granted: &Granted) -> State {
    State { policy: granted.policy(), priority: granted.priority(), nice: granted.nice() }
}

/// Also checks that the report is what the model holds.
fn fall_back_to(model: &Model, order: Order) -> (State, Option<PriorityError>) {
    let granted = order.apply_or_fall_back(model);
    assert_eq!(state(&granted), model.current());
    (state(&granted), granted.exact().err())
}

#[test]
fn realtime_is_clamped_to_the_limit() {
    for limit in [0, 1, 10, 99] {
        for asked in [0, 1, 50, 99, 200] {
            let model = Model::new(limit, 20);
            let (state, shortfall) = fall_back_to(&model, order(Priority::Fifo(asked)));
            let wanted = asked.clamp(1, 99);
            let expected = if limit == 0 { PLAIN } else { fifo(wanted.min(limit)) };
            assert_eq!(state, expected, "limit {limit}, asked {asked}");
            assert_eq!(shortfall.is_some(), limit < wanted, "limit {limit}, asked {asked}");
            if let Some(shortfall) = shortfall {
                assert_eq!(shortfall.asked(), Priority::Fifo(asked));
                assert_eq!(shortfall.kind(), io::ErrorKind::PermissionDenied);
            }
        }
    }
}

#[test]
fn apply_takes_a_weaker_priority_of_the_same_kind_and_says_why() {
    let model = Model::new(50, 10);
    let granted = order(Priority::RoundRobin(70)).apply(&model).unwrap();
    assert_eq!((granted.policy(), granted.priority()), (Policy::RoundRobin, 50));
    assert!(granted.shortfall().is_some());

    let model = Model::new(0, -10);
    let granted = order(Priority::Nice(-20)).apply(&model).unwrap();
    assert_eq!(granted.nice(), -10);
    assert!(granted.shortfall().is_some());
}

#[test]
fn apply_answers_alike_when_asked_twice() {
    for (priority, expected) in [(Priority::Nice(-20), nice(-10)), (Priority::Fifo(70), fifo(5))] {
        let model = Model::new(5, -10);
        for _ in 0..2 {
            let granted = Order::new(Some(priority), model.current()).apply(&model).unwrap();
            assert_eq!(state(&granted), expected);
            assert!(granted.shortfall().is_some());
        }
    }
}

#[test]
fn refused_apply_changes_nothing() {
    let idle = State { policy: Policy::Idle, priority: 0, nice: 5 };
    let round_robin = State { policy: Policy::RoundRobin, priority: 3, nice: 0 };
    for start in [PLAIN, nice(7), round_robin, idle] {
        for priority in [Priority::Nice(-20), Priority::Fifo(70)] {
            let model = Model::new(0, 20).starting(start);
            let error = order(priority).apply(&model).unwrap_err();
            assert_eq!(error.asked(), priority);
            assert_eq!(model.current(), start, "{priority}");
        }
    }
}

#[test]
fn idle_thread_can_be_given_a_nice_value() {
    let idle = State { policy: Policy::Idle, priority: 0, nice: 5 };
    let model = Model::new(0, -5).starting(idle);
    let granted = order(Priority::Nice(-5)).apply(&model).unwrap();
    assert_eq!(state(&granted), nice(-5));
}

#[test]
fn refused_realtime_becomes_the_strongest_nice() {
    let mut model = Model::new(99, -11);
    model.no_budget = true;
    let (state, shortfall) = fall_back_to(&model, order(Priority::Fifo(50)));
    assert_eq!(state, nice(-11));
    assert_eq!(shortfall.unwrap().asked(), Priority::Fifo(50));
}

#[test]
fn realtime_priority_of_the_spawner_may_be_lowered_or_kept_without_a_limit() {
    let model = Model::new(0, 20).starting(fifo(70));
    assert_eq!(fall_back_to(&model, order(Priority::Fifo(50))).0, fifo(50));

    let model = Model::new(0, 20).starting(fifo(20));
    let (state, shortfall) = fall_back_to(&model, order(Priority::Fifo(50)));
    assert_eq!(state, fifo(20));
    assert!(shortfall.is_some());
}

#[test]
fn realtime_policy_of_the_spawner_ends_unless_it_was_asked_for() {
    for asked in [None, Some(Priority::Nice(0)), Some(Priority::Nice(-20)), Some(Priority::RoundRobin(9))] {
        let model = Model::new(0, 20).starting(fifo(70));
        let (state, _) = fall_back_to(&model, Order::new(asked, fifo(70)));
        assert_eq!(state, PLAIN, "{asked:?}");
    }
}

#[test]
fn without_a_priority_only_a_weakness_is_inherited() {
    let batch = |nice| State { policy: Policy::Batch, priority: 0, nice };
    for (start, expected) in [
        (PLAIN, PLAIN),
        (nice(-5), PLAIN),
        (nice(5), nice(5)),
        (batch(-5), batch(0)),
        (fifo(70), PLAIN),
        (State { nice: 5, ..fifo(70) }, nice(5)),
        (State { nice: -5, ..fifo(70) }, PLAIN),
    ] {
        let model = Model::new(0, 20).starting(start);
        let (state, shortfall) = fall_back_to(&model, Order::new(None, start));
        assert_eq!(state, expected);
        assert!(shortfall.is_none());
    }
}

#[test]
fn inherit_gives_what_the_spawner_has_even_if_that_resets_on_fork() {
    for spawner in [fifo(30), nice(-5), nice(5)] {
        let reset = nice(if spawner.policy == Policy::Fifo { 0 } else { spawner.nice.max(0) });
        let model = Model::new(99, -20).starting(reset);
        let (state, shortfall) = fall_back_to(&model, Order::new(Some(Priority::Inherit), spawner));
        assert_eq!(state, spawner);
        assert!(shortfall.is_none());
    }
}

#[test]
fn refused_inherit_names_what_the_spawner_has() {
    let model = Model::new(0, 20);
    let (state, shortfall) = fall_back_to(&model, Order::new(Some(Priority::Inherit), fifo(30)));
    assert_eq!(state, PLAIN);
    assert_eq!(shortfall.unwrap().asked(), Priority::Fifo(30));
}

#[test]
fn deadline_cannot_be_inherited() {
    let deadline = State { policy: Policy::Deadline, priority: 0, nice: 0 };
    let (state, shortfall) =
        fall_back_to(&Model::new(99, -20), Order::new(Some(Priority::Inherit), deadline));
    assert_eq!(state, nice(-20));
    assert!(shortfall.is_some());
}

#[test]
fn priority_not_below_the_audio_thread_is_lowered() {
    for (asked, audio, expected) in [(70, 70, 69), (99, 10, 9), (1, 2, 1), (50, 70, 50), (60, 2, 1)] {
        let model = Model::new(99, 20);
        let (state, shortfall) = fall_back_to(&model, order(Priority::Fifo(asked)).below(audio));
        assert_eq!(state, fifo(expected));
        let reason = shortfall.map(|shortfall| shortfall.kind());
        assert_eq!(reason, (asked >= audio).then_some(io::ErrorKind::InvalidInput));
    }
}

#[test]
fn below_one_leaves_nice() {
    for audio in [0, 1] {
        let model = Model::new(99, -15);
        let (state, shortfall) = fall_back_to(&model, order(Priority::RoundRobin(1)).below(audio));
        assert_eq!(state, nice(-15));
        assert_eq!(shortfall.unwrap().kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn below_concerns_realtime_only() {
    let model = Model::new(99, -20);
    let (state, shortfall) = fall_back_to(&model, order(Priority::Nice(-20)).below(0));
    assert_eq!(state, nice(-20));
    assert!(shortfall.is_none());
}

#[test]
fn success_without_effect_is_reported() {
    for priority in [Priority::Fifo(10), Priority::Nice(-5)] {
        let mut model = Model::new(99, -20);
        model.lies = true;
        let granted = order(priority).apply(&model).unwrap();
        assert_eq!(state(&granted), PLAIN);
        assert!(granted.shortfall().is_some());
    }
}

#[test]
fn nice_is_granted_where_policies_cannot_be_set() {
    for (asked, expected) in
        [(None, PLAIN), (Some(Priority::Nice(-5)), nice(-5)), (Some(Priority::Fifo(1)), nice(-20))]
    {
        let mut model = Model::new(99, -20);
        model.no_policies = true;
        let (state, shortfall) = fall_back_to(&model, Order::new(asked, PLAIN));
        assert_eq!(state, expected);
        assert_eq!(shortfall.is_some(), asked == Some(Priority::Fifo(1)));
    }
}
