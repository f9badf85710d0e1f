//! A journal that waits has what an earlier test overwrote on a card. Before it is back nothing may be written to that
//! card: a further test would take the stamps of the first one for the card's own data, and one that destroys would
//! destroy the places that are to be restored.

#[cfg(test)]
mod tests;

use super::whose::{Medium, Whose, whose};
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_engine::cause::Cause;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::journal::Journal as _;
use cardscope_journal::{Journal, Unusable, folder};
use cardscope_model::caveat::Caveat;
use std::path::{Path, PathBuf};

/// Refuses a card for which a journal waits, or may wait; journals of other cards are named in the caveats. Nothing is
/// written. A journal whose test goes on holds its lock, and is no matter of this run.
///
/// # Errors
/// A refusal that names the journal; the card is gone; the user stops it.
pub(crate) fn none_waits(target: &str, opened: &mut Opened, interrupt: &Interrupt) -> Result<(), Failure> {
    // Without a folder there are no journals.
    if folder::folder().is_err() {
        return Ok(());
    }
    against(&folder::waiting()?, target, opened, interrupt)
}

fn against(
    files: &[PathBuf],
    target: &str,
    opened: &mut Opened,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let medium = Medium::of(target, opened);
    for file in files {
        let mut journal = match Journal::open(file) {
            Ok(journal) => journal,
            Err(Unusable::Running(_) | Unusable::Empty(_)) => continue,
            Err(Unusable::Unknown(_)) if !file.exists() => continue,
            Err(Unusable::Unknown(why)) => return Err(unknown(target, file, why)),
        };
        let holds = !journal.saved().is_empty() || journal.damage().lost_ranges > 0;
        if !holds || journal.restored() {
            continue;
        }
        match whose(&mut journal, &medium, opened, interrupt)? {
            Whose::Its(_) => return Err(its(target, file, &journal.about().began)),
            Whose::Unsure(why) => return Err(unsure(target, file, &why)),
            Whose::Another(why) => opened.caveats.push(another(file, &why)),
        }
    }
    Ok(())
}

fn its(target: &str, file: &Path, began: &str) -> Failure {
    let file = file.display();
    Failure::refused(format!(
        "a test of this card that began at {began} was cut off, and what it overwrote waits in a journal; nothing was written. Put it back first: `cardscope restore {file} {target}`. If it is not needed any more, remove that file"
    ))
}

fn unsure(target: &str, file: &Path, why: &str) -> Failure {
    let file = file.display();
    Failure::refused(format!(
        "the journal {file} may belong to this card: {why}. Nothing was written. If it does, restore it first: `cardscope restore {file} {target}`; if not, move that file to another folder, or remove that file if nobody needs it"
    ))
}

fn unknown(target: &str, file: &Path, why: Cause) -> Failure {
    let words = format!(
        "{why}. It may belong to this card, so nothing was written to {target}: move the file {} to another folder if it does not",
        file.display()
    );
    Failure::refused_for(words, why)
}

fn another(file: &Path, why: &str) -> Caveat {
    let file = file.display();
    Caveat::Other {
        text: format!(
            "the journal {file} waits for another card ({why}): `cardscope restore {file}` restores that card"
        ),
    }
}
