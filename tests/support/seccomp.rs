//! Filters of system calls, which the kernel applies to the calling thread, and to those that it starts, for good.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(unsafe_code, reason = "filters are installed through C")]

use std::ffi::c_long;
use std::io;
use std::ptr::null;

use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

/// What may be called; anything else ends the process by `SIGSYS`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    Nothing,
    FutexWake,
    Write,
}

/// `futex_time64`, which libc does not name everywhere. It has one number on all processors with 32 bits.
#[cfg(target_pointer_width = "32")]
const FUTEX_TIME64: c_long = 422;

/// Where `time_t` may have 32 bits there are two.
const FUTEX: &[c_long] = &[
    libc::SYS_futex,
    #[cfg(target_pointer_width = "32")]
    FUTEX_TIME64,
];

/// Lets the calling thread do this only, and [`exit`].
pub(crate) fn allow_only(allowed: Allowed) {
    let mut program = vec![load(NUMBER)];
    program.extend(on(libc::SYS_exit_group, libc::SECCOMP_RET_ALLOW));
    match allowed {
        Allowed::Nothing => {}
        Allowed::Write => program.extend(on(libc::SYS_write, libc::SECCOMP_RET_ALLOW)),
        Allowed::FutexWake => {
            for &call in FUTEX {
                program.extend([
                    jump_unless(call, 5),
                    load(SECOND_ARGUMENT),
                    and(!u32::try_from(libc::FUTEX_PRIVATE_FLAG).expect("a flag")),
                    jump_unless(libc::FUTEX_WAKE.into(), 1),
                    end(libc::SECCOMP_RET_ALLOW),
                    load(NUMBER),
                ]);
            }
        }
    }
    program.push(end(libc::SECCOMP_RET_KILL_PROCESS));
    install(&program);
}

/// Makes these calls fail with `EPERM`, as containers do.
pub(crate) fn refuse(calls: &[c_long]) {
    let mut program = vec![load(NUMBER)];
    let eperm = libc::SECCOMP_RET_ERRNO | u32::try_from(libc::EPERM).expect("a small number");
    calls.iter().for_each(|&call| program.extend(on(call, eperm)));
    program.push(end(libc::SECCOMP_RET_ALLOW));
    install(&program);
}

/// Ends the process at once, by one system call.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: has no precondition.
    unsafe { libc::_exit(code) }
}

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
/// Its lower half.
const SECOND_ARGUMENT: u32 = if cfg!(target_endian = "little") { 24 } else { 28 };

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset, 0)
}

fn and(mask: u32) -> sock_filter {
    instruction(BPF_ALU | BPF_AND | BPF_K, mask, 0)
}

fn end(action: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, action, 0)
}

/// Skips `n` instructions unless the loaded value is this one.
fn jump_unless(value: c_long, n: u8) -> sock_filter {
    instruction(BPF_JMP | BPF_JEQ | BPF_K, u32::try_from(value).expect("a small number"), n)
}

fn on(call: c_long, action: u32) -> [sock_filter; 2] {
    [jump_unless(call, 1), end(action)]
}

fn instruction(code: u32, k: u32, jump_if_false: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).expect("a code"), jt: 0, jf: jump_if_false, k }
}

fn install(program: &[sock_filter]) {
    let len = u16::try_from(program.len()).expect("a short program");
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: takes integers only.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
    // SAFETY: the kernel copies the program, which is alive and as long as it says, and writes nothing.
    let done = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
            null::<()>(),
            null::<()>(),
        )
    };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}
