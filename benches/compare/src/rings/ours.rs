//! This project's ring, by the ways in which its reader can wait.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::time::Duration;

use rt_notify::WaitStrategy;
use rt_notify::ring::{self, RtProducer};

use super::{Manner, Read, Ring, Write};

/// How the reader waits.
pub(crate) trait Way: Send + 'static {
    const NAME: &'static str;
    const MANNER: Manner;
    fn strategy() -> WaitStrategy;
}

pub(crate) struct Block;
impl Way for Block {
    const NAME: &'static str = "rt-notify ring";
    const MANNER: Manner = Manner::Blocking;
    fn strategy() -> WaitStrategy {
        WaitStrategy::Block
    }
}

pub(crate) struct Spin;
impl Way for Spin {
    const NAME: &'static str = "rt-notify ring, Spin of 100 µs";
    const MANNER: Manner = Manner::Blocking;
    fn strategy() -> WaitStrategy {
        WaitStrategy::Spin(Duration::from_micros(100))
    }
}

pub(crate) struct Interval;
impl Way for Interval {
    const NAME: &'static str = "rt-notify ring, Interval of 1 ms";
    const MANNER: Manner = Manner::Looking;
    fn strategy() -> WaitStrategy {
        WaitStrategy::Interval(Duration::from_millis(1))
    }
}

pub(crate) struct Waited<W>(PhantomData<W>);

pub(crate) struct Producer {
    producer: RtProducer<u32>,
    /// As many items fit at least. Asked only when it may be too little, as rtrb does inside: a push that is tried in
    /// vain would count as an overrun.
    room: usize,
}

pub(crate) struct Reader<W> {
    reader: ring::Reader<u32>,
    way: PhantomData<W>,
}

impl<W: Way> Ring for Waited<W> {
    const NAME: &'static str = W::NAME;
    const MANNER: Manner = W::MANNER;
    const OURS: bool = true;
    type Writer<const N: usize> = Producer;
    type Reader<const N: usize> = Reader<W>;

    fn make<const N: usize>(capacity: usize) -> Result<(Producer, Reader<W>), String> {
        let (producer, mut reader) = ring::capture(capacity * N);
        reader.waiter_mut().set_strategy(W::strategy());
        Ok((Producer { producer, room: 0 }, Reader { reader, way: PhantomData }))
    }
}

impl<const N: usize> Write<N> for Producer {
    #[inline]
    fn write(&mut self, message: &[u32; N]) -> bool {
        if self.room < N {
            self.room = self.producer.slots();
            if self.room < N {
                return false;
            }
        }
        self.room -= N;
        match message[..] {
            [item] if N == 1 => self.producer.push(item).is_ok(),
            _ => self.producer.push_slice(message).is_ok(),
        }
    }
}

impl<const N: usize, W: Way> Read<N> for Reader<W> {
    #[inline]
    fn wait(&mut self, wanted: usize) -> usize {
        self.reader.wait_for(wanted * N).map_or(0, |items| items / N)
    }

    #[inline]
    fn read(&mut self, check: impl FnOnce(&[u32; N])) {
        read(&mut self.reader, check);
    }
}

/// The reader looks at the ring again and again, and never sleeps.
pub(crate) struct Spun;
pub(crate) struct Spinner(ring::Reader<u32>);

impl Ring for Spun {
    const NAME: &'static str = "rt-notify ring, spun";
    const MANNER: Manner = Manner::Spinning;
    const OURS: bool = true;
    type Writer<const N: usize> = Producer;
    type Reader<const N: usize> = Spinner;

    fn make<const N: usize>(capacity: usize) -> Result<(Producer, Spinner), String> {
        let (producer, reader) = ring::capture(capacity * N);
        Ok((Producer { producer, room: 0 }, Spinner(reader)))
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
fn read<const N: usize>(reader: &mut ring::Reader<u32>, check: impl FnOnce(&[u32; N])) {
    if N == 1 {
        check(&[reader.pop().expect("it is there"); N]);
        return;
    }
    let chunk = reader.read_chunk(N).expect("it is there");
    check(chunk.as_slices().0.try_into().expect("it is in one piece"));
    chunk.commit_all();
}
