//! Follows every path through a function and what it calls.
//!
//! Without a backward branch and without recursion each path is finite, so the longest one can be counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::image::{Destination, Effect, Function, Image};

/// What a realtime-safe function must not contain on any path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    BackwardBranch,
    Recursion,
    RepeatedInstruction,
    /// To code that is neither this crate's nor rustix's: an allocation, a panic, a lock, libc.
    ForeignCall,
    UnknownDestination,
    ThreadLocal,
    Trap,
    /// Found only where `abort` is not allowed.
    Abort,
    SystemCalls,
}

/// A fault, and where it is.
pub(crate) type Report = (Fault, String);

/// What can happen between entering a function and returning from it.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    /// `None` if no path returns.
    pub(crate) to_return: Option<Cost>,
    pub(crate) aborts: bool,
    pub(crate) reports: BTreeSet<Report>,
}

/// The least and the most of all paths to a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) instructions: Range,
    pub(crate) system_calls: Range,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Range {
    pub(crate) const fn exactly(n: u32) -> Self {
        Range { least: n, most: n }
    }

    fn then(self, next: Range) -> Self {
        Range { least: self.least + next.least, most: self.most + next.most }
    }

    fn or(self, other: Range) -> Self {
        Range { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            f.pad(&self.least.to_string())
        } else {
            f.pad(&format!("{}–{}", self.least, self.most))
        }
    }
}

impl Cost {
    fn then(self, next: Cost) -> Self {
        Cost {
            instructions: self.instructions.then(next.instructions),
            system_calls: self.system_calls.then(next.system_calls),
        }
    }

    fn or(self, other: Cost) -> Self {
        Cost {
            instructions: self.instructions.or(other.instructions),
            system_calls: self.system_calls.or(other.system_calls),
        }
    }
}

/// The function that ends the process. It does not return, and only `Clone` may call it.
const ABORT: &str = "std::process::abort";

/// Whose functions are followed. A call to any other is a fault.
const FOLLOWED: [&str; 4] = ["rt_notify::", "rustix::", "probe_", "planted_"];

pub(crate) struct Checker<'i> {
    image: &'i Image,
    known: HashMap<u64, Paths>,
    /// The functions that are being followed.
    active: Vec<u64>,
}

impl<'i> Checker<'i> {
    pub(crate) fn new(image: &'i Image) -> Self {
        Checker { image, known: HashMap::new(), active: Vec::new() }
    }

    /// All paths through the function at `start`.
    pub(crate) fn follow(&mut self, start: u64) -> Paths {
        if let Some(known) = self.known.get(&start) {
            return known.clone();
        }
        let function = self.image.function(start).expect("destinations were looked up");
        self.active.push(start);
        let paths = self.walk(start, function);
        self.active.pop();
        self.known.insert(start, paths.clone());
        paths
    }

    /// Instructions in the order of their addresses: when it is an instruction's turn, all paths to it are known, as
    /// branches go forward. Those on no path, such as unwinding's landing pads, have no turn: no callee unwinds.
    fn walk(&mut self, start: u64, function: &Function) -> Paths {
        let mut paths = Paths::default();
        let mut reached = BTreeMap::from([(start, Cost::default())]);
        while let Some((at, cost)) = reached.pop_first() {
            let Some(instruction) = function.instructions.get(&at) else {
                paths.report(Fault::UnknownDestination, format!("{} runs off its end", function.name));
                continue;
            };
            let place = format!("{} at {at:x}: {}", function.name, instruction.text);
            if instruction.is_thread_local() {
                paths.report(Fault::ThreadLocal, place.clone());
            }
            if instruction.is_repeated() {
                paths.report(Fault::RepeatedInstruction, place.clone());
            }

            let mut cost = cost;
            cost.instructions = cost.instructions.then(Range::exactly(1));
            let mut falls_through = true;
            match &instruction.effect {
                Effect::Next => {}
                Effect::SystemCall => cost.system_calls = cost.system_calls.then(Range::exactly(1)),
                Effect::Trap => {
                    paths.report(Fault::Trap, place);
                    falls_through = false;
                }
                Effect::Return => {
                    paths.return_after(cost);
                    falls_through = false;
                }
                Effect::Call(to) => match self.enter(to, &place, &mut paths) {
                    Some(callee) => cost = cost.then(callee),
                    None => falls_through = false,
                },
                Effect::Jump { to: Destination::Address(to), .. } if *to > at && is_within(function, *to) => {
                    merge(&mut reached, *to, cost);
                }
                Effect::Jump { to: Destination::Address(to), .. }
                    if *to == start || is_within(function, *to) =>
                {
                    paths.report(Fault::BackwardBranch, place);
                }
                // A call in the last place.
                Effect::Jump { to, .. } => {
                    if let Some(callee) = self.enter(to, &place, &mut paths) {
                        paths.return_after(cost.then(callee));
                    }
                }
            }
            if let Effect::Jump { conditional, .. } = instruction.effect {
                falls_through = conditional;
            }
            if falls_through && let Some((&next, _)) = function.instructions.range(at + 1..).next() {
                merge(&mut reached, next, cost);
            } else if falls_through {
                paths.report(Fault::UnknownDestination, format!("{} runs off its end", function.name));
            }
        }
        paths
    }

    /// What the callee costs; `None` if it does not return, or is not followed.
    fn enter(&mut self, to: &Destination, place: &str, paths: &mut Paths) -> Option<Cost> {
        let (start, callee) = match to {
            Destination::Unknown => {
                paths.report(Fault::UnknownDestination, place.to_owned());
                return Some(Cost::default());
            }
            Destination::Foreign(name) => {
                paths.report(Fault::ForeignCall, format!("{place} calls {name}"));
                return Some(Cost::default());
            }
            &Destination::Address(start) => match self.image.function(start) {
                Some(callee) => (start, callee),
                None => {
                    paths.report(Fault::UnknownDestination, place.to_owned());
                    return Some(Cost::default());
                }
            },
        };
        if callee.name == ABORT {
            paths.aborts = true;
            return None;
        }
        if self.active.contains(&start) {
            paths.report(Fault::Recursion, place.to_owned());
            return Some(Cost::default());
        }
        if !is_followed(&callee.name) {
            if callee.name.contains("__tls_get_addr") {
                paths.report(Fault::ThreadLocal, place.to_owned());
            }
            paths.report(Fault::ForeignCall, format!("{place} calls {}", callee.name));
            return Some(Cost::default());
        }
        let callee = self.follow(start);
        paths.aborts |= callee.aborts;
        paths.reports.extend(callee.reports);
        callee.to_return
    }
}

impl Paths {
    fn report(&mut self, fault: Fault, place: String) {
        self.reports.insert((fault, place));
    }

    fn return_after(&mut self, cost: Cost) {
        self.to_return = Some(self.to_return.map_or(cost, |known| known.or(cost)));
    }
}

fn merge(reached: &mut BTreeMap<u64, Cost>, at: u64, cost: Cost) {
    reached.entry(at).and_modify(|known| *known = known.or(cost)).or_insert(cost);
}

fn is_within(function: &Function, at: u64) -> bool {
    function.instructions.contains_key(&at)
}

/// `rt_notify::f`, and `<rt_notify::T as Trait>::f`.
fn is_followed(name: &str) -> bool {
    let name = name.strip_prefix('<').unwrap_or(name);
    FOLLOWED.iter().any(|prefix| name.starts_with(prefix))
}
