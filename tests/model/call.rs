//! What can be called.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use rt_notify::{NOTIFY_MANY_MAX, Periodic, WaitStrategy};

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Notify,
    NotifyMany(u32),
    Flush,
    ExpectNext,
    CloneNotifier,
    DropNotifier,
    CloneStopper,
    DropStopper,
    Stop,
    IsClosed,
    TryWait,
    /// `wait`, where it would not sleep.
    Wait,
    /// With a timeout of zero.
    WaitTimeout,
    /// `wait_for`, where it would not sleep.
    WaitFor(u32),
    /// With a deadline that has passed.
    WaitForDeadline(u32),
    /// Of a `Waiter`.
    SetStrategy(Way),
    /// Of a `PollWaiter`.
    PollLoop(Vec<Turn>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Block,
    Spin,
    Interval,
    Periodic,
}

impl Way {
    pub(crate) fn get(self) -> WaitStrategy {
        match self {
            Way::Block => WaitStrategy::Block,
            Way::Spin => WaitStrategy::Spin(Duration::from_micros(20)),
            Way::Interval => WaitStrategy::Interval(Duration::from_micros(20)),
            Way::Periodic => WaitStrategy::Periodic(Periodic::every(Duration::from_micros(500))),
        }
    }
}

/// What a loop does with its `PollLoop`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// Polls, and is notified meanwhile if nothing was pending.
    Poll,
    Notify,
    Flush,
    TryWait,
}

pub(crate) fn calls() -> impl Strategy<Value = Vec<Call>> {
    vec(call(), 0..80)
}

fn call() -> impl Strategy<Value = Call> {
    let target = prop_oneof![0..20_u32, 0..=u32::MAX];
    let many = prop_oneof![0..20_u32, NOTIFY_MANY_MAX - 1..NOTIFY_MANY_MAX + 2, Just(u32::MAX)];
    prop_oneof![
        8 => Just(Call::Notify),
        4 => many.prop_map(Call::NotifyMany),
        2 => Just(Call::Flush),
        1 => Just(Call::ExpectNext),
        2 => Just(Call::CloneNotifier),
        2 => Just(Call::DropNotifier),
        1 => Just(Call::CloneStopper),
        1 => Just(Call::DropStopper),
        1 => Just(Call::Stop),
        1 => Just(Call::IsClosed),
        4 => Just(Call::TryWait),
        4 => Just(Call::Wait),
        2 => Just(Call::WaitTimeout),
        4 => target.clone().prop_map(Call::WaitFor),
        4 => target.prop_map(Call::WaitForDeadline),
        2 => prop_oneof![Just(Way::Block), Just(Way::Spin), Just(Way::Interval), Just(Way::Periodic)]
        .prop_map(Call::SetStrategy),
        3 => vec(
            prop_oneof![Just(Turn::Poll), Just(Turn::Notify), Just(Turn::Flush), Just(Turn::TryWait)],
            0..8
        )
        .prop_map(Call::PollLoop),
    ]
}
