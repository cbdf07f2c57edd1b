//! The "spin-then-block" mutex of the 1990s: looks so many times, then behaves as the fast one.

use std::hint::spin_loop;

use super::Lock;
use super::fast::Fast;

/// The order of what was usual then. On one processor the originals did not spin at all.
const LOOKS: u32 = 4000;

pub(crate) struct SpinThenBlock(Fast);

impl Lock for SpinThenBlock {
    const NAME: &'static str = "spin-then-block mutex of the 1990s over Semaphore";
    const OURS: bool = true;

    fn new() -> Self {
        SpinThenBlock(Fast::new())
    }

    #[inline]
    fn locked(&self, critical: impl FnOnce()) {
        if !(0..LOOKS).any(|_| self.0.try_enter() || pause()) {
            self.0.enter();
        }
        critical();
        self.0.leave();
    }
}

fn pause() -> bool {
    spin_loop();
    false
}
