//! Messages between two processes. The receiver is this program once more.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::{env, fs, process};

use super::{Options, RUNS, ipc_rings, lines, scaled, table};
use crate::common::clock;
use crate::peers::{posix_mq, sysv_mq, unique_name};

pub(super) const N: u32 = 100_000;
const SIZE: usize = 2000;

/// Sends so many messages, and returns the nanoseconds until all have been received.
type Send = fn(u64) -> Result<u64, String>;

/// A byte that the receiver writes when it is ready, and another when it has all.
const TOLD: u8 = b'.';

pub(super) fn run(options: Options) -> Result<String, String> {
    let n = scaled(N, options);
    let kinds: [(&str, Send); 5] = [
        ("System V message queue", system_v),
        ("full-duplex pipe (socketpair)", socketpair),
        ("UNIX socket, by name", named_socket),
        ("pipe", pipe),
        ("POSIX message queue", posix),
    ];
    let lines = lines(&kinds.map(|(name, _)| (name, None)), RUNS, |name| {
        let (_, send) = kinds.iter().find(|kind| kind.0 == name).ok_or("no such kind")?;
        Ok(send(n)? as f64 * f64::from(N) / n as f64 / 1e9)
    });
    Ok(format!(
        "100,000 messages of 2,000 bytes, two processes\n\n{}\n{}",
        table(&lines, "System V message queue"),
        ipc_rings::run(options)
    ))
}

/// Starts the receiver, lets `send` send, and returns the nanoseconds until the receiver has all.
fn time(
    kind: &str,
    place: &str,
    n: u64,
    input: Option<OwnedFd>,
    send: impl FnOnce() -> Result<(), String>,
) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(["ipc-receive", kind, place, &n.to_string()]).stdout(Stdio::piped());
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    let mut receiver = Receiver(command.spawn().map_err(|error| format!("the receiver: {error}"))?);
    // The command holds the receiver's end of the pipe, too.
    drop(command);
    receiver.hear()?;
    let start = clock::now();
    send()?;
    receiver.hear()?;
    Ok(clock::now() - start)
}

struct Receiver(Child);

impl Receiver {
    /// Waits for the receiver's byte.
    fn hear(&mut self) -> Result<(), String> {
        let output = self.0.stdout.as_mut().ok_or("the receiver has no output")?;
        output.read_exact(&mut [0]).map_err(|_| "the receiver failed".into())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It has gone already, unless something went wrong.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_all(mut to: impl Write, n: u64) -> Result<(), String> {
    let message = [7; SIZE];
    (0..n).try_for_each(|_| to.write_all(&message)).map_err(|error| format!("sending: {error}"))
}

fn pipe(n: u64) -> Result<u64, String> {
    let (reader, writer) = std::io::pipe().map_err(|error| format!("pipe: {error}"))?;
    time("stdin", "", n, Some(reader.into()), || write_all(writer, n))
}

fn socketpair(n: u64) -> Result<u64, String> {
    let (reader, writer) = UnixStream::pair().map_err(|error| format!("socketpair: {error}"))?;
    time("stdin", "", n, Some(reader.into()), || write_all(writer, n))
}

fn named_socket(n: u64) -> Result<u64, String> {
    let path = env::temp_dir().join(format!("rt-notify-compare-{}.socket", process::id()));
    let listener = UnixListener::bind(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let sent = time("socket", &path.to_string_lossy(), n, None, || {
        let (stream, _) = listener.accept().map_err(|error| format!("accept: {error}"))?;
        write_all(stream, n)
    });
    // The receiver has it open, or failed.
    let _ = fs::remove_file(&path);
    sent
}

fn system_v(n: u64) -> Result<u64, String> {
    let queue = sysv_mq::Queue::<SIZE>::new()?;
    time("sysv", &queue.id().to_string(), n, None, || {
        (0..n).for_each(|_| queue.send([7; SIZE]));
        Ok(())
    })
}

fn posix(n: u64) -> Result<u64, String> {
    let name = unique_name();
    let queue = posix_mq::Queue::open(&name, SIZE)?;
    let sent = time("posix", &name, n, None, || {
        (0..n).try_for_each(|_| queue.send(&[7; SIZE])).map_err(|error| format!("mq_send: {error}"))
    });
    posix_mq::Queue::unlink(&name);
    sent
}

/// The receiver's side: takes `n` messages of that kind.
pub(crate) fn receive(kind: &str, place: &str, n: u64) -> Result<(), String> {
    match kind {
        "stdin" => {
            tell()?;
            read_all(std::io::stdin().lock(), n)?;
        }
        "socket" => {
            let stream = UnixStream::connect(place).map_err(|error| format!("{place}: {error}"))?;
            tell()?;
            read_all(stream, n)?;
        }
        "sysv" => {
            let id = place.parse().map_err(|_| format!("no queue `{place}`"))?;
            tell()?;
            (0..n).for_each(|_| assert_eq!(sysv_mq::receive::<SIZE>(id)[SIZE - 1], 7));
        }
        "posix" => {
            let queue = posix_mq::Queue::open(place, SIZE)?;
            tell()?;
            let mut buffer = [0; SIZE];
            (0..n)
                .try_for_each(|_| queue.receive(&mut buffer).map(drop))
                .map_err(|error| format!("mq_receive: {error}"))?;
        }
        _ => return Err(format!("no kind of message `{kind}`")),
    }
    tell()
}

fn tell() -> Result<(), String> {
    let mut output = std::io::stdout();
    output.write_all(&[TOLD]).and_then(|()| output.flush()).map_err(|error| format!("the sender: {error}"))
}

/// Reads the messages one by one.
fn read_all(mut from: impl Read, n: u64) -> Result<(), String> {
    let mut message = [0; SIZE];
    (0..n).try_for_each(|_| from.read_exact(&mut message)).map_err(|error| format!("receiving: {error}"))
}
