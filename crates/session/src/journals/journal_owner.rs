//! Matches a journal to a card. Used when a card is opened for writing, by `restore`, and for the restoration at the end of a
//! run.
//!
//! If both sides have registers that identify the card (CID, NVMe serial number), these alone decide. The serial number of
//! a reader is ignored, since it stays the same for every card. Otherwise the content of the card decides.

use crate::card_key::card_key;
use crate::error::Result;
use crate::open_target::OpenTarget;
use cardscope_device::block::BlockDevice;
use cardscope_device::system::SystemRoots;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_journal::survey::{CardSurvey, SurveyExtent, survey_card};
use cardscope_journal::{Journal, JournalFacts};
use cardscope_model::restore::RecognisedBy;
use cardscope_model::units::DecimalSize;

/// A card is in doubt if more than 1 in 10 sectors holds neither saved data nor a stamp. Some may: a bad card corrupts data,
/// and it may have been used since.
const MIN_MATCHES_PER_MISMATCH: u64 = 10;

/// Differing sectors that prove a different card: 8 places of 4 KiB.
const MIN_CONTRARY_SECTORS: u64 = 64;

/// Cards formatted by the same tool share a few sectors (partition table, start of the FAT): at most 1 for every 20 that
/// differ.
const MAX_COMMON_RATIO: u64 = 20;

/// Places of 4 KiB that are sampled for a journal before a card is written to.
const SAMPLED_PLACES: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalOwner {
    ThisCard(RecognisedBy),
    /// A different card, and the evidence.
    OtherCard(String),
    /// Undecided, and the reason.
    Uncertain(String),
}

/// Medium of a target, and the part of it that the target covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetMedium {
    /// Card key. None for a file, which is not identified by the disk it lies on.
    pub(crate) key: Option<String>,
    pub(crate) start: u64,
    pub bytes: u64,
}

impl TargetMedium {
    pub fn of_target(opened: &OpenTarget) -> TargetMedium {
        let device = opened.device().is_some();
        let start = || BlockDevice::find(&SystemRoots::host(), &opened.stable_path())?.start();
        TargetMedium {
            key: if device || opened.is_simulated() { card_key(opened) } else { None },
            start: device.then(start).flatten().unwrap_or(0),
            bytes: opened.target.info().bytes,
        }
    }

    /// Compares the keys. Returns None if one side has none.
    pub fn has_same_key(&self, about: &JournalFacts) -> Option<bool> {
        Some(about.card_key.as_ref()? == self.key.as_ref()?)
    }

    /// True if the target covers the same part of the medium, as far as the journal records that.
    pub fn same_part(&self, about: &JournalFacts) -> bool {
        self.bytes == about.announced_bytes && about.start_bytes.is_none_or(|start| start == self.start)
    }

    /// True if the journal's target and this one overlap.
    fn overlaps_journal(&self, about: &JournalFacts) -> bool {
        let start = about.start_bytes.unwrap_or(self.start);
        start < self.start + self.bytes && self.start < start + about.announced_bytes
    }

    /// Offset from the journal's addresses to those of this target.
    fn address_offset(&self, about: &JournalFacts) -> i64 {
        about.start_bytes.map_or(0, |start| start.cast_signed() - self.start.cast_signed())
    }
}

/// Finds the owner of a journal. If the keys do not decide, it reads about a hundred places of the card. It writes
/// nothing.
pub(super) fn find_owner(
    journal: &mut Journal,
    medium: &TargetMedium,
    opened: &mut OpenTarget,
    interrupt: &InterruptFlag,
) -> Result<JournalOwner> {
    let about = journal.facts();
    match medium.has_same_key(about) {
        Some(false) => return Ok(JournalOwner::OtherCard("the card has another identity".to_owned())),
        _ if !medium.overlaps_journal(about) => {
            return Ok(JournalOwner::OtherCard("it is from another part of a card".to_owned()));
        }
        Some(true) => return Ok(JournalOwner::ThisCard(RecognisedBy::Identity)),
        None => {}
    }
    let (shift, same_part) = (medium.address_offset(about), medium.same_part(about));
    let size = DecimalSize(about.announced_bytes);
    let mut card = IoDriver::new(opened.target.as_mut(), interrupt, 4096, 1)?;
    let (survey, _) = survey_card(&mut card, journal, SurveyExtent::Sample(SAMPLED_PLACES), shift)?;
    let content = owner_by_content(&survey, journal.restoring_begun());
    if same_part {
        return Ok(content);
    }

    Ok(match content {
        // The reader may report less than the card has, and a partition covers a part of its disk, so this may be the card.
        JournalOwner::ThisCard(_) => {
            JournalOwner::Uncertain(format!("it has the test data, but the journal is for a card of {size}"))
        }
        JournalOwner::Uncertain(_) if survey.read > 0 && survey.original + survey.stamped == 0 => {
            JournalOwner::OtherCard(format!("the journal is for a card of {size}"))
        }
        other => other,
    })
}

