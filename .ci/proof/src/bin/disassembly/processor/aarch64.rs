//! The instructions of AArch64.

use crate::check::Fault;
use crate::image::{Destination, Effect, Image, hex};

/// `bl 4d718 <malloc@plt>`, `b.ne 12a40 <probe_notify+0x20>`, `tbz w8, #3, 12a40 <...>`, `ret`
pub(super) fn effect(text: &str, image: &Image) -> Option<Effect> {
    let code = text.split("//").next().unwrap_or(text);
    let code = code.split(" <").next().unwrap_or(code);
    let mut words = code.split_whitespace();
    let mnemonic = words.next()?;
    // The last operand is where it goes, if it is not a register. What the library exports it also calls by its table.
    let exported = || image.symbol(text.split_once(" <")?.1.strip_suffix("@plt>")?);
    let mut to = || {
        let to = words.next_back().and_then(hex);
        exported().or(to).map_or(Destination::Unknown, Destination::Address)
    };
    Some(match mnemonic {
        "svc" | "hvc" | "smc" => Effect::SystemCall,
        "brk" | "hlt" | "udf" | ".inst" => Effect::Trap,
        "ret" | "retaa" | "retab" | "eret" => Effect::Return,
        "b" => Effect::Jump { to: to(), conditional: false },
        "bl" => Effect::Call(to()),
        "cbz" | "cbnz" | "tbz" | "tbnz" => Effect::Jump { to: to(), conditional: true },
        _ if mnemonic.starts_with("blr") => Effect::Call(Destination::Unknown),
        _ if mnemonic.starts_with("br") => Effect::Jump { to: Destination::Unknown, conditional: false },
        _ if mnemonic.starts_with("b.") || mnemonic.starts_with("bc.") => {
            Effect::Jump { to: to(), conditional: true }
        }
        _ => Effect::Next,
    })
}

pub(super) fn fault(text: &str) -> Option<Fault> {
    let mnemonic = text.split_whitespace().next()?;
    // With `x`, exclusive: a store of these may fail again and again.
    let exclusive = ["ldxr", "ldaxr", "ldxp", "ldaxp", "stxr", "stlxr", "stxp", "stlxp"];
    if text.contains("tpidr") {
        Some(Fault::ThreadLocal)
    } else if exclusive.iter().any(|it| mnemonic.starts_with(it)) {
        Some(Fault::RepeatedInstruction)
    } else {
        None
    }
}
