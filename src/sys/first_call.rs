//! What the first system call of a process needs, done before a notifier makes it.

/// To be called by constructors, and by waiters before others can see them.
///
/// On 32-bit x86 rustix looks up how the kernel is entered, at its first call: that makes further calls, and may read a
/// file and allocate. Elsewhere a call is an instruction, and there is nothing to do.
#[inline]
pub(crate) fn prepare() {
    #[cfg(all(target_os = "linux", target_arch = "x86"))]
    let _ = rustix::process::getpid();
}
