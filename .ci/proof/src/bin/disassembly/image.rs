//! What `objdump` says about a shared library, as far as the check needs it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use crate::check::Fault;
use crate::processor::Processor;

/// A shared library, disassembled.
pub(crate) struct Image {
    processor: Processor,
    /// By the address of the first instruction.
    functions: BTreeMap<u64, Function>,
    exported: HashMap<String, u64>,
    /// What the loader writes into the addresses that calls go through.
    slots: HashMap<u64, Destination>,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) instructions: BTreeMap<u64, Instruction>,
}

pub(crate) struct Instruction {
    pub(crate) text: String,
    pub(crate) effect: Effect,
    pub(crate) fault: Option<Fault>,
}

/// Where control goes after an instruction.
pub(crate) enum Effect {
    Next,
    SystemCall,
    Call(Destination),
    Jump {
        to: Destination,
        conditional: bool,
    },
    Return,
    /// An instruction that is none, such as `ud2`.
    Trap,
}

#[derive(Clone)]
pub(crate) enum Destination {
    Address(u64),
    /// A symbol of another library.
    Foreign(String),
    /// A register, or a place in memory that the program itself fills.
    Unknown,
}

impl Image {
    pub(crate) fn read(library: &Path, processor: Processor) -> Image {
        let objdump = |options: &[&str]| objdump(processor, library, options);
        let mut image =
            Image { processor, functions: BTreeMap::new(), exported: HashMap::new(), slots: HashMap::new() };
        for line in objdump(&["--dynamic-syms"]).lines() {
            image.read_symbol(line);
        }
        for line in objdump(&["--dynamic-reloc"]).lines() {
            image.read_relocation(line);
        }
        // `--wide` only splits the bytes, which are not shown; without it long instructions span two lines.
        for line in objdump(&["--disassemble", "--demangle", "--no-show-raw-insn", "--wide"]).lines() {
            image.read_code(line);
        }
        image
    }

    /// The exported functions whose names start with `prefix`, sorted.
    pub(crate) fn exported(&self, prefix: &str) -> BTreeMap<&str, u64> {
        let named = self.exported.iter().filter(|(name, _)| name.starts_with(prefix));
        named.map(|(name, &at)| (name.as_str(), at)).collect()
    }

    pub(crate) fn function(&self, at: u64) -> Option<&Function> {
        self.functions.get(&at)
    }

    /// What the loader writes there.
    pub(crate) fn slot(&self, at: u64) -> Destination {
        self.slots.get(&at).cloned().unwrap_or(Destination::Unknown)
    }

    /// Where an exported function is.
    pub(crate) fn symbol(&self, name: &str) -> Option<u64> {
        self.exported.get(name).copied()
    }

    /// `0000000000012a40 g    DF .text 0000000000000062  Base        probe_notify_many`
    fn read_symbol(&mut self, line: &str) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [address, .., name] = fields[..]
            && fields.contains(&".text")
            && let Some(address) = hex(address)
        {
            self.exported.insert(name.to_owned(), address);
        }
    }

    /// `000000000004d708 R_X86_64_RELATIVE  *ABS*+0x0000000000012630` or
    /// `000000000004d7d8 R_X86_64_GLOB_DAT  syscall@GLIBC_2.2.5`
    fn read_relocation(&mut self, line: &str) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [slot, _type, value] = fields[..] else { return };
        let Some(slot) = hex(slot) else { return };
        let name = value.split('@').next().unwrap_or(value);
        let to = match (value.strip_prefix("*ABS*+"), self.exported.get(name)) {
            (Some(address), _) => hex(address).map_or(Destination::Unknown, Destination::Address),
            (None, Some(&address)) => Destination::Address(address),
            (None, None) => Destination::Foreign(name.to_owned()),
        };
        self.slots.insert(slot, to);
    }

    /// `00000000000129f0 <probe_notify>:` or
    /// `   12a2e: call   *0x3ace4(%rip)        # 4d718 <_DYNAMIC+0x230>`
    fn read_code(&mut self, line: &str) {
        if let Some((address, name)) = line.split_once(" <")
            && let Some(name) = name.strip_suffix(">:")
            && let Some(address) = hex(address)
        {
            self.functions.insert(address, Function { name: name.to_owned(), instructions: BTreeMap::new() });
        } else if let Some((address, text)) = line.split_once(":\t")
            && let Some(address) = hex(address.trim())
            && let Some(effect) = self.processor.effect(text, self)
            && let Some((_, function)) = self.functions.range_mut(..=address).next_back()
        {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let fault = self.processor.fault(&text);
            function.instructions.insert(address, Instruction { text, effect, fault });
        }
    }
}

pub(crate) fn hex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

fn objdump(processor: Processor, library: &Path, options: &[&str]) -> String {
    let program = processor.objdump();
    let output = Command::new(program).args(options).arg(library).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {program} (a package binutils): {error}"));
    assert!(output.status.success(), "objdump failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("objdump writes ASCII")
}
