//! Random sequences of calls, each of whose results a model knows: both backends, all strategies.
//!
//! One thread does all of it: what several do at once is for `loom/`. Waits that would sleep are given a deadline that has
//! passed.
#![cfg(all(unix, not(rt_notify_loom)))]

#[path = "model/call.rs"]
mod call;
#[path = "model/reference.rs"]
mod reference;
#[path = "model/subject.rs"]
mod subject;

use call::{Call, calls};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use reference::{Answer, Mistake, Reference};
use rt_notify::{Notifier, PollWaiter, Waiter};
use subject::{Pair, Waiting};

fn run<W: Waiting>(mistake: Mistake, new: impl Fn() -> (Notifier, W)) -> Result<(), TestError<Vec<Call>>> {
    let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&calls(), |calls| {
        let (notifier, waiter) = new();
        let mut pair = Pair::new(notifier, waiter);
        let mut reference = Reference::new(mistake, W::HAS_POLL_LOOP);
        for (n, call) in calls.iter().enumerate() {
            let expected = reference.take(call);
            let found = pair.take(call, expected != Answer::NotCalled);
            if expected != found {
                let why = format!("call {n}, {call:?}: expected {expected:?}, found {found:?}");
                return Err(TestCaseError::fail(why));
            }
            pair.check(&reference)
                .map_err(|why| TestCaseError::fail(format!("after call {n}, {call:?}: {why}")))?;
        }
        Ok(())
    })
}

fn futex() -> (Notifier, Waiter) {
    Notifier::new()
}

fn descriptor() -> (Notifier, PollWaiter) {
    Notifier::pollable().expect("a descriptor is left")
}

#[test]
fn a_waiter_does_what_the_model_does() {
    run(Mistake::None, futex).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_poll_waiter_does_what_the_model_does() {
    run(Mistake::None, descriptor).unwrap_or_else(|error| panic!("{error}"));
}

/// Otherwise the tests above would prove nothing.
#[test]
fn every_mistake_in_the_model_is_found() {
    for mistake in Mistake::ALL {
        assert!(run(mistake, futex).is_err(), "{mistake:?} of a Waiter");
        assert!(run(mistake, descriptor).is_err(), "{mistake:?} of a PollWaiter");
    }
}
