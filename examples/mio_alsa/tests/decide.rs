//! What poll flags and errors ask for.

use alsa::Error;
use alsa::poll::Flags;
use rt_notify_mio_alsa::Step::{self, End, Nothing, Read, Recover};
use rt_notify_mio_alsa::{after_error, decide};

const IN: Flags = Flags::IN;
const PRI: Flags = Flags::PRI;
const OUT: Flags = Flags::OUT;
const ERR: Flags = Flags::ERR;
const HUP: Flags = Flags::HUP;
const NVAL: Flags = Flags::NVAL;

/// Every value of the flags, without the two that say nothing to a capture device. Running, paused.
#[rustfmt::skip]
const TABLE: [(Flags, Step, Step); 16] = [
    (Flags::empty(),                     Nothing, Nothing),
    (IN,                                 Read,    Nothing),
    (ERR,                                Recover, Nothing),
    (ERR.union(IN),                      Recover, Nothing),
    (HUP,                                End,     End),
    (HUP.union(IN),                      End,     End),
    (HUP.union(ERR),                     End,     End),
    (HUP.union(ERR).union(IN),           End,     End),
    (NVAL,                               End,     End),
    (NVAL.union(IN),                     End,     End),
    (NVAL.union(ERR),                    End,     End),
    (NVAL.union(ERR).union(IN),          End,     End),
    (NVAL.union(HUP),                    End,     End),
    (NVAL.union(HUP).union(IN),          End,     End),
    (NVAL.union(HUP).union(ERR),         End,     End),
    (NVAL.union(HUP).union(ERR).union(IN), End,   End),
];

#[test]
fn every_value_of_the_flags_has_its_step() {
    let mut values = Vec::new();
    for (flags, running, paused) in TABLE {
        // What does not concern capture changes nothing.
        for flags in [flags, flags | PRI, flags | OUT, flags | PRI | OUT] {
            assert_eq!(decide(flags, false), running, "running, {flags:?}");
            assert_eq!(decide(flags, true), paused, "paused, {flags:?}");
            values.push(flags.bits());
        }
    }
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 64, "all combinations of six flags");
}

#[test]
fn every_error_has_its_step_whatever_its_sign() {
    for (code, running, paused) in [
        (libc::EAGAIN, Nothing, Nothing),
        (libc::EINTR, Read, Nothing),
        (libc::EPIPE, Recover, Nothing),
        (libc::ESTRPIPE, Recover, Nothing),
        (libc::EBADFD, Recover, Nothing),
        (libc::ENODEV, End, End),
        (libc::EIO, End, End),
        (libc::ENOENT, End, End),
        (libc::EBADF, End, End),
    ] {
        for code in [code, -code] {
            let error = Error::new("snd_pcm_readi", code);
            assert_eq!(after_error(error, false), running, "running, {error}");
            assert_eq!(after_error(error, true), paused, "paused, {error}");
        }
    }
}
