//! A model of the futex and of the clock for loom, with what the models observe besides.
//!
//! loom switches threads before operations on its own objects, and nowhere else. So whatever follows such an
//! operation here is one step with it, and noting it adds no interleavings. All threads of a model are coroutines on
//! one thread of the system: what is not known to loom lives in a [`World`] per system thread.
//!
//! The kernel promises no order of memory to the language, so the model gives as little as loom allows: none to a
//! wait that does not sleep, and none to a wake that finds nobody. Only a real wake orders the waker before the sleeper.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::{self, Thread, ThreadId};

use crate::sync::atomic::{AtomicU32, Ordering};

/// What the kernel keeps by address, and therefore outlives the word.
#[derive(Default)]
struct World {
    queues: Vec<Queue>,
    main: Option<ThreadId>,
    far_from_limit: bool,
    stale_looks: bool,
    clock: Option<Rc<Touch>>,
    time: Cell<Duration>,
    sleeps: u64,
}

struct Queue {
    touch: Rc<Touch>,
    sleepers: VecDeque<Sleeper>,
    rings: u32,
    last_added: HashMap<ThreadId, Added>,
}

struct Sleeper {
    sleep: u64,
    thread: Thread,
    until: Option<Instant>,
}

/// What a thread's last `fetch_add` met.
struct Added {
    old: u32,
    sleeps: Vec<u64>,
}

/// Tells loom that a step depends on other steps that touch the same, without ordering memory.
struct Touch(loom::sync::atomic::AtomicU32);

impl Touch {
    fn new() -> Rc<Self> {
        Rc::new(Touch(loom::sync::atomic::AtomicU32::new(0)))
    }

    fn touch(&self) {
        newest(&self.0, 0, Relaxed);
    }
}

