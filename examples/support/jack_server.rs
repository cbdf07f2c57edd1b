//! A private JACK server without a sound card: started, found ready, and always stopped again.

#![allow(dead_code, reason = "tests also do to a server what no example does")]

use std::env;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Where JACK 2 puts its sockets: the Linux default, then that of builds without a shared memory file system.
const SOCKET_DIRECTORIES: [&str; 2] = ["/dev/shm", "/tmp"];
const READY_WITHIN: Duration = Duration::from_secs(5);
/// A server ends within a second of SIGTERM; one that does not is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(5);

const JACK_LISTS: u32 = 8;

/// The realtime priority of the server. Its clients run 5 below it.
pub(crate) const SERVER_PRIORITY: u8 = 70;

/// A name for a server that nobody else uses while this exists, or a server with this name.
///
/// JACK 2 lists ([`JACK_LISTS`]) so many servers per machine at most, and strikes one that was killed off that list only
/// when its name comes again. So names must come again: with a new one for every server, none would start after a few
/// crashes.
#[derive(Clone, Debug)]
pub(crate) struct ServerName {
    name: String,
    /// The kernel lets only one socket have this name, and takes the name back from whoever dies.
    claim: Arc<UnixListener>,
}

impl ServerName {
    /// Claims the first free name.
    pub(crate) fn claim() -> io::Result<ServerName> {
        let user = rustix::process::getuid().as_raw();
        for number in 0..JACK_LISTS {
            let address = SocketAddr::from_abstract_name(format!("rt-notify-server-{user}-{number}"))?;
            match UnixListener::bind_addr(&address) {
                Ok(socket) => {
                    return Ok(ServerName { name: format!("rt-notify-{number}"), claim: Arc::new(socket) });
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("as many private JACK servers are running as JACK allows"))
    }

    /// What a client's `JACK_DEFAULT_SERVER` must say to reach a server of this name.
    pub(crate) fn as_str(&self) -> &str {
        &self.name
    }
}

/// A running `jackd -d dummy` of our own. Dropping it stops it and waits for its end.
#[derive(Debug)]
pub(crate) struct JackServer {
    name: ServerName,
    child: Child,
}

impl JackServer {
    /// Whether `jackd` is on the `PATH`.
    pub(crate) fn is_installed() -> bool {
        let directories = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&directories).any(|directory| directory.join("jackd").is_file())
    }

    /// Starts a server that clients find under `name`, and returns once they can connect.
    pub(crate) fn start(name: ServerName, rate: u32, period: u32) -> io::Result<JackServer> {
        let mut command = Command::new("jackd");
        command
            .args(["-R", &format!("-P{SERVER_PRIORITY}"), "-n", name.as_str()])
            // The default of 2048 ports would lock 107 MB of memory per server.
            .args(["--port-max", "64"])
            .args(["-d", "dummy", "-r", &rate.to_string(), "-p", &period.to_string()])
            // Not read: the server thereby holds its name for as long as it lives, which may be longer than we do.
            .stdin(OwnedFd::from(name.claim.try_clone()?))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not in our process group: a Ctrl-C must reach us alone, we stop the server when we are done with it.
            .process_group(0);
        die_with_parent(&mut command);
        let child =
            command.spawn().map_err(|error| io::Error::new(error.kind(), format!("jackd: {error}")))?;
        let mut server = JackServer { name, child };
        server
            .wait_until_ready()
            .map_err(|error| io::Error::new(error.kind(), format!("{error}: {command:?}")))?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        // A server that was killed leaves its socket behind: only one that accepts proves that it runs.
        while !self.sockets().any(|socket| UnixStream::connect(socket).is_ok()) {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("jackd could not start ({status})")));
            }
            if Instant::now() >= deadline {
                return Err(io::Error::other(format!(
                    "jackd was not ready within {READY_WITHIN:?}; if this goes on, a JACK program that was killed has \
                     left what JACK shares locked: end them all, then rm -r /dev/shm/jack* and ipcrm -S 0x282929"
                )));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// What a client's `JACK_DEFAULT_SERVER` must say to reach this server.
    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(crate) fn runs(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
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
        if self.runs()? {
            self.signal(Signal::TERM)?;
        }
        let deadline = Instant::now() + ENDS_WITHIN;
        while self.runs()? {
            if Instant::now() >= deadline {
                return self.kill();
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn sockets(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let user = rustix::process::getuid().as_raw();
        SOCKET_DIRECTORIES
            .iter()
            .map(move |directory| format!("{directory}/jack_{}_{user}_0", self.name()).into())
    }
}

impl Drop for JackServer {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure, and the server dies with this process anyway.
        let _ = self.stop();
        // A server that was killed leaves its sockets and semaphores behind. Their names contain its name, which still
        // is ours.
        let ours = format!("_{}_", self.name());
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

/// Has the kernel stop the server when the thread that started it ends in whatever way, also by SIGKILL or an abort.
#[allow(unsafe_code, reason = "code that runs between fork and exec is unsafe in std")]
fn die_with_parent(command: &mut Command) {
    let set =
        || rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).map_err(io::Error::from);
    // SAFETY: the closure makes one system call and touches no memory that fork could have left locked.
    unsafe { command.pre_exec(set) };
}
