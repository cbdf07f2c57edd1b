//! Captures from ALSA devices and listens to notifications, in one mio loop of a high-priority worker.
//!
//!     cargo run --release -p rt-notify-mio-alsa -- --device hw:0
//!
//! `--help` lists the options, README.md says what is needed, and how to do without a sound card. This file is what
//! a program of yours would do; how devices are polled is in `audio_poll.rs`, what their answers mean in `decide.rs`.

mod options;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use alsa::Output;
use options::Options;
use rt_notify::{Notifier, PollWaiter, Priority, TryWaitError, Worker};
use rt_notify_mio_alsa::{AudioPoll, PcmCapture, Stats};

/// What the main thread and the worker tell each other.
#[derive(Debug, Default)]
struct Shared {
    /// To the worker: from the next notification on, leave the devices alone.
    pause: AtomicBool,
    /// From the worker: how often it was woken.
    turns: AtomicU64,
}

/// What the worker has done.
struct Report {
    notifications: u64,
    wakes: u64,
    devices: Vec<Stats>,
    peak: f32,
}

fn main() -> ExitCode {
    let result = match options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            print!("{}", options::HELP);
            Ok(true)
        }
        Err(line) => Err(line.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mio_alsa: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether all went well.
fn run(options: &Options) -> Result<bool, Box<dyn Error + Send + Sync>> {
    // 1. Open the devices. They start at once, and have their whole buffer to hold what comes before the worker runs.
    let mut audio = AudioPoll::new()?;
    for name in &options.devices {
        add(&mut audio, name, options)?;
    }

    // 2. Make two pairs: a pollable one that wakes the worker, and one for its answers.
    let (notifier, waiter) = Notifier::pollable()?;
    let (answer, mut answers) = Notifier::new();

    // 3. Start the worker. It owns the devices.
    let shared = Arc::new(Shared::default());
    let (names, worker_shared) = (options.devices.clone(), Arc::clone(&shared));
    let worker = Worker::builder()
        .name("audio")
        .priority(Priority::Nice(-20))
        .spawn(waiter, move |waiter| work(waiter, audio, &names, &worker_shared, &answer))?;
    println!("worker: {}", worker.granted());
    if let Some(why) = worker.granted().shortfall() {
        println!("worker: not nice -20: {why}");
    }

    // 4. Notify from another thread, as an audio callback would.
    let clock = {
        let notifier = notifier.clone();
        let (hz, duration) = (options.notify_hz, Duration::from_secs(options.seconds.into()));
        thread::Builder::new().name("clock".into()).spawn(move || tick(&notifier, hz, duration))?
    };
    let mut sent = clock.join().map_err(|_| "the clock panicked")?;

    // 5. If asked for, leave the worker nothing to do, and see whether it sleeps.
    let mut idle_wakes = 0;
    if options.idle > 0 {
        // Ordering: Relaxed; what comes before `notify` is visible to the one it wakes.
        shared.pause.store(true, Ordering::Relaxed);
        notifier.notify();
        sent += 1;
        // If there is no answer, the worker has failed, and will say why.
        if answers.wait().is_ok() {
            // Ordering: Relaxed; the answer came after the store, and whatever is newer is a wake-up to count.
            let before = shared.turns.load(Ordering::Relaxed);
            thread::sleep(Duration::from_secs(options.idle.into()));
            idle_wakes = shared.turns.load(Ordering::Relaxed) - before;
            println!("idle: {idle_wakes} wake-ups in {} s", options.idle);
        }
    }

    // 6. Stop the worker: it is told what is pending, then `Closed`.
    let report = worker.stop()??;
    let lost = sent.abs_diff(report.notifications);
    println!("notifications: {} counted, {lost} lost, {} wakes", report.notifications, report.wakes);
    for (name, stats) in options.devices.iter().zip(&report.devices) {
        let Stats { frames, wakes, recovered, .. } = stats;
        println!("{name}: {frames} frames, {wakes} wakes, {recovered} xruns recovered");
    }
    println!("loop: {} turns, peak sample {}", shared.turns.load(Ordering::Relaxed), report.peak);
    Ok(lost == 0 && idle_wakes == 0 && report.devices.iter().all(|stats| stats.ended.is_none()))
}

fn add(audio: &mut AudioPoll<PcmCapture>, name: &str, options: &Options) -> Result<(), String> {
    // What ALSA has to say goes there until the end of this function, not to stderr.
    let complaints = Output::local_error_handler();
    let capture = PcmCapture::open(name, options.shape).map_err(|error| {
        let complaints = complaints.map_or_else(|_| String::new(), |output| output.borrow().to_string());
        let reason = complaints.lines().next().map_or_else(String::new, |line| format!(": {line}"));
        format!("cannot open {name}: {error}{reason}")
    })?;
    let got = capture.shape();
    println!(
        "{name}: {} channels, {} Hz, periods of {} frames, {} frames of buffer",
        got.channels, got.rate, got.period, got.buffer
    );
    audio.add(capture).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("{name} cannot be waited for: it has a descriptor that epoll refuses, so it never blocks")
        }
        _ => format!("cannot listen to {name}: {error}"),
    })
}

