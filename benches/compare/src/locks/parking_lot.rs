//! `parking_lot::Mutex`.

use parking_lot::Mutex;

use super::Lock;

pub(crate) struct ParkingLot(Mutex<()>);

impl Lock for ParkingLot {
    const NAME: &'static str = "parking_lot Mutex";

    fn new() -> Self {
        ParkingLot(Mutex::new(()))
    }

    #[inline]
    fn locked(&self, critical: impl FnOnce()) {
        let _guard = self.0.lock();
        critical();
    }
}
