//! The loop over devices that do as they are told, on real descriptors.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use alsa::Error;
use alsa::poll::{Descriptors, Flags, pollfd};
use rt_notify::{Notifier, PollLoop, TryWaitError, Worker};
use rt_notify_mio_alsa::{AudioPoll, Capture, Ended, Stats};

#[path = "support/mock.rs"]
mod mock;

use mock::{Call, Chatter, Mock};

/// For what must happen at all, however slow the machine.
const EVENTUALLY: Duration = Duration::from_secs(30);

fn only(audio: &AudioPoll<Mock>) -> (&Mock, Stats) {
    audio.devices().next().unwrap()
}

/// Turns until it is so.
fn turn_until(
    audio: &mut AudioPoll<Mock>,
    notifications: &mut PollLoop<'_>,
    is_so: impl Fn(&AudioPoll<Mock>) -> bool,
) {
    let deadline = Instant::now() + EVENTUALLY;
    while !is_so(audio) {
        assert!(Instant::now() < deadline, "it never came: {:?}", only(audio).1);
        audio.turn(notifications, Some(EVENTUALLY)).unwrap();
    }
}

/// Turns for so long, and returns how many turns that were, this thread's own ends not counted.
fn turns_in(audio: &mut AudioPoll<Mock>, notifications: &mut PollLoop<'_>, duration: Duration) -> u64 {
    let (before, start) = (audio.turns(), Instant::now());
    loop {
        let left = duration.saturating_sub(start.elapsed());
        if left.is_zero() {
            return audio.turns() - before - 1;
        }
        audio.turn(notifications, Some(left)).unwrap();
    }
}

/// The notifier wakes the loop, however its devices behave.
fn assert_notifier_wakes(audio: &mut AudioPoll<Mock>, notifications: &mut PollLoop<'_>, notifier: &Notifier) {
    let notifier = notifier.clone();
    let notifying = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        notifier.notify();
    });
    let deadline = Instant::now() + EVENTUALLY;
    loop {
        audio.turn(notifications, Some(EVENTUALLY)).unwrap();
        // The turn must have ended by it, not by its timeout.
        assert!(Instant::now() < deadline, "the notification woke nobody");
        match notifications.try_wait() {
            Ok(count) => break assert_eq!(count, 1),
            Err(error) => assert_eq!(error, TryWaitError::Empty),
        }
    }
    notifying.join().unwrap();
}

#[test]
fn the_whole_group_is_handed_over_in_order_whoever_fired() {
    for notifier_first in [true, false] {
        for fired in 0..3 {
            let (notifier, mut waiter) = Notifier::pollable().unwrap();
            let mut notifications = waiter.poll_loop();
            let mut audio = AudioPoll::new().unwrap();
            let (first, mut first_others) = Mock::new(3);
            let (second, mut second_others) = Mock::new(3);
            if notifier_first {
                audio.listen_to(&mut notifications).unwrap();
            }
            audio.add(first).unwrap();
            audio.add(second).unwrap();
            if !notifier_first {
                audio.listen_to(&mut notifications).unwrap();
            }

            // Everything at once, in both orders of events.
            if notifier_first {
                notifier.notify();
            }
            first_others[fired].write_all(&[0]).unwrap();
            second_others[2 - fired].write_all(&[0]).unwrap();
            if !notifier_first {
                notifier.notify();
            }
            audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();

            assert_eq!(notifications.try_wait(), Ok(1));
            for ((device, _), fired) in audio.devices().zip([fired, 2 - fired]) {
                let flags = |index| if index == fired { libc::POLLIN } else { 0 };
                let group = device.fds().into_iter().enumerate().map(|(i, fd)| (fd, flags(i))).collect();
                assert_eq!(device.calls.borrow()[1], Call::Revents(group), "{fired} of 3 fired");
            }
        }
    }
}

#[test]
fn a_device_that_did_not_fire_is_not_asked() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (first, _first_others) = Mock::new(1);
    let (second, mut second_others) = Mock::new(1);
    audio.add(first).unwrap();
    audio.add(second).unwrap();
    second_others[0].write_all(&[0]).unwrap();
    audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();

    let stats: Vec<_> = audio.devices().map(|(_, stats)| (stats.wakes, stats.frames)).collect();
    assert_eq!(stats, [(0, 0), (1, 1)]);
    assert_eq!(*audio.devices().next().unwrap().0.calls.borrow(), [Call::Restart]);
}

