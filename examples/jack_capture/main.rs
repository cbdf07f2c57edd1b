//! Records JACK ports to a WAV file, and loses nothing that JACK delivers.
//!
//!     cargo run --release --features jack,ring --example jack_capture -- --port system:capture_1 take.wav

use std::process::ExitCode;
use std::sync::Arc;

use jack::{AudioIn, Client, Control, Port, PortFlags, ProcessScope};
use rt_notify::{Priority, Worker, ring};

#[path = "../support/frame_time.rs"]
mod frame_time;
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

mod disk;
mod recorder;

use disk::Saved;
use jack_client::{Guarded, activate, open};
use jack_session::{End, Gate, Session, find_ports, register_ports};
use options::Options;
use output::print;
use recorder::{Recorder, Tally};
use wav::Recording;

/// In debug builds, memory that a callback allocates or frees ends the program at once.
#[cfg(debug_assertions)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

const HELP: &str = "\
Records JACK ports to a WAV file of 32-bit floats, until Ctrl-C.

cargo run --release --features jack,ring --example jack_capture -- [OPTIONS] FILE

  --port NAME         connect this port with the next channel; may be given several times
  --channels N        how many [as many as ports are given, or 2]
  --duration SECONDS  how long to record [until Ctrl-C]
  --buffer SECONDS    how long the disk may take its time before frames are lost [5]
  -n NAME             the client's name [jack_capture]; its ports are in_1, in_2 ...

The JACK server is the one that JACK_DEFAULT_SERVER names. Where frames are missing, the file has silence: its
duration is true.

Exit code 0: recorded as asked, with nothing missing. 1: not recorded, or ended before its time; the file is whole up
to there. 2: recorded, but the ring lost frames. 3: recorded, but JACK lost frames or reported xruns.
";
const KNOWN: [&str; 5] = ["--port", "--channels", "--duration", "--buffer", "-n"];

fn main() -> ExitCode {
    options::run("jack_capture", HELP, &KNOWN, record)
}

/// The exit code, or the line that says why nothing was recorded.
fn record(options: &Options) -> Result<u8, String> {
    // 1. From here on, Ctrl-C ends the recording in order.
    let mut session = Session::begin().map_err(|error| format!("cannot catch Ctrl-C: {error}"))?;
    let signs = session.signs();

    // 2. Join the JACK server.
    let client = open(&options.name).map_err(|error| error.to_string())?;
    find_ports(&client, &options.ports, PortFlags::IS_OUTPUT)?;
    let rate = client.sample_rate();
    let channels = options.channels();
    let (ports, names) = register_ports(&client, "in", AudioIn::default(), channels.into())?;
    let pairs = options.ports.iter().cloned().zip(names).collect();

    // 3. Make the ring.
    let (producer, reader) = ring::capture(options.buffer_frames(rate) * usize::from(channels));
    let tally = Arc::new(Tally::default());
    let frames = options.duration.map_or(u64::MAX, |seconds| options::frames(seconds, rate));
    let recorder = Recorder::new(channels.into(), producer, frames, Arc::clone(&tally));

    // 4. Start the worker that writes the file. It wakes when half of the ring is full. Only now is an earlier recording
    // of that name given up: nothing that the user can mistype is left.
    let file = &options.file;
    let recording =
        Recording::create(file, channels, rate).map_err(|error| format!("cannot write {file}: {error}"))?;
    let ender = session.ender();
    let worker = Worker::builder()
        .name("disk")
        .priority(Priority::Nice(-20))
        .spawn(reader, move |reader| {
            let _ended = ender.end_with_worker();
            disk::save(reader, recording)
        })
        .map_err(|error| format!("the disk worker could not be started: {error}"))?;

    // 5. Start the callbacks, and connect the ports.
    let process = Guarded::new(session.ender().stopper(), process(recorder, ports, &session));
    let client = activate(client, session.events(), process).map_err(|error| error.to_string())?;
    let client = session.connect(client, pairs)?;
    // A disk that is full for this line may be another than the recording's.
    let _ = print(&format!("recording        {file}, {channels} channels at {rate} Hz\n"));
    if let Some(why) = worker.granted().shortfall() {
        eprintln!("jack_capture: the disk worker has {}: {why}", worker.granted());
    }

    // 6. Until the time is up, or something else ends it.
    let end = session.wait();

    // 7. First no more callbacks: this drops the producer. The worker writes what the ring still has, then ends.
    session.close("jack_capture", client);
    let saved = worker.stop().map_err(|panic| panic.to_string())?;

    // 8. Tell what is in the file, and what is not.
    if let Some(message) = end.message() {
        eprintln!("jack_capture: {message}: this is the recording so far");
    }
    if let Some(message) = &saved.error {
        eprintln!("jack_capture: cannot write {file}: {message}");
    }
    print(&summary(&saved, &tally, signs.xruns(), rate))?;
    let end = if saved.error.is_some() { End::WorkerEnded } else { end };
    Ok(end.exit_code(saved.lost, tally.left_out() + signs.xruns()))
}

fn process(
    mut recorder: Recorder,
    ports: Vec<Port<AudioIn>>,
    session: &Session,
) -> impl FnMut(&Client, &ProcessScope) -> Control + Send + 'static {
    let (signs, ender) = (session.signs(), session.ender());
    let mut gate = Gate::new(session.signs());
    move |_, scope| {
        signs.called_back();
        if gate.is_open() {
            let (time, frames) = (scope.last_frame_time(), scope.n_frames());
            if signs.is_freewheeling() {
                recorder.wait_for_room(frames);
            }
            if !recorder.period(time, frames, |channel| ports[channel].as_slice(scope)) {
                ender.end(End::Complete);
            }
        }
        Control::Continue
    }
}

fn summary(saved: &Saved, tally: &Tally, xruns: u64, rate: u32) -> String {
    let Saved { frames, silence, lost, overruns, .. } = saved;
    let seconds = options::seconds(*frames, rate);
    let offered = tally.offered();
    format!(
        "recorded         {frames} frames, {seconds:.3} s\n\
         offered          {offered} frames by JACK\n\
         ring lost        {lost} frames in {overruns} overruns\n\
         jack lost        {} frames\n\
         xruns            {xruns}\n\
         silence          {silence} frames in place of the lost ones\n\
         not written      {} frames\n",
        tally.left_out(),
        offered.saturating_sub(lost + frames.saturating_sub(*silence)),
    )
}
