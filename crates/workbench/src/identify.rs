//! `list`, `info` and `decode`: what is there, and what it says of itself.

use crate::error::Failure;
use cardscope_device::inspect;
use cardscope_device::list::{self, Scope};
use cardscope_device::system::System;
use cardscope_model::identity::{self, Identity};
use cardscope_simulator::target_spec;
use std::path::Path;

pub use cardscope_device::list::Entry;
pub use cardscope_model::identity::HexRegisters;

/// Devices on this machine, or in a recorded `/sys` tree: those that can be taken out, or `all`.
///
/// # Errors
/// If `sysfs` is no copy of a `/sys` tree.
pub fn list(sysfs: Option<&Path>, all: bool) -> Result<Vec<Entry>, Failure> {
    let scope = if all { Scope::WithLoops } else { Scope::Hardware };
    let mut entries = list::list(&system(sysfs)?, scope);
    entries.retain(|e| all || e.removable);
    Ok(entries)
}

/// What a card says of itself, judged as of today.
///
/// # Errors
/// If there is no such card, or it cannot be asked.
pub fn info(target: &str, sysfs: Option<&Path>) -> Result<Identity, Failure> {
    let identity = if target.starts_with(target_spec::PREFIX) {
        let spec = target_spec::parse(target).map_err(Failure::refused)?;
        cardscope_simulator::identity(&spec.archetype).map_err(Failure::refused)?
    } else {
        inspect::inspect(&system(sysfs)?, target).map_err(Failure::refused)?
    };
    Ok(judged(identity))
}

/// Decodes pasted registers, judged as of today.
///
/// # Errors
/// If a text is not the register it was given for, or nothing was given.
pub fn decode(registers: &HexRegisters<'_>) -> Result<Identity, Failure> {
    if *registers == HexRegisters::default() {
        return Err(Failure::refused(
            "nothing to decode: give --cid, --csd, --scr, --ssr or --ocr with hex digits",
        ));
    }
    identity::from_hex(*registers).map(judged).map_err(Failure::refused)
}

fn system(sysfs: Option<&Path>) -> Result<System, Failure> {
    match sysfs {
        None => Ok(System::host()),
        Some(dir) if System::is_recorded(dir) => Ok(System::recorded(dir)),
        Some(dir) => Err(Failure::Refused(format!(
            "{} holds no copy of a /sys tree: there is neither {0}/block nor {0}/sys/block",
            dir.display()
        ))),
    }
}

/// Adds the findings, keeping those of whoever read the parts.
fn judged(identity: Identity) -> Identity {
    let today = jiff::Zoned::now().date();
    let (year, month) = (today.year().unsigned_abs(), today.month().unsigned_abs());
    let mut read = identity.findings.clone();
    let mut identity = identity.judged((year, month));
    read.append(&mut identity.findings);
    identity.findings = read;
    identity
}