#[test]
fn one_wake_reads_all_that_is_there_and_then_asks_once_more() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, mut others) = Mock::new(1);
    let fd = device.fds()[0];
    audio.add(device).unwrap();
    others[0].write_all(&[0; 4]).unwrap();
    audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();

    let (device, stats) = only(&audio);
    assert_eq!((stats.wakes, stats.frames), (1, 4));
    let mut expected = vec![Call::Restart, Call::Revents(vec![(fd, libc::POLLIN)])];
    expected.extend([Ok(1); 4].map(Call::Read));
    expected.extend([Call::Read(Err(libc::EAGAIN)), Call::Revents(vec![(fd, 0)])]);
    assert_eq!(*device.calls.borrow(), expected);
    assert_eq!(turns_in(&mut audio, &mut notifications, Duration::from_millis(100)), 0);
}

#[test]
fn a_device_that_always_has_more_is_read_on_without_an_edge_and_the_notifier_has_its_turn() {
    const FRAMES: usize = 10_000;
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    audio.listen_to(&mut notifications).unwrap();
    let (device, mut others) = Mock::new(1);
    audio.add(device).unwrap();
    others[0].write_all(&[0; FRAMES]).unwrap();
    notifier.notify();
    audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();
    assert_eq!(notifications.try_wait(), Ok(1));
    assert!(only(&audio).1.frames < FRAMES as u64, "one turn must not read everything");

    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.frames == FRAMES as u64);
    assert_eq!(only(&audio).1.wakes, 1);
    assert_eq!(turns_in(&mut audio, &mut notifications, Duration::from_millis(100)), 0);
}

#[test]
fn a_device_that_empties_its_descriptor_only_when_asked_does_not_fall_silent() {
    /// Like the `jack` plugin: bytes say that there is something, frames are counted elsewhere.
    struct Plugin {
        socket: UnixStream,
        frames: Arc<AtomicBool>,
    }
    impl Descriptors for Plugin {
        fn count(&self) -> usize {
            1
        }
        fn fill(&self, group: &mut [pollfd]) -> alsa::Result<usize> {
            group[0] = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            Ok(1)
        }
        fn revents(&self, group: &[pollfd]) -> alsa::Result<Flags> {
            if group[0].revents == 0 {
                return Ok(Flags::empty());
            }
            if self.frames.load(Ordering::Acquire) {
                return Ok(Flags::IN);
            }
            while (&self.socket).read(&mut [0; 32]).is_ok_and(|n| n == 32) {}
            Ok(Flags::empty())
        }
    }
    impl Capture for Plugin {
        fn read(&mut self) -> alsa::Result<usize> {
            match self.frames.swap(false, Ordering::AcqRel) {
                true => Ok(64),
                false => Err(Error::new("read", libc::EAGAIN)),
            }
        }
        fn restart(&mut self) -> alsa::Result<()> {
            Ok(())
        }
        fn pause(&mut self) -> alsa::Result<()> {
            Ok(())
        }
    }

    const PERIODS: u64 = 2_000;
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (socket, mut other) = UnixStream::pair().unwrap();
    socket.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    let frames = Arc::new(AtomicBool::new(false));
    audio.add(Plugin { socket, frames: Arc::clone(&frames) }).unwrap();
    for period in 1..=PERIODS {
        frames.store(true, Ordering::Release);
        // The plugin does not care whether there is room.
        let _ = other.write(&[0]);
        audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();
        assert_eq!(audio.devices().next().unwrap().1.frames, 64 * period);
    }
}

#[test]
fn an_overrun_is_recovered_from_at_once() {
    for by_read in [false, true] {
        let (_notifier, mut waiter) = Notifier::pollable().unwrap();
        let mut notifications = waiter.poll_loop();
        let mut audio = AudioPoll::new().unwrap();
        let (mut device, mut others) = Mock::new(1);
        if by_read {
            device.read_errors.push_back(libc::EPIPE);
        } else {
            device.scripted.borrow_mut().push_back(Flags::ERR);
        }
        audio.add(device).unwrap();
        others[0].write_all(&[0]).unwrap();
        turn_until(&mut audio, &mut notifications, |audio| only(audio).1.frames == 1);

        let (device, stats) = only(&audio);
        assert_eq!(stats.recovered, 1);
        assert_eq!(stats.ended, None);
        assert_eq!(device.called(&Call::Restart), 2, "once to start, once to restart");
    }
}

