//! A journal that waits has what an earlier test overwrote on a card. Before it is back nothing may be written to that
//! card: a further test would take the stamps of the first one for the card's own data.

use super::{About, Journal, place};
use crate::card_key::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_probe::keeper::Keeper;

/// Refuses a card for which a journal waits. One whose test goes on holds its lock, and is no matter of this run.
///
/// # Errors
/// A refusal that names the journal.
pub(crate) fn none_waits(target: &str, opened: &Opened) -> Result<(), Failure> {
    let Ok(files) = place::waiting() else { return Ok(()) };
    let (key, bytes) = (card_key(opened), opened.target.info().bytes);
    for file in files {
        let Ok(journal) = Journal::open(&file) else { continue };
        let holds = !journal.kept().is_empty() || journal.damage().lost_ranges > 0;
        if holds && !journal.restored() && is_about(journal.about(), target, key.as_deref(), bytes) {
            let file = file.display();
            return Err(Failure::Refused(format!(
                "a test of this card that began at {} was cut off, and what it overwrote waits in a journal; nothing was written. Put it back first: `cardscope restore {file} {target}`. If it is not needed any more, remove that file",
                journal.about().began
            )));
        }
    }
    Ok(())
}

/// By what the card says of itself; where one of both says nothing, by name and size.
fn is_about(about: &About, target: &str, key: Option<&str>, bytes: u64) -> bool {
    match (about.card_key.as_deref(), key) {
        (Some(was), Some(is)) => was == is,
        _ => about.target == target && about.announced_bytes == bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_about_a_card_by_its_identity_and_without_one_by_name_and_size() {
        let about = |key: Option<&str>| About {
            tool_version: "0".into(),
            target: "/dev/sdz".into(),
            card_key: key.map(str::to_owned),
            card: None,
            announced_bytes: 4096,
            began: String::new(),
            witnesses: Vec::new(),
        };
        assert!(is_about(&about(Some("a")), "/dev/sdy", Some("a"), 4096), "in another slot");
        assert!(!is_about(&about(Some("a")), "/dev/sdz", Some("b"), 4096), "another card in the slot");
        assert!(is_about(&about(None), "/dev/sdz", None, 4096));
        assert!(is_about(&about(Some("a")), "/dev/sdz", None, 4096), "in a reader that does not tell");
        assert!(!is_about(&about(None), "/dev/sdz", None, 8192));
        assert!(!is_about(&about(None), "/dev/sdy", None, 4096));
    }
}