/// The newest value, which a load need not return. Changes nothing.
fn newest(word: &loom::sync::atomic::AtomicU32, guess: u32, order: Ordering) -> u32 {
    // An exchange reads the newest value even if it fails, as nearly all of these do.
    match word.compare_exchange(!guess, !guess, order, order) {
        Ok(value) | Err(value) => value,
    }
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn with_world<T>(f: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with(|world| f(&mut world.borrow_mut()))
}

/// Begins an execution.
pub(crate) fn reset() {
    with_world(|world| *world = World { main: Some(thread::current().id()), ..World::default() });
}

/// In this execution threads other than the main one load words only to see that a count is far from its limit. All
/// values say so: do not explore each of them.
pub(crate) fn far_from_limit() {
    with_world(|world| world.far_from_limit = true);
}

/// In this execution a load of a word returns any value that the memory model allows.
///
/// Elsewhere it returns the newest. That is no loss where a thread did nothing else between: a stale look is a look
/// that came earlier, and loom tries those orders. It is a gain besides: loom remembers only the last access to an
/// atomic, so a thread's plain load hides from it that the read-modify-write after it races with another's load.
pub(crate) fn stale_looks() {
    with_world(|world| world.stale_looks = true);
}

// ---- the clock -----------------------------------------------------------------------------------------------------

/// A deadline that has passed before the model begins. A timeout that strikes after any delay is the same as a
/// scheduler that waits so long before the call.
pub(crate) fn past() -> Instant {
    *START
}

/// A deadline that passes in [`strike`].
pub(crate) fn noon() -> Instant {
    *START + Duration::from_secs(1)
}

/// Needed before [`strike`]; without it the clock stands, and looking at it costs no interleavings.
pub(crate) fn start_clock() {
    with_world(|world| world.clock = Some(Touch::new()));
}

pub(crate) fn now() -> Instant {
    touch_clock();
    *START + with_world(|world| world.time.get())
}

/// [`noon`] passes. Who sleeps sleeps on, until the kernel gets round to it in [`fire`].
pub(crate) fn strike() {
    touch_clock();
    with_world(|world| world.time.set(Duration::from_secs(1)));
}

/// Wakes those whose deadline has passed.
pub(crate) fn fire() {
    let touches: Vec<_> =
        with_world(|world| world.queues.iter().map(|queue| Rc::clone(&queue.touch)).collect());
    for (id, touch) in touches.iter().enumerate() {
        touch.touch();
        with_world(|world| {
            let now = *START + world.time.get();
            world.queues[id].rouse(|sleeper| sleeper.until.is_some_and(|at| at <= now));
        });
    }
}

fn touch_clock() {
    if let Some(clock) = with_world(|world| world.clock.clone()) {
        clock.touch();
    }
}

/// Instead of a sleep for a time.
pub(crate) fn sleep(_: Duration) {
    thread::yield_now();
}

// ---- the futex -----------------------------------------------------------------------------------------------------

pub(crate) struct Futex {
    word: AtomicU32,
    /// Its queue. The address would do as well.
    id: usize,
}

impl Futex {
    pub(crate) fn new(value: u32) -> Self {
        let touch = Touch::new();
        let id = with_world(|world| {
            world.queues.push(Queue {
                touch,
                sleepers: VecDeque::new(),
                rings: 0,
                last_added: HashMap::new(),
            });
            world.queues.len() - 1
        });
        Futex { word: AtomicU32::new(value), id }
    }

    pub(crate) fn wait(&self, expected: u32) {
        self.sleep(expected, None);
    }

    pub(crate) fn wait_until(&self, expected: u32, at: Instant) {
        self.sleep(expected, Some(at));
    }

    fn sleep(&self, expected: u32, until: Option<Instant>) {
        if until.is_some_and(|at| at <= past()) {
            return;
        }
        self.touch();
        // From here to `park` is one step, as under the kernel's lock.
        if newest(&self.word, expected, Relaxed) != expected {
            return;
        }
        let sleep = with_world(|world| {
            if until.is_some_and(|at| at <= *START + world.time.get()) {
                return None;
            }
            world.sleeps += 1;
            let sleep = world.sleeps;
            let thread = thread::current();
            world.queues[self.id].sleepers.push_back(Sleeper { sleep, thread, until });
            Some(sleep)
        });
        let Some(sleep) = sleep else { return };
        while with_world(|world| world.queues[self.id].sleepers.iter().any(|sleeper| sleeper.sleep == sleep))
        {
            thread::park();
        }
    }

    /// Reads nothing that the freeing of the word would end.
    pub(crate) fn wake(&self, n: u32) {
        self.touch();
        with_world(|world| {
            let queue = &mut world.queues[self.id];
            queue.rings += 1;
            let mut left = n;
            queue.rouse(|_| {
                let wakes = left > 0;
                left = left.saturating_sub(1);
                wakes
            });
        });
    }

    /// The atomic's own, which notes besides who slept when it happened.
    pub(crate) fn fetch_add(&self, n: u32, order: Ordering) -> u32 {
        let old = self.word.fetch_add(n, order);
        let thread = thread::current().id();
        with_world(|world| {
            let queue = &mut world.queues[self.id];
            let sleeps = queue.sleepers.iter().map(|sleeper| sleeper.sleep).collect();
            queue.last_added.insert(thread, Added { old, sleeps });
        });
        old
    }

    /// The newest value, or in a model with [`stale_looks`] any that the atomic's own `load` may return.
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        let glance = with_world(|world| world.far_from_limit && world.main != Some(thread::current().id()));
        if glance {
            loom::stop_exploring();
        }
        let stale = with_world(|world| world.stale_looks);
        let value = if stale { self.word.load(order) } else { newest(&self.word, 0, order) };
        if glance {
            loom::explore();
        }
        value
    }

    fn touch(&self) {
        let touch = with_world(|world| Rc::clone(&world.queues[self.id].touch));
        touch.touch();
    }

    // ---- observers -------------------------------------------------------------------------------------------------

    /// What the calling thread's last `fetch_add` returned; how many slept then; and how many of those sleep on,
    /// since nobody has woken them.
    ///
    /// A step of its own, that loom knows to depend on wakes: else it need not try to look before they are made.
    pub(crate) fn last_added(&self) -> (u32, usize, usize) {
        self.touch();
        let thread = thread::current().id();
        with_world(|world| {
            let queue = &world.queues[self.id];
            let added = &queue.last_added[&thread];
            let unrung = queue.sleepers.iter().filter(|sleeper| added.sleeps.contains(&sleeper.sleep));
            (added.old, added.sleeps.len(), unrung.count())
        })
    }

    /// How many system calls to wake were made.
    pub(crate) fn rings(&self) -> u32 {
        with_world(|world| world.queues[self.id].rings)
    }

    /// A signal handler runs in each sleeper.
    pub(crate) fn interrupt(&self) {
        self.touch();
        with_world(|world| world.queues[self.id].rouse(|_| true));
    }
}

impl Queue {
    fn rouse(&mut self, mut wakes: impl FnMut(&Sleeper) -> bool) {
        self.sleepers.retain(|sleeper| {
            let wakes = wakes(sleeper);
            if wakes {
                sleeper.thread.unpark();
            }
            !wakes
        });
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