#[test]
fn a_device_that_is_gone_ends_alone() {
    for (flags, why) in [(Flags::HUP, "gone"), (Flags::NVAL, "invalid"), (Flags::HUP | Flags::IN, "gone")] {
        let (notifier, mut waiter) = Notifier::pollable().unwrap();
        let mut notifications = waiter.poll_loop();
        let mut audio = AudioPoll::new().unwrap();
        audio.listen_to(&mut notifications).unwrap();
        let (bad, bad_other) = Mock::always(flags);
        let (good, mut good_others) = Mock::new(1);
        audio.add(bad).unwrap();
        audio.add(good).unwrap();
        let _chatter = Chatter::start(bad_other);
        turn_until(&mut audio, &mut notifications, |audio| only(audio).1.ended.is_some());

        assert_eq!(only(&audio).1.ended, Some(Ended::Gone(flags)));
        assert!(only(&audio).1.ended.unwrap().to_string().contains(why));
        good_others[0].write_all(&[0]).unwrap();
        turn_until(&mut audio, &mut notifications, |audio| audio.devices().nth(1).unwrap().1.frames == 1);
        assert_notifier_wakes(&mut audio, &mut notifications, &notifier);
        assert_eq!(audio.devices().nth(1).unwrap().1.ended, None);
    }
}

#[test]
fn a_hang_up_of_the_descriptor_itself_ends_the_device() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, others) = Mock::new(2);
    audio.add(device).unwrap();
    drop(others);
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.ended.is_some());
    let Some(Ended::Gone(flags)) = only(&audio).1.ended else { panic!("{:?}", only(&audio).1) };
    assert!(flags.contains(Flags::HUP));
    assert_eq!(turns_in(&mut audio, &mut notifications, Duration::from_millis(100)), 0);
}

#[test]
fn a_bad_value_again_and_again_costs_ten_turns_a_second_at_most_and_the_notifier_still_wakes() {
    const SECONDS: u64 = 1;
    let values = [
        Flags::ERR,
        Flags::ERR | Flags::IN,
        Flags::ERR | Flags::OUT | Flags::PRI,
        Flags::HUP,
        Flags::HUP | Flags::ERR,
        Flags::HUP | Flags::ERR | Flags::IN,
        Flags::NVAL,
        Flags::NVAL | Flags::ERR,
    ];
    thread::scope(|scope| {
        for flags in values {
            scope.spawn(move || {
                let (notifier, mut waiter) = Notifier::pollable().unwrap();
                let mut notifications = waiter.poll_loop();
                let mut audio = AudioPoll::new().unwrap();
                audio.listen_to(&mut notifications).unwrap();
                let (device, other) = Mock::always(flags);
                audio.add(device).unwrap();
                let _chatter = Chatter::start(other);

                let start = Instant::now();
                let turns = turns_in(&mut audio, &mut notifications, Duration::from_secs(SECONDS));
                let seconds = start.elapsed().as_secs_f64().ceil();
                assert!(turns >= 1, "{flags:?}: nothing happened");
                assert!(turns as f64 <= 10.0 * seconds, "{flags:?}: {turns} turns in {seconds} s");
                assert_notifier_wakes(&mut audio, &mut notifications, &notifier);
            });
        }
    });
}

#[test]
fn a_device_that_wakes_the_loop_for_nothing_is_left_alone_after_a_while() {
    // `IN` without frames; nothing at all; room to write, which nobody asked for.
    for flags in [Flags::IN, Flags::empty(), Flags::OUT, Flags::PRI] {
        let (notifier, mut waiter) = Notifier::pollable().unwrap();
        let mut notifications = waiter.poll_loop();
        let mut audio = AudioPoll::new().unwrap();
        audio.listen_to(&mut notifications).unwrap();
        let (mut device, other) = Mock::always(flags);
        device.read_errors = [libc::EAGAIN; 100_000].into();
        audio.add(device).unwrap();
        let _chatter = Chatter::start(other);

        let patience = 65;
        turn_until(&mut audio, &mut notifications, |audio| audio.turns() >= patience);
        let start = Instant::now();
        let turns = turns_in(&mut audio, &mut notifications, Duration::from_secs(1));
        let seconds = start.elapsed().as_secs_f64().ceil();
        assert!(turns as f64 <= 10.0 * seconds, "{flags:?}: {turns} turns in {seconds} s");
        assert_eq!(only(&audio).1.ended, None);
        assert_notifier_wakes(&mut audio, &mut notifications, &notifier);
    }
}

