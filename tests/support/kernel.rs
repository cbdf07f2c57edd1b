//! What the kernel says about threads, and ways to take rights away from the calling one. By other means than the
//! library's own where there are any.
#![allow(unsafe_code, reason = "system calls that no safe wrapper offers")]
#![allow(dead_code, reason = "no test program uses all of it")]

use std::ffi::{c_int, c_long};
use std::io::Write;
use std::{env, fs, io, mem, ptr, thread};

pub(crate) const RESET_ON_FORK: c_int = libc::SCHED_RESET_ON_FORK;

/// The kernel's name for the calling thread.
pub(crate) fn tid() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Policy, without the flags, and realtime priority.
pub(crate) fn policy(tid: i32) -> (c_int, u8) {
    (raw_policy(tid) & !RESET_ON_FORK, rt_priority(tid))
}

pub(crate) fn resets_on_fork(tid: i32) -> bool {
    raw_policy(tid) & RESET_ON_FORK != 0
}

fn raw_policy(tid: i32) -> c_int {
    // SAFETY: the call takes one integer and touches no memory.
    let raw = unsafe { libc::syscall(libc::SYS_sched_getscheduler, c_long::from(tid)) };
    assert!(raw >= 0, "sched_getscheduler: {}", io::Error::last_os_error());
    c_int::try_from(raw).unwrap()
}

/// From /proc/self/task/TID/stat, fields 40 and 19 of `proc_pid_stat(5)`.
fn rt_priority(tid: i32) -> u8 {
    stat_field(tid, 40).parse().unwrap()
}

pub(crate) fn nice(tid: i32) -> i8 {
    stat_field(tid, 19).parse().unwrap()
}

fn stat_field(tid: i32, number: usize) -> String {
    let stat = fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
    // The name of the thread, field 2, may contain blanks; it ends at the last parenthesis.
    let rest = &stat[stat.rfind(')').unwrap() + 1..];
    rest.split_whitespace().nth(number - 3).unwrap().to_owned()
}

/// The value of one line of /proc/self/task/TID/status.
pub(crate) fn status(tid: i32, key: &str) -> String {
    let status = fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap();
    let line = status.lines().find(|line| line.split(':').next() == Some(key)).unwrap();
    line.split_once(':').unwrap().1.trim().to_owned()
}

/// Gives the calling thread a realtime policy that its children inherit.
pub(crate) fn become_realtime(policy: c_int, priority: c_int) -> io::Result<()> {
    set_policy(0, policy, priority)
}

/// The same of the first thread of another process.
pub(crate) fn make_realtime(pid: u32, policy: c_int, priority: c_int) -> io::Result<()> {
    set_policy(c_long::from(pid), policy, priority)
}

fn set_policy(tid: c_long, policy: c_int, priority: c_int) -> io::Result<()> {
    // SAFETY: the call takes two integers and one pointer to an int.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, tid, policy, &raw const priority) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this test may run with the rights that it needs. If not, says so, or fails if they were promised.
pub(crate) fn privileged() -> bool {
    let attempt = thread::spawn(|| become_realtime(libc::SCHED_FIFO, 1)).join().unwrap();
    let Err(error) = attempt else { return true };
    let required = env::var_os("RT_NOTIFY_REQUIRE_ROOT").is_some_and(|value| value == "1");
    assert!(!required, "RT_NOTIFY_REQUIRE_ROOT=1, but SCHED_FIFO is refused: {error}");
    let test = thread::current().name().unwrap_or_default().to_owned();
    // Not `eprintln!`, whose output the test harness shows of failed tests only.
    let _ = writeln!(io::stderr(), "SKIPPED: {test} needs root, or at least CAP_SYS_NICE ({error})");
    false
}

/// Takes `CAP_SYS_NICE` away from the calling thread and those it will start.
pub(crate) fn drop_sys_nice() {
    const CAP_SYS_NICE: u32 = 23;
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    // Effective, permitted and inheritable; the low 32 capabilities, then the high ones.
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: both arrays are laid out as capget(2) says for version 3.
    let got = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    assert_eq!(got, 0, "capget: {}", io::Error::last_os_error());
    for set in &mut sets[0] {
        *set &= !(1 << CAP_SYS_NICE);
    }
    // SAFETY: as above.
    let set = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) };
    assert_eq!(set, 0, "capset: {}", io::Error::last_os_error());
}

/// Gives up being root, for the whole process.
pub(crate) fn become_nobody() {
    const NOBODY: libc::uid_t = 65534;
    // SAFETY: takes integers only.
    let result = unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) };
    assert_eq!(result, 0, "setresuid: {}", io::Error::last_os_error());
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Sets the soft limit, and the hard one as well if need be.
pub(crate) fn limit(resource: rustix::process::Resource, value: u64) -> io::Result<()> {
    let mut limits = rustix::process::getrlimit(resource);
    limits.current = Some(value);
    if limits.maximum.is_some_and(|maximum| maximum < value) {
        limits.maximum = Some(value);
    }
    Ok(rustix::process::setrlimit(resource, limits)?)
}

/// The signals that the calling thread blocks.
pub(crate) fn blocked_signals() -> Vec<c_int> {
    // SAFETY: all zeros is a sigset_t.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: with a null pointer for the new mask, only the old one is stored.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut set) };
    assert_eq!(result, 0);
    // SAFETY: the set is initialised, and the numbers are those of signals.
    (1..=64).filter(|&signal| unsafe { libc::sigismember(&raw const set, signal) } == 1).collect()
}

/// Installs a handler, which must be async-signal-safe.
pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: all zeros is a sigaction without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    // SAFETY: the handler is a function of the type that is called without SA_SIGINFO.
    let result = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    assert_eq!(result, 0);
}

/// Sends a signal to the whole process: any thread that does not block it may get it.
pub(crate) fn signal_process(signal: c_int) {
    let process = i32::try_from(std::process::id()).unwrap();
    // SAFETY: takes integers only.
    let result = unsafe { libc::kill(process, signal) };
    assert_eq!(result, 0);
}

/// Sends a signal to one thread of this process.
pub(crate) fn signal_thread(tid: i32, signal: c_int) {
    let process = c_long::from(i32::try_from(std::process::id()).unwrap());
    // SAFETY: takes integers only.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process, c_long::from(tid), c_long::from(signal)) };
    assert_eq!(result, 0);
}
