//! rtrb by itself: its reader can only look again and again.

use std::hint::spin_loop;
use std::thread::sleep;
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};

use super::{Manner, Read, Ring, Write};

impl<const N: usize> Write<N> for Producer<u32> {
    #[inline]
    fn write(&mut self, message: &[u32; N]) -> bool {
        match message[..] {
            [item] if N == 1 => self.push(item).is_ok(),
            _ => self.push_entire_slice(message).is_ok(),
        }
    }
}

/// As disk-streaming crates do.
pub(crate) struct Sleeping;
pub(crate) struct Sleeper(Consumer<u32>);

impl Ring for Sleeping {
    const NAME: &'static str = "rtrb, looked at every 1 ms";
    const MANNER: Manner = Manner::Looking;
    type Writer<const N: usize> = Producer<u32>;
    type Reader<const N: usize> = Sleeper;

    fn make<const N: usize>(capacity: usize) -> Result<(Producer<u32>, Sleeper), String> {
        let (producer, consumer) = RingBuffer::new(capacity * N);
        Ok((producer, Sleeper(consumer)))
    }
}

impl<const N: usize> Read<N> for Sleeper {
    #[inline]
    fn wait(&mut self, wanted: usize) -> usize {
        loop {
            match self.0.slots() / N {
                messages if messages >= wanted => return messages,
                _ => sleep(Duration::from_millis(1)),
            }
        }
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        read(&mut self.0, check);
    }
}

pub(crate) struct Spinning;
pub(crate) struct Spinner(Consumer<u32>);

impl Ring for Spinning {
    const NAME: &'static str = "rtrb, spun";
    const MANNER: Manner = Manner::Spinning;
    type Writer<const N: usize> = Producer<u32>;
    type Reader<const N: usize> = Spinner;

    fn make<const N: usize>(capacity: usize) -> Result<(Producer<u32>, Spinner), String> {
        let (producer, consumer) = RingBuffer::new(capacity * N);
        Ok((producer, Spinner(consumer)))
    }
}

impl<const N: usize> Read<N> for Spinner {
    #[inline]
    fn wait(&mut self, _: usize) -> usize {
        loop {
            match self.0.slots() / N {
                0 => spin_loop(),
                messages => return messages,
            }
        }
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        read(&mut self.0, check);
    }
}

/// The capacity is a multiple of `N`: a message never goes over the ring's end, and can be looked at in place.
#[inline]
fn read<const N: usize>(consumer: &mut Consumer<u32>, check: impl FnOnce(&[u32; N])) {
    if N == 1 {
        check(&[consumer.pop().expect("it is there"); N]);
        return;
    }
    let chunk = consumer.read_chunk(N).expect("it is there");
    check(chunk.as_slices().0.try_into().expect("it is in one piece"));
    chunk.commit_all();
}