#[test]
fn a_device_that_cannot_be_restarted_ends() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (mut device, mut others) = Mock::new(1);
    device.scripted.borrow_mut().push_back(Flags::ERR);
    device.restarts = [Ok(()), Err(libc::ENODEV)].into();
    audio.add(device).unwrap();
    others[0].write_all(&[0]).unwrap();
    audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();
    assert_eq!(only(&audio).1.ended, Some(Ended::Failed(Error::new("restart", libc::ENODEV))));
}

#[test]
fn a_device_that_cannot_be_restarted_yet_is_tried_again_later() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (mut device, mut others) = Mock::new(1);
    device.scripted.borrow_mut().push_back(Flags::ERR);
    device.restarts = [Ok(()), Err(libc::EAGAIN), Err(libc::EAGAIN)].into();
    audio.add(device).unwrap();
    others[0].write_all(&[0]).unwrap();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.frames == 1);

    let (device, stats) = only(&audio);
    assert_eq!((stats.recovered, stats.ended), (1, None));
    assert_eq!(device.called(&Call::Restart), 4);
    assert!(audio.turns() < 10, "{} turns", audio.turns());
}

#[test]
fn a_running_device_without_frames_is_restarted_and_then_given_up() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    audio.listen_to(&mut notifications).unwrap();
    let (device, _others) = Mock::new(1);
    audio.add(Mock { longest_silence: Duration::from_millis(100), ..device }).unwrap();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.ended.is_some());

    let (device, stats) = only(&audio);
    assert_eq!(stats.ended, Some(Ended::Silent));
    assert_eq!((stats.wakes, stats.recovered), (0, 0));
    assert_eq!(device.called(&Call::Restart), 2);
    assert_notifier_wakes(&mut audio, &mut notifications, &notifier);
}

#[test]
fn a_device_that_was_only_silent_for_a_while_goes_on() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, mut others) = Mock::new(1);
    audio.add(Mock { longest_silence: Duration::from_millis(100), ..device }).unwrap();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).0.called(&Call::Restart) == 2);
    others[0].write_all(&[0]).unwrap();
    audio.turn(&mut notifications, Some(EVENTUALLY)).unwrap();
    assert_eq!(only(&audio).1, Stats { frames: 1, wakes: 1, recovered: 1, ended: None });
}

#[test]
fn a_device_that_an_overrun_left_silent_gets_another_restart() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (mut device, mut others) = Mock::new(1);
    device.read_errors.push_back(libc::EPIPE);
    // The first `IN` is the overrun; the wake-up by the restart is for nothing.
    device.scripted = RefCell::new([Flags::IN, Flags::empty()].into());
    audio.add(Mock { longest_silence: Duration::from_millis(100), ..device }).unwrap();
    others[0].write_all(&[0]).unwrap();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.frames == 1);

    let (device, stats) = only(&audio);
    assert_eq!(device.called(&Call::Restart), 3, "to start, after the overrun, and after the silence");
    assert_eq!((stats.recovered, stats.ended), (1, None));
}

#[test]
fn a_timeout_is_no_error_and_asks_no_device() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, _others) = Mock::new(1);
    audio.add(device).unwrap();
    let start = Instant::now();
    audio.turn(&mut notifications, Some(Duration::from_millis(50))).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(50));
    assert_eq!(notifications.try_wait(), Err(TryWaitError::Empty));
    assert_eq!(only(&audio).1, Stats::default());
    assert_eq!(*only(&audio).0.calls.borrow(), [Call::Restart]);
}

