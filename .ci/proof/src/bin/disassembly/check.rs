//! Follows every path through a function and what it calls.
//!
//! Without a loop and without recursion each path is finite, so the longest one can be counted.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use crate::image::{Destination, Effect, Function, Image, Instruction};

/// What a realtime-safe function must not contain on any path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Loop,
    /// Stricter than that: a loop needs one, but a way back from a cold block to the end of the function is one as well.
    /// The functions have none as they stand. Inlined into others they may.
    BackwardBranch,
    Recursion,
    /// One that loops by itself, or is made to be repeated until it succeeds.
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

/// std's subtraction of two moments, by which `expect_next` tells how far ahead one is. There is no other way to look
/// into an `Instant`. It is arithmetic without a system call; if the difference is negative it calls itself once, with
/// the operands exchanged, and it can panic only on a difference that no clock can have. Not followed, for that reason.
const SUBTRACTIONS: [&str; 3] = [
    "std::time::Instant>::duration_since",
    "std::time::Instant>::saturating_duration_since",
    "std::sys::pal::unix::time::Timespec>::sub_timespec",
];

/// A function that is being followed.
struct Walk<'i> {
    function: &'i Function,
    start: u64,
    paths: Paths,
    /// The instructions visited; `None` while what follows them is.
    steps: HashMap<u64, Option<Step>>,
    /// Each instruction after all that follow it.
    order: Vec<u64>,
}

/// What follows an instruction, at what cost.
#[derive(Default)]
struct Step {
    next: Vec<(u64, Cost)>,
    returns: Vec<Cost>,
}

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

    fn walk(&mut self, start: u64, function: &Function) -> Paths {
        let mut walk =
            Walk { function, start, paths: Paths::default(), steps: HashMap::new(), order: Vec::new() };
        self.visit(start, &mut walk);

        // In this order all paths to an instruction are known when it is its turn.
        let Walk { mut paths, steps, order, .. } = walk;
        let mut reached = HashMap::from([(start, Cost::default())]);
        for at in order.into_iter().rev() {
            let Some(step) = &steps[&at] else { unreachable!("visited to its end") };
            let before = reached[&at];
            for &(to, cost) in &step.next {
                merge(&mut reached, to, before.then(cost));
            }
            for &cost in &step.returns {
                paths.return_after(before.then(cost));
            }
        }
        paths
    }

    /// Visits an instruction, and all that can follow it, depth first. Those on no path, such as the landing pads of
    /// unwinding, are not visited: no callee unwinds.
    fn visit(&mut self, at: u64, walk: &mut Walk<'_>) {
        let step = match walk.function.instructions.get(&at) {
            Some(instruction) => {
                walk.steps.insert(at, None);
                self.step(at, instruction, walk)
            }
            None => {
                let place = format!("{} runs off its end", walk.function.name);
                walk.paths.report(Fault::UnknownDestination, place);
                Step::default()
            }
        };
        let mut next = Vec::new();
        for (to, cost) in step.next {
            match walk.steps.get(&to) {
                // The way here led through it.
                Some(None) => {
                    let place = format!("{} comes back to {to:x}", walk.function.name);
                    walk.paths.report(Fault::Loop, place);
                }
                Some(Some(_)) => next.push((to, cost)),
                None => {
                    self.visit(to, walk);
                    next.push((to, cost));
                }
            }
        }
        walk.steps.insert(at, Some(Step { next, ..step }));
        walk.order.push(at);
    }

    /// Looks at one instruction, and follows a call that it makes.
    fn step(&mut self, at: u64, instruction: &Instruction, walk: &mut Walk<'_>) -> Step {
        let Walk { function, start, paths, .. } = walk;
        let place = format!("{} at {at:x}: {}", function.name, instruction.text);
        if let Some(fault) = instruction.fault {
            paths.report(fault, place.clone());
        }
        // Past the last instruction if there is none.
        let following = function.instructions.range(at + 1..).next().map_or(u64::MAX, |(&next, _)| next);
        let one = Cost { instructions: Range::exactly(1), system_calls: Range::default() };
        let mut step = Step::default();
        match &instruction.effect {
            Effect::Next => step.next.push((following, one)),
            Effect::SystemCall => {
                step.next.push((following, Cost { system_calls: Range::exactly(1), ..one }));
            }
            Effect::Trap => paths.report(Fault::Trap, place),
            Effect::Return => step.returns.push(one),
            Effect::Call(to) => {
                if let Some(callee) = self.enter(to, &place, paths) {
                    step.next.push((following, one.then(callee)));
                }
            }
            &Effect::Jump { ref to, conditional } => {
                match *to {
                    Destination::Address(to) if to == *start || function.instructions.contains_key(&to) => {
                        if to <= at {
                            paths.report(Fault::BackwardBranch, place);
                        }
                        step.next.push((to, one));
                    }
                    // A call in the last place.
                    _ => {
                        if let Some(callee) = self.enter(to, &place, paths) {
                            step.returns.push(one.then(callee));
                        }
                    }
                }
                if conditional {
                    step.next.push((following, one));
                }
            }
        }
        step
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
        if is_subtraction(&callee.name) {
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

fn merge(reached: &mut HashMap<u64, Cost>, at: u64, cost: Cost) {
    reached.entry(at).and_modify(|known| *known = known.or(cost)).or_insert(cost);
}

fn is_subtraction(name: &str) -> bool {
    let name = name.strip_prefix('<').unwrap_or(name);
    SUBTRACTIONS.contains(&name)
}

/// `rt_notify::f`, and `<rt_notify::T as Trait>::f`.
fn is_followed(name: &str) -> bool {
    let name = name.strip_prefix('<').unwrap_or(name);
    FOLLOWED.iter().any(|prefix| name.starts_with(prefix))
}