/// The worker: devices and notifications in one loop.
fn work(
    mut waiter: PollWaiter,
    mut audio: AudioPoll<PcmCapture>,
    names: &[String],
    shared: &Shared,
    answer: &Notifier,
) -> io::Result<Report> {
    // Within this, notifications make a system call only while the loop sleeps.
    let mut notifications = waiter.poll_loop();
    audio.listen_to(&mut notifications)?;

    let mut report =
        Report { notifications: 0, wakes: 0, devices: vec![Stats::default(); names.len()], peak: 0.0 };
    let mut paused = false;
    loop {
        // Sleeps; then reads what the devices have, until they have nothing more.
        audio.turn(&mut notifications, None)?;
        // Ordering: Relaxed; a counter to look at.
        shared.turns.store(audio.turns(), Ordering::Relaxed);
        for (name, (before, (_, now))) in names.iter().zip(report.devices.iter_mut().zip(audio.devices())) {
            if let (None, Some(why)) = (before.ended, now.ended) {
                eprintln!("mio_alsa: {name} ended: {why}");
            }
            *before = now;
        }
        // In every turn, whatever woke it. This is where what was notified of is done.
        match notifications.try_wait() {
            Ok(count) => {
                report.notifications += u64::from(count);
                report.wakes += 1;
            }
            Err(TryWaitError::Closed) => break,
            // Empty: a device woke the loop, or it was late for one, or it was woken for nothing.
            Err(_) => {}
        }
        // Ordering: Relaxed; this was stored before the notification that has just been counted.
        if !paused && shared.pause.load(Ordering::Relaxed) {
            paused = true;
            audio.pause();
            // What the devices had still to say.
            audio.turn(&mut notifications, Some(Duration::ZERO))?;
            shared.turns.store(audio.turns(), Ordering::Relaxed);
            answer.notify();
        }
    }
    report.peak = audio.devices().map(|(capture, _)| capture.peak()).fold(0.0, f32::max);
    Ok(report)
}

/// Notifies `hz` times per second, and returns how often. Ends early if nobody listens any more.
fn tick(notifier: &Notifier, hz: u32, duration: Duration) -> u64 {
    let start = Instant::now();
    let mut ticks = 0;
    while start.elapsed() < duration && !notifier.is_closed() {
        let next = match u64::from(hz) {
            // Only looks whether it is time to end.
            0 => duration.min(start.elapsed() + Duration::from_millis(100)),
            hz => Duration::from_nanos((ticks + 1) * 1_000_000_000 / hz),
        };
        thread::sleep(next.saturating_sub(start.elapsed()));
        if hz > 0 {
            notifier.notify();
            ticks += 1;
        }
    }
    ticks
}