#[test]
fn a_paused_device_does_not_wake_the_loop_but_its_end_does() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, mut others) = Mock::new(1);
    audio.add(Mock { longest_silence: Duration::from_millis(100), ..device }).unwrap();
    // Left over, as with the `jack` plugin, and ready for ever.
    others[0].write_all(&[0]).unwrap();
    audio.pause();
    audio.turn(&mut notifications, Some(Duration::ZERO)).unwrap();
    assert_eq!(turns_in(&mut audio, &mut notifications, Duration::from_secs(1)), 0);
    assert_eq!(only(&audio).1.frames, 0);
    assert_eq!(only(&audio).1.ended, None);

    others.clear();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.ended.is_some());
}

#[test]
fn a_resting_device_can_be_paused() {
    let (_notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::new().unwrap();
    let (device, mut other) = Mock::always(Flags::ERR);
    audio.add(device).unwrap();
    other.write_all(&[0]).unwrap();
    // Restarted, woken again at once, laid to rest.
    turn_until(&mut audio, &mut notifications, |audio| audio.turns() == 2);
    audio.pause();
    audio.turn(&mut notifications, Some(Duration::ZERO)).unwrap();
    assert_eq!(turns_in(&mut audio, &mut notifications, Duration::from_secs(1)), 0);
    drop(other);
    assert_eq!(only(&audio).0.called(&Call::Pause), 1);
}

#[test]
fn the_notifier_wakes_a_loop_without_devices_and_one_that_gets_its_first() {
    let (notifier, mut waiter) = Notifier::pollable().unwrap();
    let mut notifications = waiter.poll_loop();
    let mut audio = AudioPoll::<Mock>::new().unwrap();
    audio.listen_to(&mut notifications).unwrap();
    assert_notifier_wakes(&mut audio, &mut notifications, &notifier);

    // What it was notified of: there is a device now.
    let (device, mut others) = Mock::new(1);
    audio.add(device).unwrap();
    others[0].write_all(&[0]).unwrap();
    turn_until(&mut audio, &mut notifications, |audio| only(audio).1.frames == 1);
    assert_notifier_wakes(&mut audio, &mut notifications, &notifier);
}

#[test]
fn dropping_the_worker_ends_a_loop_whose_devices_only_fail() {
    for flags in [Flags::ERR, Flags::HUP, Flags::NVAL, Flags::IN] {
        let (notifier, waiter) = Notifier::pollable().unwrap();
        let mut audio = AudioPoll::new().unwrap();
        let (mut device, other) = Mock::always(flags);
        device.read_errors = [libc::EAGAIN; 100_000].into();
        audio.add(device).unwrap();
        let _chatter = Chatter::start(other);
        let (started, starting) = mpsc::channel();
        let worker = Worker::builder().spawn(waiter, move |mut waiter| {
            let mut notifications = waiter.poll_loop();
            audio.listen_to(&mut notifications).unwrap();
            loop {
                audio.turn(&mut notifications, None).unwrap();
                started.send(()).unwrap();
                if notifications.try_wait() == Err(TryWaitError::Closed) {
                    break;
                }
            }
        });
        starting.recv_timeout(EVENTUALLY).unwrap();

        let (dropped, dropping) = mpsc::channel();
        thread::spawn(move || {
            drop(worker);
            dropped.send(()).unwrap();
        });
        dropping.recv_timeout(Duration::from_secs(5)).expect("the drop ends");
        assert!(notifier.is_closed());
    }
}

#[test]
fn a_device_whose_descriptor_epoll_refuses_is_not_started() {
    struct File(std::fs::File, Arc<AtomicBool>);
    impl Descriptors for File {
        fn count(&self) -> usize {
            1
        }
        fn fill(&self, group: &mut [pollfd]) -> alsa::Result<usize> {
            group[0] = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            Ok(1)
        }
        fn revents(&self, _: &[pollfd]) -> alsa::Result<Flags> {
            Ok(Flags::IN)
        }
    }
    impl Capture for File {
        fn read(&mut self) -> alsa::Result<usize> {
            Ok(64)
        }
        fn restart(&mut self) -> alsa::Result<()> {
            self.1.store(true, Ordering::Relaxed);
            Ok(())
        }
        fn pause(&mut self) -> alsa::Result<()> {
            Ok(())
        }
    }
    let started = Arc::new(AtomicBool::new(false));
    let device = File(std::fs::File::open("/dev/null").unwrap(), Arc::clone(&started));
    let error = AudioPoll::new().unwrap().add(device).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(!started.load(Ordering::Relaxed));
}
