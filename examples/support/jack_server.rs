//! A private JACK server without a sound card: started, found ready, and always stopped again.

#![allow(dead_code, reason = "tests also do to a server what no example does")]

use std::env;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Where JACK 2 puts its sockets: the Linux default, then that of builds without a shared memory file system.
const SOCKET_DIRECTORIES: [&str; 2] = ["/dev/shm", "/tmp"];
const READY_WITHIN: Duration = Duration::from_secs(5);
/// A server ends within a second of SIGTERM; one that does not is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The realtime priority of the server. Its clients run 5 below it.
pub(crate) const SERVER_PRIORITY: u8 = 70;

/// A running `jackd -d dummy` of our own. Dropping it stops it and waits for its end.
#[derive(Debug)]
pub(crate) struct JackServer {
    name: String,
    rate: u32,
    period: u32,
    child: Child,
    /// Whether JACK still lists the server, be it dead or alive.
    registered: bool,
}

impl JackServer {
    /// A server name that no other program uses: one server per process and call.
    pub(crate) fn unique_name() -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: Relaxed; the number only has to differ, it publishes nothing.
        format!("rt-notify-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether `jackd` is on the `PATH`.
    pub(crate) fn is_installed() -> bool {
        let directories = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&directories).any(|directory| directory.join("jackd").is_file())
    }

    /// Starts a server that clients find under `name`, and returns once they can connect.
    pub(crate) fn start(name: String, rate: u32, period: u32) -> io::Result<JackServer> {
        let child = spawn(&name, rate, period)?;
        let mut server = JackServer { name, rate, period, child, registered: true };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// Starts it again under the same name, once it has ended in whatever way.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        self.child = spawn(&self.name, self.rate, self.period)?;
        self.registered = true;
        self.wait_until_ready()
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        // A server that was killed leaves its socket behind: only one that accepts proves that it runs.
        while !self.sockets().any(|socket| UnixStream::connect(socket).is_ok()) {
            if let Some(status) = self.child.try_wait()? {
                self.registered = false;
                return Err(self.not_ready(&format!("could not start ({status})")));
            }
            if Instant::now() >= deadline {
                return Err(self.not_ready(&format!("was not ready within {READY_WITHIN:?}")));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn not_ready(&self, what: &str) -> io::Error {
        let JackServer { name, rate, period, .. } = self;
        io::Error::other(format!(
            "jackd {what}; why, tells: jackd -R -n {name} -d dummy -r {rate} -p {period}"
        ))
    }

    /// What a client's `JACK_DEFAULT_SERVER` must say to reach this server.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Sends the server a signal, as somebody else might.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(rustix::process::kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Kills the server as a crash would (SIGKILL), and waits for its end.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops the server in order (SIGTERM) and waits for its end: its name can be used again only then.
    pub(crate) fn stop(&mut self) -> io::Result<()> {
        if self.child.try_wait()?.is_none() {
            self.signal(Signal::TERM)?;
        }
        let deadline = Instant::now() + ENDS_WITHIN;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if Instant::now() >= deadline {
                return self.kill();
            }
            thread::sleep(LOOK_EVERY);
        };
        self.registered &= !status.success();
        Ok(())
    }

    fn sockets(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let user = rustix::process::getuid().as_raw();
        SOCKET_DIRECTORIES
            .iter()
            .map(move |directory| format!("{directory}/jack_{}_{user}_0", self.name).into())
    }
}

impl Drop for JackServer {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure, and the server dies with this process anyway.
        let _ = self.stop();
        // JACK 2 registers at most 8 servers per machine, and strikes one that was killed off that list only when its
        // name comes again. This one never would, and after some crashes no server could start any more.
        if self.registered && self.restart().is_ok() {
            let _ = self.stop();
        }
        // A server that was killed leaves its sockets and semaphores behind. Their names contain its name, which
        // nobody else uses.
        let ours = format!("_{}_", self.name);
        for entry in
            SOCKET_DIRECTORIES.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten()
        {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with("jack_") && name.contains(&ours)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn spawn(name: &str, rate: u32, period: u32) -> io::Result<Child> {
    let mut command = Command::new("jackd");
    command
        .args(["-R", &format!("-P{SERVER_PRIORITY}"), "-n", name])
        // The default of 2048 ports would lock 107 MB of memory per server.
        .args(["--port-max", "64"])
        .args(["-d", "dummy", "-r", &rate.to_string(), "-p", &period.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not in our process group: a Ctrl-C must reach us alone, we stop the server when we are done with it.
        .process_group(0);
    die_with_parent(&mut command);
    command.spawn().map_err(|error| io::Error::new(error.kind(), format!("jackd: {error}")))
}

/// Has the kernel stop the server when the thread that started it ends in whatever way, also by SIGKILL or an abort.
#[allow(unsafe_code, reason = "code that runs between fork and exec is unsafe in std")]
fn die_with_parent(command: &mut Command) {
    let set =
        || rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).map_err(io::Error::from);
    // SAFETY: the closure makes one system call and touches no memory that fork could have left locked.
    unsafe { command.pre_exec(set) };
}
