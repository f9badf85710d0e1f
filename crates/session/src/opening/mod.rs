//! From the name of a target to an open one: a simulated card, a directory, a file or a device.
//!
//! Everything that could be lost is asked for here, before the first byte is written.

mod real;

pub(crate) use real::mounted;

use crate::consent::{Consent, Question, obtain};
use crate::error::{Failure, Result};
use crate::journals;
use crate::opened::Opened;
use cardscope_device::held::{Held, HoldError, Kind};
use cardscope_device::open::Access;
use cardscope_engine::interrupt::Interrupt;
use cardscope_simulator::{SimTarget, identity, target_spec};
use std::path::Path;
use std::sync::Arc;

/// Opens a target. `writes` tells whether something is going to be written to it.
///
/// # Errors
/// A refusal: there is no such target, it is not safe to write to, consent was not given, or a journal waits that has
/// what an earlier test overwrote on it.
pub fn open(name: &str, writes: bool, consent: &mut dyn Consent, interrupt: &Interrupt) -> Result<Opened> {
    let mut opened = open_any(name, writes, Directories::Taken, consent, interrupt)?;
    // In a directory only files of the test's own are written.
    if writes && !opened.is_directory() {
        journals::none_waits(name, &mut opened, interrupt)?;
    }
    Ok(opened)
}

/// Opens a card to put back what a journal or an image has.
///
/// # Errors
/// A refusal, as [`open`], and of a directory; a journal that waits is none.
pub(crate) fn open_to_restore(
    name: &str,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened> {
    open_any(name, true, Directories::Refused, consent, interrupt)
}

/// Whether a directory may stand for the card that is mounted there: in it a file of the test's own is made.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Directories {
    Taken,
    Refused,
}

fn open_any(
    name: &str,
    writes: bool,
    directories: Directories,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened> {
    if target_spec::is_simulated(name) {
        return simulated(name);
    }
    let access = if writes { Access::ReadWrite } else { Access::Read };
    let held = Arc::new(Held::open(Path::new(name), access).map_err(|error| not_held(name, error))?);
    match held.kind() {
        Kind::Directory if directories == Directories::Refused => Err(Failure::refused(format!(
            "{name} is a directory; name the card itself, as `cardscope list` shows it, or its image file"
        ))),
        Kind::Directory => real::directory(&held, interrupt),
        Kind::File => {
            agree(name, &held, writes, consent)?;
            real::file(name, &held, writes, interrupt)
        }
        Kind::Device(device) => {
            agree(name, &held, writes, consent)?;
            real::device(name, &held, device, writes, interrupt)
        }
    }
}

/// A simulated card: nothing to lose, nothing to ask.
fn simulated(name: &str) -> Result<Opened> {
    let spec = target_spec::parse(name).map_err(Failure::refused)?;
    let identity = identity(&spec.archetype).map_err(Failure::refused)?;
    let (bus, condition) = (spec.archetype.rig.bus_mb_s, spec.condition());
    let target = Box::new(SimTarget::open(spec).map_err(Failure::refused)?);
    let mut opened = Opened::of(target, Some(identity), condition);
    opened.ceiling_mb_s = opened.ceiling_mb_s.or(bus);
    Ok(opened)
}

/// Asks about the very object that is open, and looks afterwards whether it is still what was asked about.
fn agree(name: &str, held: &Held, writes: bool, consent: &mut dyn Consent) -> Result<()> {
    if !writes {
        return Ok(());
    }
    let contents = held.contents().map_err(Failure::io)?;
    let known = held.also_known_as().map_or_else(|| name.to_owned(), |real| format!("{name} ({real})"));
    let device = if let Kind::Device(device) = held.kind() { Some(device) } else { None };
    let at_stake = consent.narrowed(&real::at_stake(&known, held.bytes(), device, &contents), &contents);
    obtain(consent, &Question { target: name.to_owned(), at_stake })?;
    held.agreed().map_err(|change| {
        Failure::refused_for(
            format!("{change}; nothing was written to {name}. Check what it is now and start again"),
            change,
        )
    })
}

fn not_held(name: &str, error: HoldError) -> Failure {
    match error {
        HoldError::Name(errno) => no_target(name, errno.into()),
        other => Failure::refused(other),
    }
}

fn no_target(name: &str, error: std::io::Error) -> Failure {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let advice = match error.kind() {
        NotFound | NotADirectory => {
            "check the name (`cardscope list` shows the devices), and that the card is plugged in or mounted"
        }
        _ => "name a device as `cardscope list` shows it, a directory, a file, or sim:NAME",
    };
    Failure::refused_for(format!("{name} cannot be tested ({error}); {advice}"), error)
}
