//! The one place that decides which platform's files are compiled.

#[cfg(unix)]
mod errno;
#[cfg(unix)]
mod poll;

#[cfg_attr(not(target_os = "linux"), path = "futex_portable.rs")]
mod futex;
pub(crate) use futex::Futex;

#[cfg(unix)]
#[cfg_attr(all(target_os = "linux", not(rt_notify_force_pipe)), path = "eventfd.rs")]
#[cfg_attr(not(all(target_os = "linux", not(rt_notify_force_pipe))), path = "pipe.rs")]
mod event;
#[cfg(unix)]
pub(crate) use event::Event;
