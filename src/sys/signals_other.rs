//! Signal masks where this crate does not set them.

/// Blocks nothing here.
pub(crate) struct SignalsBlocked;

impl SignalsBlocked {
    pub(crate) fn new() -> Self {
        SignalsBlocked
    }
}
