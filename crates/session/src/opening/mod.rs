//! Opens targets: simulated cards, directories, files and devices.
//!
//! All questions about data that could be lost are asked here, before the first byte is written.

mod real;
mod resolved;

pub use real::open_mounted;
pub use resolved::ResolvedTarget;

use crate::consent::{ConsentQuestion, ConsentSource, obtain_consent};
use crate::error::{Failure, Result};
use crate::journals;
use crate::open_target::OpenTarget;
use cardscope_device::claimed::{ClaimedKind, ClaimedTarget, HoldError};
use cardscope_device::contents::UnlikeCard;
use cardscope_device::object::check_object;
use cardscope_device::open::{OpenAccess, PermissionDialog};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_probing::reader_check;
use cardscope_simulator::{SimTarget, decode_identity, target_spec};
use real::RealOpening;
use resolved::ResolvedKind;
use std::path::Path;
use std::sync::Arc;

/// Fault injection for tests: replaces every simulated card that is opened on this thread. Tests use it to remove or
/// exchange a card while a verb runs.
#[cfg(any(test, feature = "fault-injection"))]
pub mod card_replacement {
    use crate::error::Result;
    use crate::open_target::OpenTarget;
    use std::cell::RefCell;

    type CardReplacement = Box<dyn FnMut() -> Result<OpenTarget>>;

    thread_local! {
        static REPLACEMENT: RefCell<Option<CardReplacement>> = const { RefCell::new(None) };
    }

    /// Replaces all simulated cards from now on.
    pub fn replace_card(opening: impl FnMut() -> Result<OpenTarget> + 'static) {
        REPLACEMENT.with_borrow_mut(|slot| *slot = Some(Box::new(opening)));
    }

    /// Opens the replacement, or returns None if there is none.
    pub(super) fn open_replacement() -> Option<Result<OpenTarget>> {
        REPLACEMENT.with_borrow_mut(|slot| slot.as_mut().map(|opening| opening()))
    }
}

pub fn open_by_name(
    name: &str,
    writes: bool,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    open_resolved(ResolvedTarget::from_name(name), writes, consent, interrupt)
}

/// Opens a target, for writing if `writes` is true.
/// Refuses if the target does not exist or is unsafe to write to, if consent was not given, or if data that an earlier
/// test overwrote on it is still unrestored.
pub fn open_resolved(
    target: ResolvedTarget,
    writes: bool,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    let name = target.name.clone();
    let mut opened = open_for(target, writes, OpenPurpose::Test, consent, interrupt)?;
    // In a directory only test files are written, so unrestored data of the card is safe.
    if writes && !opened.is_directory() {
        journals::refuse_unrestored(&name, &mut opened, interrupt)?;
    }
    Ok(opened)
}

