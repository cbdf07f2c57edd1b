//! What the process callbacks and the disk worker do, without a server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assert_no_alloc::{assert_no_alloc, permit_alloc};
use rt_notify::Worker;
use rt_notify::ring::{self, Reader};

use super::disk::{Saved, save};
use super::files::{CHANNELS, Directory, frames, ramp};
use super::frames::Output;
use super::player::Player;
use super::recorder::{Recorder, Tally};
use super::wav::Recording;

const RATE: u32 = 48_000;
/// Frame times wrap after the first few periods.
const START: u32 = u32::MAX - 100;
/// The longest period of these tests.
const LONGEST: usize = 8192;

/// A JACK server with a ramp at its inputs, which is the worker's master: it runs when the test says so.
struct Take {
    directory: Directory,
    recorder: Option<Recorder>,
    tally: Arc<Tally>,
    reader: Option<Reader<f32>>,
    frame: usize,
}

impl Take {
    fn new(ring_frames: usize, frames: u64) -> Take {
        let (producer, reader) = ring::capture(ring_frames * usize::from(CHANNELS));
        let tally = Arc::new(Tally::default());
        let recorder = Recorder::new(CHANNELS.into(), producer, frames, Arc::clone(&tally));
        Take { directory: Directory::new(), recorder: Some(recorder), tally, reader: Some(reader), frame: 0 }
    }

    /// A callback, as JACK makes it.
    fn period(&mut self, frames: usize) -> bool {
        let mut buffers = [[0.0; LONGEST]; 2];
        for (channel, buffer) in buffers.iter_mut().enumerate() {
            buffer[..frames]
                .iter_mut()
                .enumerate()
                .for_each(|(n, sample)| *sample = ramp(self.frame + n, channel));
        }
        let time = START.wrapping_add(u32::try_from(self.frame).unwrap());
        self.frame += frames;
        let recorder = self.recorder.as_mut().expect("it is running");
        let frames = u32::try_from(frames).unwrap();
        assert_no_alloc(|| recorder.period(time, frames, |channel| &buffers[channel][..frames as usize]))
    }

    /// JACK is late: these frames come to no callback.
    fn leave_out(&mut self, frames: usize) {
        self.frame += frames;
    }

    /// No more callbacks, then the worker's turn.
    fn end(&mut self) -> (Saved, Vec<[f32; 2]>) {
        self.recorder = None;
        let path = self.directory.file("take.wav");
        let file = Recording::create(&path, CHANNELS, RATE).unwrap();
        let saved = save(self.reader.take().expect("it ends once"), file);
        assert_eq!(saved.error, None);
        let frames = frames(&path);
        assert_eq!(frames.len() as u64, saved.frames);
        (saved, frames)
    }
}

/// Each frame in its place, or silence; never another frame's, never one channel's alone. Returns the silent ones.
fn silent_frames(take: &[[f32; 2]]) -> Vec<usize> {
    let is_silent = |(n, frame): (usize, &[f32; 2])| {
        if *frame == [0.0; 2] {
            return Some(n);
        }
        assert_eq!(*frame, [ramp(n, 0), ramp(n, 1)], "frame {n}");
        None
    };
    take.iter().enumerate().filter_map(is_silent).collect()
}

/// Fault A53: no length of a period is remembered.
#[test]
fn periods_of_any_length_are_recorded() {
    let mut take = Take::new(100_000, u64::MAX);
    for _ in 0..3 {
        for frames in [64, 1024, 8192, 1] {
            assert!(take.period(frames));
        }
    }
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.lost, saved.silence), (3 * 9281, 0, 0));
    assert_eq!(take.tally.offered(), 3 * 9281);
    assert_eq!(silent_frames(&frames), []);
}

#[test]
fn a_period_longer_than_the_ring_loses_what_does_not_fit_in_whole_frames() {
    let mut take = Take::new(1001, u64::MAX);
    take.period(64);
    take.period(8192);
    take.period(1);
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.lost, saved.overruns), (8257, 8257 - 1001, 2));
    assert!(silent_frames(&frames).into_iter().eq(1001..8257));
}

/// Fault A51.
#[test]
fn a_stalled_disk_loses_whole_frames_and_the_recording_is_in_step_afterwards() {
    let mut take = Take::new(1000, u64::MAX);
    let directory = Directory::new();
    let path = directory.file("stalled.wav");
    let mut reader = take.reader.take().unwrap();
    let file = Recording::create(&path, CHANNELS, RATE).unwrap();
    // The stall: 1,280 frames come, 1,000 fit.
    (0..20).for_each(|_| assert!(take.period(64)));
    assert_eq!(reader.overruns().items, 2 * 280);
    // The worker wakes up, and in the end everything is recorded again.
    let worker = Worker::builder().spawn(reader, move |reader| save(reader, file)).unwrap();
    let recorder = take.recorder.as_ref().unwrap();
    recorder.wait_for_room(1000);
    (0..10).for_each(|_| assert!(take.period(64)));
    take.recorder = None;
    let saved = worker.join().unwrap();
    let frames = frames(&path);
    assert_eq!((saved.error, saved.frames, saved.lost, saved.silence), (None, 30 * 64, 280, 280));
    assert!(silent_frames(&frames).into_iter().eq(1000..1280));
    assert_eq!(take.tally.offered(), saved.lost + (saved.frames - saved.silence));
}