/// Judges the content alone. `begun` is true if the restoration had begun, since before that a test leaves its stamps on
/// the card. None if the journal does not record it (earlier versions).
pub fn owner_by_content(survey: &CardSurvey, begun: Option<bool>) -> JournalOwner {
    let CardSurvey { original: same, stamped: ours, foreign, read, unstamped, untouched, .. } = *survey;
    let telling = same + ours + foreign;
    let neither = format!("{foreign} of {telling} sectors hold neither saved data nor test data");
    if read == 0 {
        return JournalOwner::Uncertain("none of its sectors could be read".to_owned());
    }
    if ours == 0 && begun == Some(false) && unstamped >= MIN_CONTRARY_SECTORS {
        return JournalOwner::OtherCard(format!("{unstamped} overwritten sectors do not hold test data"));
    }
    if ours == 0 && foreign >= MIN_CONTRARY_SECTORS && same * MAX_COMMON_RATIO <= foreign {
        return JournalOwner::OtherCard(neither);
    }
    if telling == 0 {
        return JournalOwner::Uncertain("all its sectors are empty".to_owned());
    }
    // A seed produces the same stamps on every card, so only sectors that no test touched distinguish them.
    if untouched.0 == 0 && untouched.1 >= MIN_CONTRARY_SECTORS / 2 {
        return JournalOwner::Uncertain(format!("{} untouched sectors have changed", untouched.1));
    }
    if ours == 0 && begun != Some(true) {
        return JournalOwner::Uncertain("it holds no test data, like a copy of the card".to_owned());
    }
    match foreign * MIN_MATCHES_PER_MISMATCH <= telling {
        true => JournalOwner::ThisCard(RecognisedBy::Content),
        false => JournalOwner::Uncertain(neither),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Survey with numbers of sectors that hold the original data, stamps, or other data. The rest is empty.
    fn survey_with(same: u64, ours: u64, foreign: u64) -> CardSurvey {
        CardSurvey { original: same, stamped: ours, foreign, read: 1000, ..CardSurvey::default() }
    }

    fn is_tested_card(survey: &CardSurvey, begun: Option<bool>) -> bool {
        owner_by_content(survey, begun) == JournalOwner::ThisCard(RecognisedBy::Content)
    }

    fn is_other_card(survey: &CardSurvey, begun: Option<bool>) -> bool {
        matches!(owner_by_content(survey, begun), JournalOwner::OtherCard(_))
    }

    fn is_unsure(survey: &CardSurvey, begun: Option<bool>) -> bool {
        matches!(owner_by_content(survey, begun), JournalOwner::Uncertain(_))
    }

    #[test]
    fn card_matches_with_up_to_a_tenth_of_other_sectors() {
        for begun in [None, Some(false), Some(true)] {
            assert!(
                is_tested_card(&survey_with(0, 9, 1), begun)
                    && is_tested_card(&survey_with(50, 40, 10), begun)
            );
            assert!(is_unsure(&survey_with(49, 40, 11), begun), "somebody used the card since");
            assert!(is_unsure(&survey_with(0, 1, 900), begun), "a single stamp is enough for doubt");
        }
        assert!(
            is_tested_card(&survey_with(90, 0, 10), Some(true)),
            "an interrupted putting back has left no stamp"
        );
    }

    #[test]
    fn different_content_is_another_card_despite_few_common_sectors() {
        for begun in [None, Some(false), Some(true)] {
            assert!(is_other_card(&survey_with(0, 0, 64), begun));
            assert!(is_other_card(&survey_with(10, 0, 200), begun), "formatted by the same tool");
            assert!(is_unsure(&survey_with(11, 0, 200), begun));
            assert!(is_unsure(&survey_with(0, 0, 63), begun), "too little to say so");
        }
    }

    #[test]
    fn empty_and_unreadable_cards_are_uncertain() {
        assert!(is_unsure(&survey_with(0, 0, 0), None) && is_unsure(&survey_with(0, 0, 0), Some(true)));
        let unread = CardSurvey { unread: 1000, ..CardSurvey::default() };
        assert!(is_unsure(&unread, None) && is_unsure(&unread, Some(false)));
    }

    #[test]
    fn copy_without_stamps_is_not_the_card() {
        let copy = CardSurvey { unstamped: 64, ..survey_with(900, 0, 0) };
        assert!(is_other_card(&copy, Some(false)));
        assert!(is_tested_card(&copy, Some(true)), "its own stamps may be overwritten already");
        assert!(
            is_unsure(&copy, None) && is_unsure(&survey_with(900, 0, 0), Some(false)),
            "or never written"
        );
        let empty = CardSurvey { unstamped: 64, ..survey_with(0, 0, 0) };
        assert!(is_other_card(&empty, Some(false)) && is_unsure(&empty, None));
        assert!(is_tested_card(&CardSurvey { unstamped: 900, ..survey_with(900, 1, 0) }, Some(false)));
    }

    #[test]
    fn same_seed_stamps_on_changed_card_are_uncertain() {
        assert!(is_unsure(&CardSurvey { untouched: (0, 32), ..survey_with(0, 968, 32) }, Some(false)));
        assert!(is_tested_card(&CardSurvey { untouched: (8, 32), ..survey_with(8, 960, 32) }, Some(false)));
    }

    #[test]
    fn files_and_partitions_are_distinguished_from_their_disk() {
        let medium = |start: u64, bytes| TargetMedium { key: Some("cid".to_owned()), start, bytes };
        let about = |start_bytes| JournalFacts {
            card_key: Some("cid".to_owned()),
            announced_bytes: 100,
            start_bytes,
            ..JournalFacts::default()
        };
        assert!(
            medium(0, 1000).overlaps_journal(&about(Some(900)))
                && !medium(0, 1000).same_part(&about(Some(900)))
        );
        assert!(!medium(0, 900).overlaps_journal(&about(Some(900))));
        assert_eq!(medium(512, 100).address_offset(&about(Some(2048))), 1536);
        assert!(medium(512, 100).same_part(&about(None)), "earlier versions did not say");
        assert_eq!(medium(0, 100).has_same_key(&about(None)), Some(true));
        assert_eq!(TargetMedium { key: None, start: 0, bytes: 100 }.has_same_key(&about(None)), None);
    }
}