/// Opens a card to restore a journal or image.
/// Refuses as [`open_by_name`], and refuses directories. Unrestored journals are no reason here.
pub fn open_to_restore(
    target: ResolvedTarget,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    open_for(target, true, OpenPurpose::Restore, consent, interrupt)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OpenPurpose {
    /// Test. A directory is accepted, and test files are created in it.
    Test,
    /// Restoration. It needs the card itself, whatever its content.
    Restore,
}

fn open_for(
    target: ResolvedTarget,
    writes: bool,
    purpose: OpenPurpose,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    target.check_object()?;
    let ResolvedTarget { name, found, object } = target;
    let name = name.as_str();
    let ResolvedKind::RealObject(pinned) = found else {
        let mut opened = open_simulated(name)?;
        if writes {
            check_reader(&mut opened, consent, interrupt)?;
        }
        return Ok(opened);
    };
    let access = if writes { OpenAccess::ReadWrite } else { OpenAccess::Read };
    let mut announce = |text: &str| consent.announce(text);
    let mut asking = PermissionDialog::new(&mut announce, interrupt);
    let held = pinned.and_then(|pinned| ClaimedTarget::claim(pinned, access, &mut asking));
    let held = Arc::new(held.map_err(|error| hold_failure(name, error))?);
    // The object is checked again, because opening the device can make a reader detect a different card.
    if let (Some(object), ClaimedKind::Device(device)) = (&object, held.kind()) {
        check_object(device.number, object, Path::new(name)).map_err(Failure::refused)?;
    }
    let opening = RealOpening { name, held: &held, writes, interrupt };
    match held.kind() {
        ClaimedKind::Directory if purpose == OpenPurpose::Restore => Err(Failure::refused(format!(
            "{name} is a directory; name the card itself, as `cardscope list` shows it, or its image file"
        ))),
        ClaimedKind::Directory => opening.open_directory(),
        ClaimedKind::File => {
            let keeps_data = writes && purpose == OpenPurpose::Test && !consent.loses_data();
            if keeps_data && let Some(why) = held.unlike_card().map_err(Failure::io)? {
                return Err(refuse_unlike_card(name, why));
            }
            ask_consent(opening, consent, opening.open_file()?)
        }
        ClaimedKind::Device(device) => ask_consent(opening, consent, opening.open_device(device)?),
    }
}

fn open_simulated(name: &str) -> Result<OpenTarget> {
    #[cfg(any(test, feature = "fault-injection"))]
    if let Some(opened) = card_replacement::open_replacement() {
        return opened;
    }
    let spec = target_spec::parse(name).map_err(Failure::refused)?;
    let identity = decode_identity(&spec.archetype).map_err(Failure::refused)?;
    let (bus, condition) = (spec.archetype.rig.bus_mb_s, spec.condition());
    let target = Box::new(SimTarget::open(spec).map_err(Failure::refused)?);
    let mut opened = OpenTarget::writable(target, Some(identity), condition);
    opened.ceiling_mb_s = opened.ceiling_mb_s.or(bus);
    Ok(opened)
}

/// Checks the reader before data is lost. Tests that preserve data check it themselves and refuse a suspect one.
fn check_reader(opened: &mut OpenTarget, consent: &dyn ConsentSource, stop: &InterruptFlag) -> Result<()> {
    if consent.loses_data() {
        let (target, ios) = (opened.target.as_mut(), &mut opened.reader_ios);
        opened.suspect_reader = reader_check::check_reader(target, stop, ios)?;
    }
    Ok(())
}

/// Asks for consent about the open object, and afterwards checks that it is still the same one. The question names a
/// suspect reader.
fn ask_consent(
    opening: RealOpening<'_>,
    consent: &mut dyn ConsentSource,
    mut opened: OpenTarget,
) -> Result<OpenTarget> {
    let RealOpening { name, held, writes, interrupt } = opening;
    opened.is_writable = writes;
    if !writes {
        return Ok(opened);
    }
    check_reader(&mut opened, consent, interrupt)?;
    let contents = held.read_contents().map_err(Failure::io)?;
    let known = held.also_known_as().map_or_else(|| name.to_owned(), |real| format!("{name} ({real})"));
    let stake = real::describe_stake(&known, held, &contents);
    let mut at_stake = consent.narrowed_stake(&stake, &contents);
    if let Some(why) = held.unlike_card().map_err(Failure::io)? {
        at_stake += &format!(" (warning: not the image of a card: {why})");
    }
    if let Some(reader) = &opened.suspect_reader {
        at_stake += &format!(" (warning: suspect reader: {reader})");
    }
    obtain_consent(consent, &ConsentQuestion { target: name.to_owned(), at_stake })?;
    held.check_after_consent().map_err(|change| {
        let text = format!("{change}; nothing was written to {name}. Check the device and start again");
        Failure::refused_for(text, change)
    })?;
    Ok(opened)
}

/// Refusal of a file that is probably not a card's image. Tests that preserve data ask no question, so nobody would notice
/// a wrong file.
fn refuse_unlike_card(name: &str, why: UnlikeCard) -> Failure {
    Failure::refused(format!(
        "{name} is not the image of a card: {why}; nothing was written. Name a card (`cardscope list`), its image, or a new \
         one (`truncate -s 1G card.img`)"
    ))
}

fn hold_failure(name: &str, error: HoldError) -> Failure {
    match error {
        HoldError::Name(errno) => missing_target(name, errno.into()),
        other => Failure::refused(other),
    }
}

fn missing_target(name: &str, error: std::io::Error) -> Failure {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let mut advice = "name a device (`cardscope list`), a directory, a file, or sim:NAME";
    if matches!(error.kind(), NotFound | NotADirectory) {
        advice = "check the name (`cardscope list`), and that the card is plugged in or mounted";
    }
    Failure::refused_for(format!("{name} cannot be tested ({error}); {advice}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consent::PreservingConsent;
    use crate::open_target::TargetType;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_the_checked_object_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [card, link] = ["card.img", "link"].map(|name| folder.path().join(name));
        std::fs::write(&card, vec![0; 1 << 20]).unwrap();
        let open_after_exchange = |writes| {
            let _ = std::fs::remove_file(&link);
            symlink(&card, &link).unwrap();
            let target = ResolvedTarget::from_name(link.to_str().unwrap());
            assert_eq!(target.target_type(), Ok(TargetType::Card));
            std::fs::remove_file(&link).unwrap();
            symlink(folder.path(), &link).unwrap();
            open_resolved(target, writes, &mut PreservingConsent, &InterruptFlag::default())
        };
        let opened = open_after_exchange(false).unwrap();
        assert_eq!((opened.target_type(), opened.target.info().bytes), (TargetType::Card, 1 << 20));
        drop(opened);
        let refusal = open_after_exchange(true).err().map(|failure| failure.to_string()).unwrap();
        assert!(refusal.contains("is now another file or device"), "{refusal}");
        assert_eq!(
            ResolvedTarget::from_name(link.to_str().unwrap()).target_type(),
            Ok(TargetType::Directory)
        );
    }
}
