//! How a waiter learns, once, that nothing more will come.
//!
//! CLOSED in the word does not end the waits by itself: what was pending when a taking operation saw it is handed out
//! first. That operation, and the waiter that made it, decide what came in time.

use crate::Closed;
use crate::word::Word;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// No taking operation has seen CLOSED.
    #[default]
    Open,
    /// One has, together with the last count. What is notified now comes too late.
    Come,
    /// The user was told [`Closed`].
    Told,
}

impl End {
    pub(crate) fn has_come(self) -> bool {
        self != End::Open
    }

    #[cfg(unix)]
    pub(crate) fn is_told(self) -> bool {
        self == End::Told
    }

    /// [`Closed`], from the wait on that follows the last count.
    pub(crate) fn tell_if_come(&mut self) -> Result<(), Closed> {
        if self.has_come() { Err(self.tell()) } else { Ok(()) }
    }

    /// What the user gets of a word that a wait's goal was met by, and that was taken.
    pub(crate) fn hand_out(&mut self, taken: Word) -> Result<u32, Closed> {
        if !taken.is_closed() {
            return Ok(taken.count());
        }
        *self = End::Come;
        if taken.count() > 0 { Ok(taken.count()) } else { Err(self.tell()) }
    }

    fn tell(&mut self) -> Closed {
        *self = End::Told;
        Closed
    }
}
