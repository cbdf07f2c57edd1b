//! `std::sync::Mutex`.

use std::sync::Mutex;

use super::Lock;

pub(crate) struct StdMutex(Mutex<()>);

impl Lock for StdMutex {
    const NAME: &'static str = "std Mutex";

    fn new() -> Self {
        StdMutex(Mutex::new(()))
    }

    #[inline]
    fn locked(&self, critical: impl FnOnce()) {
        let _guard = self.0.lock().expect("nothing panics under it");
        critical();
    }
}
