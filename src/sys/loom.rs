//! A model of the futex, of the descriptor and of the clock for loom, with what the models observe besides.
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

#[derive(Default)]
struct Queue {
    touch: Rc<Touch>,
    sleepers: VecDeque<Sleeper>,
    rings: u32,
    /// Of a descriptor: its state, and whether it was made so since a poller was told.
    readable: bool,
    changed: bool,
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

impl Default for Touch {
    fn default() -> Self {
        Touch(loom::sync::atomic::AtomicU32::new(0))
    }
}

impl Touch {
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
/// Elsewhere it returns the newest. That is no loss where a thread did nothing between its last operation on the word
/// and the look: a stale look is a look that came earlier, and loom tries those orders. (A thread that drained a
/// descriptor in between did something.) It is a gain besides: loom remembers only the last access to an
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
    with_world(|world| world.clock = Some(Rc::default()));
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

// ---- who sleeps ----------------------------------------------------------------------------------------------------

fn new_queue() -> usize {
    let queue = Queue::default();
    with_world(|world| {
        world.queues.push(queue);
        world.queues.len() - 1
    })
}

fn touch(id: usize) {
    let touch = with_world(|world| Rc::clone(&world.queues[id].touch));
    touch.touch();
}

/// Sleeps in that queue until it is roused. Begins in the same step as what the calling thread did last.
fn doze(id: usize, until: Option<Instant>) {
    let sleep = with_world(|world| {
        if until.is_some_and(|at| at <= *START + world.time.get()) {
            return None;
        }
        world.sleeps += 1;
        let sleep = world.sleeps;
        let thread = thread::current();
        world.queues[id].sleepers.push_back(Sleeper { sleep, thread, until });
        Some(sleep)
    });
    let Some(sleep) = sleep else { return };
    while with_world(|world| world.queues[id].sleepers.iter().any(|sleeper| sleeper.sleep == sleep)) {
        thread::park();
    }
}

// ---- the futex -----------------------------------------------------------------------------------------------------

pub(crate) struct Futex {
    word: AtomicU32,
    /// Its queue. The address would do as well.
    id: usize,
}

impl Futex {
    pub(crate) fn new(value: u32) -> Self {
        Futex { word: AtomicU32::new(value), id: new_queue() }
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
        touch(self.id);
        // From here to `park` is one step, as under the kernel's lock.
        if newest(&self.word, expected, Relaxed) != expected {
            return;
        }
        doze(self.id, until);
    }

    /// Reads nothing that the freeing of the word would end.
    pub(crate) fn wake(&self, n: u32) {
        touch(self.id);
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

    // ---- observers -------------------------------------------------------------------------------------------------

    /// A step that changes nothing, but that loom knows to depend on wakes: without it before an observation loom need
    /// not try to observe before they are made.
    pub(crate) fn touch(&self) {
        touch(self.id);
    }

    /// What the calling thread's last `fetch_add` returned; how many slept then; and how many of those sleep on,
    /// since nobody has woken them.
    pub(crate) fn last_added(&self) -> (u32, usize, usize) {
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
        touch(self.id);
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

// ---- the descriptor ------------------------------------------------------------------------------------------------

/// Readable or not. Whoever finds it readable learns nothing by that of what was written before.
pub(crate) struct Event {
    id: usize,
}

impl Event {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Event { id: new_queue() })
    }

    pub(crate) fn post(&self) {
        touch(self.id);
        with_world(|world| {
            let queue = &mut world.queues[self.id];
            queue.rings += 1;
            queue.readable = true;
            queue.changed = true;
            queue.rouse(|_| true);
        });
    }

    pub(crate) fn drain(&self) {
        touch(self.id);
        with_world(|world| world.queues[self.id].readable = false);
    }

    /// As a poller does that is told of a state.
    pub(crate) fn sleep(&self, until: Option<Instant>) {
        if until.is_some_and(|at| at <= past()) {
            return;
        }
        touch(self.id);
        if !with_world(|world| world.queues[self.id].readable) {
            doze(self.id, until);
        }
    }

    /// As a poller does that is told of a change, once, if it is readable by then. `None` is for ever.
    pub(crate) fn sleep_until_changed(&self, timeout: Option<Duration>) {
        let told = || {
            touch(self.id);
            with_world(|world| {
                let queue = &mut world.queues[self.id];
                std::mem::take(&mut queue.changed) && queue.readable
            })
        };
        // After a sleep the change is looked for once more, and is told of.
        if !told() && timeout.is_none() {
            doze(self.id, None);
            told();
        }
    }

    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("models sleep on the event itself")
    }

    // ---- observers -------------------------------------------------------------------------------------------------

    /// As [`Futex::touch`], of posts.
    pub(crate) fn touch(&self) {
        touch(self.id);
    }

    pub(crate) fn is_readable(&self) -> bool {
        with_world(|world| world.queues[self.id].readable)
    }

    pub(crate) fn has_sleeper(&self) -> bool {
        with_world(|world| !world.queues[self.id].sleepers.is_empty())
    }

    /// How many system calls to write were made.
    pub(crate) fn posts(&self) -> u32 {
        with_world(|world| world.queues[self.id].rings)
    }
}
