//! What is to be done next with a capture device, as pure functions of what ALSA says.

use alsa::poll::Flags;

/// What is to be done next with a capture device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It wants nothing.
    Nothing,
    /// Read what it has.
    Read,
    /// It stopped, because we came too late or the machine was suspended: prepare it and start it again.
    Recover,
    /// It is gone for good.
    End,
}

/// Reads the flags of `snd_pcm_poll_descriptors_revents`: those of the whole group, never of one descriptor.
///
/// | flags           | running   | paused    | why                                                              |
/// |-----------------|-----------|-----------|------------------------------------------------------------------|
/// | `HUP` or `NVAL` | `End`     | `End`     | the device, or its descriptor, is gone                           |
/// | else `ERR`      | `Recover` | `Nothing` | an overrun; a stopped device says so all the time                |
/// | else `IN`       | `Read`    | `Nothing` | frames; left over ones of a paused device are not wanted         |
/// | anything else   | `Nothing` | `Nothing` | the group woke us for reasons of its own                         |
#[must_use]
pub fn decide(revents: Flags, paused: bool) -> Step {
    if revents.intersects(Flags::HUP | Flags::NVAL) {
        Step::End
    } else if paused {
        Step::Nothing
    } else if revents.contains(Flags::ERR) {
        Step::Recover
    } else if revents.contains(Flags::IN) {
        Step::Read
    } else {
        Step::Nothing
    }
}

/// What an error of ALSA asks for, be it from a read or from `revents`.
#[must_use]
pub fn after_error(error: alsa::Error, paused: bool) -> Step {
    // Some functions of the crate `alsa` hand on ALSA's negative codes as they are.
    match error.errno().abs() {
        libc::EAGAIN => Step::Nothing,
        // Interrupted; overrun, suspended, stopped.
        libc::EINTR | libc::EPIPE | libc::ESTRPIPE | libc::EBADFD if paused => Step::Nothing,
        libc::EINTR => Step::Read,
        libc::EPIPE | libc::ESTRPIPE | libc::EBADFD => Step::Recover,
        _ => Step::End,
    }
}
