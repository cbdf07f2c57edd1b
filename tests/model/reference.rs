//! What the library promises, in the simplest words.

use super::call::{Call, Turn};

/// What a call returns, whatever its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Nothing,
    Count(u32),
    /// Nothing was there, or not in time.
    Empty,
    Closed,
    Flag(bool),
    /// Of the turns of a loop.
    Turns(Vec<Answer>),
    /// It would sleep, or there is nobody left to call it.
    NotCalled,
}

/// A fault planted in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    /// `try_wait` ends by a flush, and consumes it.
    TryWaitTakesTheFlush,
    /// A `wait_for` that returns enough leaves the flush.
    EnoughLeavesTheFlush,
    /// A timeout takes what was there.
    TimeoutTakes,
    /// What is pending at the end is not handed out.
    CloseDropsWhatIsPending,
    /// What comes after the end is handed out.
    CountsAfterTheEnd,
    /// More than `NOTIFY_MANY_MAX` is only counted.
    TooManyDoNotFlush,
}

impl Mistake {
    pub(crate) const ALL: [Mistake; 6] = [
        Mistake::TryWaitTakesTheFlush,
        Mistake::EnoughLeavesTheFlush,
        Mistake::TimeoutTakes,
        Mistake::CloseDropsWhatIsPending,
        Mistake::CountsAfterTheEnd,
        Mistake::TooManyDoNotFlush,
    ];
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    mistake: Mistake,
    count: u32,
    flush: bool,
    closed: bool,
    /// What was pending at the end has been handed out.
    ended: bool,
    /// The waiter has said so.
    told: bool,
    notifiers: u32,
    stoppers: u32,
    has_poll_loop: bool,
}

impl Reference {
    pub(crate) fn new(mistake: Mistake, has_poll_loop: bool) -> Self {
        Reference {
            mistake,
            count: 0,
            flush: false,
            closed: false,
            ended: false,
            told: false,
            notifiers: 1,
            stoppers: 1,
            has_poll_loop,
        }
    }

    /// Whether a wait would not sleep.
    pub(crate) fn is_pending(&self) -> bool {
        self.count > 0 || self.closed
    }

    /// Whether there is something that a poller must be woken for.
    pub(crate) fn wakes_a_poller(&self) -> bool {
        if self.ended { !self.told } else { self.is_pending() }
    }

    pub(crate) fn take(&mut self, call: &Call) -> Answer {
        let is_notifiers = matches!(
            call,
            Call::Notify
                | Call::NotifyMany(_)
                | Call::Flush
                | Call::ExpectNext
                | Call::CloneNotifier
                | Call::DropNotifier
                | Call::IsClosed
        );
        let is_stoppers = matches!(call, Call::CloneStopper | Call::DropStopper | Call::Stop);
        if is_notifiers && self.notifiers == 0 || is_stoppers && self.stoppers == 0 {
            return Answer::NotCalled;
        }
        match call {
            Call::Notify => self.notify(1),
            Call::NotifyMany(n) => self.notify(*n),
            Call::Flush => self.flush = true,
            Call::ExpectNext | Call::SetStrategy(_) => {}
            Call::CloneNotifier => self.notifiers += 1,
            Call::DropNotifier => {
                self.notifiers -= 1;
                self.closed |= self.notifiers == 0;
            }
            Call::CloneStopper => self.stoppers += 1,
            Call::DropStopper => self.stoppers -= 1,
            Call::Stop => self.closed = true,
            Call::IsClosed => return Answer::Flag(self.closed),
            Call::TryWait => return self.try_wait(),
            Call::WaitTimeout => return self.wait_at_once(),
            // A mistaken model could take one that sleeps for one that does not.
            Call::Wait | Call::WaitFor(_) if self.mistake != Mistake::None => return Answer::NotCalled,
            Call::Wait if self.is_pending() => return self.wait_at_once(),
            Call::WaitFor(n) if self.is_met(*n) => return self.wait_for(*n),
            Call::Wait | Call::WaitFor(_) => return Answer::NotCalled,
            Call::WaitForDeadline(n) => return self.wait_for(*n),
            Call::PollLoop(_) if !self.has_poll_loop => return Answer::NotCalled,
            Call::PollLoop(turns) => {
                return Answer::Turns(turns.iter().map(|turn| self.turn(*turn)).collect());
            }
        }
        Answer::Nothing
    }

    fn notify(&mut self, n: u32) {
        self.count += n.min(rt_notify::NOTIFY_MANY_MAX);
        if n > rt_notify::NOTIFY_MANY_MAX && self.mistake != Mistake::TooManyDoNotFlush {
            self.flush = true;
        }
    }

    fn try_wait(&mut self) -> Answer {
        if self.mistake == Mistake::TryWaitTakesTheFlush && self.flush && !self.ended {
            self.flush = false;
            return Answer::Count(self.hand_out());
        }
        self.wait_at_once()
    }

    /// All that is there; at the end what is left, and then nothing any more.
    fn wait_at_once(&mut self) -> Answer {
        if self.is_over() {
            return self.tell();
        }
        match self.hand_out() {
            0 if self.closed => self.tell(),
            0 => Answer::Empty,
            n => Answer::Count(n),
        }
    }

    fn is_met(&self, n: u32) -> bool {
        self.count >= n.clamp(1, LIMIT) || self.closed || self.flush
    }

    fn wait_for(&mut self, n: u32) -> Answer {
        if self.is_over() {
            return self.tell();
        }
        if !self.is_met(n) {
            if self.mistake == Mistake::TimeoutTakes {
                self.count = 0;
            }
            return Answer::Empty;
        }
        let is_enough = self.count >= n.clamp(1, LIMIT);
        if !(is_enough && self.mistake == Mistake::EnoughLeavesTheFlush) {
            self.flush = false;
        }
        match self.hand_out() {
            0 if self.closed => self.tell(),
            n => Answer::Count(n),
        }
    }

    fn tell(&mut self) -> Answer {
        self.told = true;
        Answer::Closed
    }

    fn is_over(&self) -> bool {
        self.ended && !(self.mistake == Mistake::CountsAfterTheEnd && self.count > 0)
    }

    fn hand_out(&mut self) -> u32 {
        self.ended |= self.closed;
        let count = std::mem::take(&mut self.count);
        if self.closed && self.mistake == Mistake::CloseDropsWhatIsPending { 0 } else { count }
    }

    fn turn(&mut self, turn: Turn) -> Answer {
        match turn {
            Turn::Poll => {
                let is_pending = self.wakes_a_poller();
                if !is_pending && self.notifiers > 0 {
                    self.notify(1);
                }
                return Answer::Flag(is_pending);
            }
            Turn::Notify if self.notifiers > 0 => self.notify(1),
            Turn::Flush if self.notifiers > 0 => self.flush = true,
            Turn::Notify | Turn::Flush => return Answer::NotCalled,
            Turn::TryWait => return self.try_wait(),
        }
        Answer::Nothing
    }
}

/// Where counting stops, and so the largest target.
const LIMIT: u32 = 1 << 23;
