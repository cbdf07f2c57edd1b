//! Plays a WAV file into JACK ports.
//!
//!     cargo run --release --features jack,ring --example jack_playback -- --port system:playback_1 take.wav

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jack::{AudioOut, Client, Control, Port, PortFlags, ProcessScope};
use rt_notify::ring::{self, Writer};
use rt_notify::{Notifier, Priority, Worker};

#[path = "../support/frames.rs"]
mod frames;
#[path = "../support/jack_client.rs"]
mod jack_client;
#[path = "../support/jack_session.rs"]
mod jack_session;
#[path = "../support/options.rs"]
mod options;
#[path = "../support/output.rs"]
mod output;
#[path = "../support/wav.rs"]
mod wav;

mod player;

use frames::Output;
use jack_client::{Guarded, activate, open};
use jack_session::{End, Gate, Session, find_ports, register_ports};
use options::Options;
use output::print;
use player::{Player, silence};
use wav::Take;

/// In debug builds, memory that a callback allocates or frees ends the program at once.
#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

const HELP: &str = "\
Plays a WAV file into JACK ports.

cargo run --release --features jack,ring --example jack_playback -- [OPTIONS] FILE

  --port NAME         connect the next channel with this port; may be given several times
  --buffer SECONDS    how long the disk may take its time before frames are missing [5]
  -n NAME             the client's name [jack_playback]; its ports are out_1, out_2 ...

The JACK server is the one that JACK_DEFAULT_SERVER names. It must have the file's sample rate.

Exit code 0: played to its end or until Ctrl-C, and every frame in time. 1: neither. 2: played, but
frames came late: the ring had none in time. 3: played in time, but JACK reported xruns.
";
const KNOWN: [&str; 3] = ["--port", "--buffer", "-n"];

fn main() -> ExitCode {
    options::run("jack_playback", HELP, &KNOWN, play)
}

/// The exit code, or the line that says why nothing was played.
fn play(options: &Options) -> Result<u8, String> {
    // 1. From here on, Ctrl-C ends the playback in order.
    let mut session = Session::begin().map_err(|error| format!("cannot catch Ctrl-C: {error}"))?;
    let signs = session.signs();

    // 2. Open the file, and join the JACK server.
    let file = &options.file;
    let take = Take::open(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let (rate, channels, frames) = (take.sample_rate, take.channels, take.frames);
    if options.ports.len() > channels {
        return Err(format!("{} ports are more than the {channels} channels of {file}", options.ports.len()));
    }
    let client = open(&options.name).map_err(|error| error.to_string())?;
    if client.sample_rate() != rate {
        return Err(format!("{file} has {rate} frames per second, the JACK server {}", client.sample_rate()));
    }
    find_ports(&client, &options.ports, PortFlags::IS_INPUT)?;
    let (ports, names) = register_ports(&client, "out", AudioOut::default(), channels)?;
    let pairs = names.into_iter().zip(options.ports.iter().cloned()).collect();

    // 3. Make the ring, and start the worker that fills it. It wakes when half of the ring is free.
    let (writer, consumer) = ring::playback(options.buffer_frames(rate) * channels);
    let (filled, mut ready) = Notifier::new();
    let ender = session.ender();
    let worker = Worker::builder()
        .name("disk")
        .priority(Priority::Nice(-20))
        .spawn(writer, move |mut writer| {
            let read = fill(&mut writer, take, &filled);
            if read.is_err() {
                ender.end(End::WorkerEnded);
            }
            (read, writer)
        })
        .map_err(|error| format!("the disk worker could not be started: {error}"))?;

    // 4. Wait until the ring is full, or the whole file is in it.
    let _ = ready.wait();

    // 5. Start the callbacks, and connect the ports.
    let played = Arc::new(AtomicU64::new(0));
    let player = Player::new(channels, consumer, frames, Arc::clone(&played));
    let process = Guarded::new(session.ender().stopper(), process(player, ports, &session));
    let client = activate(client, session.events(), process).map_err(|error| error.to_string())?;
    let client = session.connect(client, pairs)?;
    // What was played is to be told at the end, at least.
    let _ = print(&format!("playing          {file}, {channels} channels at {rate} Hz\n"));
    if let Some(why) = worker.granted().shortfall() {
        eprintln!("jack_playback: the disk worker has {}: {why}", worker.granted());
    }

    // 6. Until all is played, or something else ends it.
    let end = session.wait();

    // 7. No more callbacks. The worker ends for want of a reader, if it has not ended with the file.
    session.close("jack_playback", client);
    let (read, mut writer) = worker.stop().map_err(|panic| panic.to_string())?;

    // 8. Tell what was played, and what was not.
    if let Some(message) = end.message() {
        eprintln!("jack_playback: {message}");
    }
    if let Err(error) = &read {
        eprintln!("jack_playback: cannot read {file}: {error}");
    }
    let (underruns, xruns) = (writer.underruns(), signs.xruns());
    // Ordering: Relaxed; the callbacks are over.
    let played = played.load(Ordering::Relaxed);
    print(&format!(
        "played           {played} of {frames} frames, {:.3} s\n\
         ring missed      {} frames in {} underruns\n\
         xruns            {xruns}\n",
        options::seconds(played, rate),
        underruns.items / channels as u64,
        underruns.events,
    ))?;
    Ok(end.exit_code(underruns.items, xruns))
}

/// Fills the ring whenever half of it is free, until the file ends or nobody reads any more.
fn fill(writer: &mut Writer<f32>, mut take: Take, filled: &Notifier) -> hound::Result<()> {
    let half = writer.capacity() / 2;
    while let Ok(room) = writer.wait_for(half) {
        for _ in 0..room {
            let Some(sample) = take.samples.next() else { return Ok(()) };
            // There is room for it.
            let _ = writer.push(sample?);
        }
        filled.notify();
    }
    Ok(())
}

struct JackOutput<'a> {
    ports: &'a mut [Port<AudioOut>],
    scope: &'a ProcessScope,
}

impl Output for JackOutput<'_> {
    fn channel(&mut self, n: usize) -> &mut [f32] {
        self.ports[n].as_mut_slice(self.scope)
    }
}

fn process(
    mut player: Player,
    mut ports: Vec<Port<AudioOut>>,
    session: &Session,
) -> impl FnMut(&Client, &ProcessScope) -> Control + Send + 'static {
    let (signs, ender) = (session.signs(), session.ender());
    let mut gate = Gate::new(session.signs());
    move |_, scope| {
        signs.called_back();
        let channels = ports.len();
        let mut output = JackOutput { ports: &mut ports, scope };
        if !gate.is_open() {
            silence(channels, &mut output);
        } else if !player.period(scope.n_frames(), &mut output) {
            ender.end(End::Complete);
        }
        Control::Continue
    }
}
