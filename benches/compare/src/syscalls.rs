//! Counts the calling thread's system calls, by a kernel tracepoint.
//!
//! That takes a right which not everybody has. Where it is missing, `Counter::available` gives the reason, and there
//! are no counts.
#![allow(unsafe_code, reason = "neither rustix nor libc wraps perf_event_open, mount or unshare")]

use std::ffi::CStr;
use std::fs::{File, read_to_string};
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::ptr::null;
use std::sync::OnceLock;
use std::thread;

const TRACEFS: &CStr = c"/sys/kernel/tracing";
const ID: &str = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";

/// The first version of the kernel's `perf_event_attr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const PERF_TYPE_TRACEPOINT: u32 = 2;

pub(crate) struct Counter(Option<File>);

impl Counter {
    /// Starts to count, if that is wanted and possible.
    pub(crate) fn start(wanted: bool) -> Self {
        Counter(if wanted { tracepoint().and_then(open).ok() } else { None })
    }

    /// The system calls since the start, this look included.
    pub(crate) fn calls(&self) -> Option<u64> {
        let mut count = [0; 8];
        self.0.as_ref()?.read_exact(&mut count).ok()?;
        Some(u64::from_ne_bytes(count))
    }

    /// Why there are no counts, if there are none.
    pub(crate) fn available() -> Result<(), String> {
        tracepoint().and_then(open).map(drop)
    }
}

fn open(id: u64) -> Result<File, String> {
    let size = u32::try_from(size_of::<Attributes>()).expect("small");
    let attributes = Attributes { kind: PERF_TYPE_TRACEPOINT, size, config: id, ..Attributes::default() };
    let (this_thread, any_cpu, no_group, no_flags) = (0, -1, -1, 0);
    // SAFETY: the attributes outlive the call, and say how large they are.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_cpu,
            no_group,
            no_flags,
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the call has just made it, and nobody else knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(format!("perf_event_open: {}", io::Error::last_os_error())),
    }
}

/// The number of the tracepoint.
fn tracepoint() -> Result<u64, String> {
    static NUMBER: OnceLock<Result<u64, String>> = OnceLock::new();
    NUMBER.get_or_init(|| read_id().or_else(|_| read_id_apart())).clone()
}

fn read_id() -> Result<u64, String> {
    let text = read_to_string(ID).map_err(|error| format!("no tracepoints: {error}"))?;
    text.trim().parse().map_err(|_| "no tracepoints: not a number".into())
}

/// Where tracefs is not mounted: mounts it for a thread of its own, which nobody else sees.
fn read_id_apart() -> Result<u64, String> {
    let apart = thread::spawn(|| {
        // SAFETY: it changes only which mounts this thread sees.
        let unshared = unsafe { libc::unshare(libc::CLONE_NEWNS) };
        let private = mount(c"none", c"/", None, libc::MS_REC | libc::MS_PRIVATE);
        if unshared != 0 || !private || !mount(c"none", TRACEFS, Some(c"tracefs"), 0) {
            return Err(format!("no tracepoints: tracefs: {}", io::Error::last_os_error()));
        }
        read_id()
    });
    apart.join().map_err(|_| "a thread panicked")?
}

fn mount(source: &CStr, target: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> bool {
    let kind = kind.map_or(null(), CStr::as_ptr);
    // SAFETY: all are C strings, or null where the kernel ignores them.
    unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, null()) == 0 }
}
