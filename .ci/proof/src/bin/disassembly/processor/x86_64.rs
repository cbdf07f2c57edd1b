//! The instructions of x86-64.

use crate::check::Fault;
use crate::image::{Destination, Effect, Image, hex};

pub(super) fn effect(text: &str, image: &Image) -> Option<Effect> {
    let (code, comment) = text.split_once('#').unwrap_or((text, ""));
    let mut words = code.split_whitespace().skip_while(|word| is_prefix(word));
    let mnemonic = words.next()?;
    let operand = words.next().unwrap_or("");
    let to = || destination(operand, comment, image);
    Some(match mnemonic {
        "syscall" | "sysenter" | "int" => Effect::SystemCall,
        "ud2" | "ud1" | "hlt" | "int3" => Effect::Trap,
        "jmp" => Effect::Jump { to: to(), conditional: false },
        _ if mnemonic.starts_with("ret") => Effect::Return,
        _ if mnemonic.starts_with("call") => Effect::Call(to()),
        _ if mnemonic.starts_with('j') || mnemonic.starts_with("loop") => {
            Effect::Jump { to: to(), conditional: true }
        }
        _ => Effect::Next,
    })
}

fn destination(operand: &str, comment: &str, image: &Image) -> Destination {
    match operand.strip_prefix('*') {
        None => hex(operand).map_or(Destination::Unknown, Destination::Address),
        Some(place) if place.ends_with("(%rip)") => {
            let slot = comment.split_whitespace().next().and_then(hex);
            slot.map_or(Destination::Unknown, |slot| image.slot(slot))
        }
        Some(_) => Destination::Unknown,
    }
}

pub(super) fn fault(text: &str) -> Option<Fault> {
    if text.contains("%fs") || text.contains("%gs") {
        Some(Fault::ThreadLocal)
    } else if text.starts_with("rep") && !text.ends_with("ret") {
        // (`repz ret` does not repeat anything; compilers once wrote it.)
        Some(Fault::RepeatedInstruction)
    } else {
        None
    }
}

fn is_prefix(word: &str) -> bool {
    let known =
        ["lock", "bnd", "notrack", "data16", "addr32", "cs", "ds", "es", "ss", "xacquire", "xrelease"];
    known.contains(&word) || word.starts_with("rep") || word.starts_with("rex")
}
