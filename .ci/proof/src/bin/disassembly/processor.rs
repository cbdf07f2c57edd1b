//! The processors whose instructions the check knows.

mod aarch64;
mod x86_64;

use std::process::Command;

use crate::check::Fault;
use crate::image::{Effect, Image};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    X86_64,
    /// With LSE, whose atomic additions are one instruction.
    Aarch64,
}

impl Processor {
    pub(crate) const fn objdump(self) -> &'static str {
        match self {
            Processor::X86_64 => "objdump",
            Processor::Aarch64 => "aarch64-linux-gnu-objdump",
        }
    }

    /// Where Cargo puts what it builds, below the target directory.
    pub(crate) const fn directory(self) -> &'static str {
        match self {
            Processor::X86_64 => "release",
            Processor::Aarch64 => "aarch64-unknown-linux-gnu/release",
        }
    }

    /// Has Cargo build for this processor.
    pub(crate) fn choose(self, cargo: &mut Command) {
        if self == Processor::Aarch64 {
            cargo
                // Std is not what is looked at, and takes long to optimise.
                .args(["--config", "profile.release.opt-level=1", "--config", "profile.release.debug=false"])
                .args(["-Zbuild-std=std", "--target", "aarch64-unknown-linux-gnu"])
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Ctarget-feature=+lse")
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        }
    }

    /// What the instruction does to the flow of control; `None` if it is no instruction.
    pub(crate) fn effect(self, text: &str, image: &Image) -> Option<Effect> {
        match self {
            Processor::X86_64 => x86_64::effect(text, image),
            Processor::Aarch64 => aarch64::effect(text, image),
        }
    }

    /// What no realtime-safe function may contain.
    pub(crate) fn fault(self, text: &str) -> Option<Fault> {
        match self {
            Processor::X86_64 => x86_64::fault(text),
            Processor::Aarch64 => aarch64::fault(text),
        }
    }
}