#[test]
fn what_jack_leaves_out_is_silence_of_that_length_also_when_frame_times_wrap() {
    let mut take = Take::new(100_000, u64::MAX);
    take.period(64);
    take.leave_out(64); // The frame time wraps in here.
    take.period(64);
    take.period(64);
    take.leave_out(1000);
    take.period(1);
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.lost, saved.silence), (64 * 4 + 1001, 0, 1064));
    assert_eq!(take.tally.left_out(), 1064);
    assert!(silent_frames(&frames).into_iter().eq((64..128).chain(256..1256)));
}

/// Fault A52.
#[test]
fn frames_lost_by_jack_and_by_the_ring_are_told_apart_also_at_one_place() {
    let mut take = Take::new(100, u64::MAX);
    take.period(100);
    take.period(50);
    take.leave_out(30);
    take.period(20);
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.lost, saved.silence), (200, 70, 100));
    assert_eq!(take.tally.left_out(), 30);
    assert!(silent_frames(&frames).into_iter().eq(100..200));
}

#[test]
fn a_duration_is_met_to_the_frame_with_what_is_missing_in_it() {
    let mut take = Take::new(1000, 200);
    assert!(take.period(64));
    take.leave_out(64);
    assert!(take.period(64));
    assert!(!take.period(64), "that is more than was asked for");
    assert!(!take.period(64));
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.silence, take.tally.offered()), (200, 64, 136));
    assert!(silent_frames(&frames).into_iter().eq(64..128));

    let mut take = Take::new(1000, 100);
    assert!(take.period(64));
    take.leave_out(1000);
    assert!(!take.period(64), "the end is in the gap");
    assert_eq!(take.end().0.frames, 100);
}

/// Fault A45.
#[test]
fn a_period_that_panics_leaves_no_part_of_it() {
    let mut take = Take::new(1000, u64::MAX);
    take.period(64);
    let recorder = take.recorder.as_mut().unwrap();
    let silent = [0.5; 64];
    let panicking = AssertUnwindSafe(|| {
        recorder.period(START.wrapping_add(64), 64, |channel| {
            if channel == 1 {
                permit_alloc(|| panic!("on purpose"));
            }
            &silent
        })
    });
    assert!(catch_unwind(panicking).is_err());
    let (saved, frames) = take.end();
    assert_eq!((saved.frames, saved.lost), (64, 0));
    assert_eq!(silent_frames(&frames), []);
}

struct Buffers(Vec<Vec<f32>>);

impl Output for Buffers {
    fn channel(&mut self, n: usize) -> &mut [f32] {
        &mut self.0[n]
    }
}

#[test]
fn a_player_plays_every_frame_in_step_whatever_the_period_and_counts_what_is_late() {
    let (mut writer, consumer) = ring::playback(2 * 1000);
    let played = Arc::new(AtomicU64::new(0));
    let mut player = Player::new(2, consumer, 9000, Arc::clone(&played));
    let mut samples = (0..9000).flat_map(|frame| [ramp(frame, 0), ramp(frame, 1)]);
    let mut out = Vec::new();
    let mut late = 0;
    for period in [64, 1024, 1, 8192, 64].into_iter().cycle() {
        // At most what fits, and half a frame more or less than whole ones.
        let room = writer.slots().min(999);
        samples.by_ref().take(room).for_each(|sample| writer.push(sample).unwrap());
        let mut buffers = Buffers(vec![vec![9.0; period]; 2]);
        let before = played.load(Ordering::Relaxed);
        let goes_on = assert_no_alloc(|| player.period(u32::try_from(period).unwrap(), &mut buffers));
        let now = usize::try_from(played.load(Ordering::Relaxed) - before).unwrap();
        late += period.min(9000 - out.len()) - now;
        out.extend((0..now).map(|n| [buffers.0[0][n], buffers.0[1][n]]));
        assert!(
            buffers.0.iter().all(|buffer| buffer[now..].iter().all(|&sample| sample == 0.0)),
            "else silence"
        );
        if !goes_on {
            break;
        }
    }
    assert_eq!(silent_frames(&out), []);
    assert_eq!(out.len(), 9000);
    assert!(late > 0);
    assert_eq!(writer.underruns().items, 2 * late as u64);
}
