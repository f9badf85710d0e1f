//! Is this the card that the journal is about? Size and identity first, then the content: each sector of what was
//! saved holds its original still, or a stamp of the run that saved it, or something that neither wrote.
//!
//! Only sectors that tell something count: one byte repeated is the same on every empty card.

use crate::card_key::card_key;
use crate::error::Failure;
use crate::journal::{Journal, Witness};
use crate::opening::Opened;
use cardscope_engine::content::{Content, read_stamp_header};
use cardscope_model::restore::RecognisedBy;
use cardscope_model::units::Capacity;
use cardscope_probe::card::{Answer, Card, pieces};
use cardscope_probe::keeper::{Keeper, Kept};
use cardscope_probe::ranges::Ranges;
use cardscope_probe::trouble::Stop;

const SECTOR: usize = 512;

/// A card without identity is taken for another one where more than one in so many telling sectors is foreign. Some
/// always may be: a bad card loses or changes what it is given.
const ONE_IN: u64 = 10;

/// What stands in the places that were saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// Sectors that hold their original, and it is not one byte repeated.
    pub(super) same: u64,
    /// Sectors with a stamp of the run.
    pub(super) ours: u64,
    /// Sectors that hold neither.
    pub(super) foreign: u64,
    /// Sectors that could not be read.
    pub(super) unread: u64,
    /// Bytes that do not hold their original.
    pub(super) differing: u64,
}

/// Places that hold something of later than the test. A device writes a sector of 512 bytes whole or not at all, and
/// each has a stamp of its own, so that what a crash tore is a mixture of originals and stamps, and not in here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Newer {
    /// What holds neither the original nor a stamp of the run.
    pub(super) foreign: Vec<Kept>,
    /// What was saved as a stamp of the run: on a fake another address leads to the same place, and has its original.
    pub(super) aliases: Vec<Kept>,
}

impl Newer {
    /// All of it, in order.
    pub(super) fn all(&self) -> Vec<Kept> {
        joined([self.foreign.as_slice(), &self.aliases].concat())
    }
}

fn joined(mut ranges: Vec<Kept>) -> Vec<Kept> {
    ranges.sort_unstable_by_key(|range| range.offset);
    let mut all: Vec<Kept> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if last.offset + last.len == range.offset => last.len += range.len,
            _ => all.push(range),
        }
    }
    all
}

/// Refuses a card that cannot be it, before it is read.
pub(super) fn size_and_identity(journal: &Journal, opened: &Opened, target: &str) -> Result<bool, Failure> {
    let about = journal.about();
    let bytes = opened.target.info().bytes;
    let another = |why: String| {
        Failure::Refused(format!(
            "{target} is not the card of this journal: {why}; nothing was written. Put that card in, and name it: cardscope restore {} TARGET",
            journal.path().display()
        ))
    };
    if bytes != about.announced_bytes {
        return Err(another(format!(
            "it has {}, that one had {}",
            Capacity(bytes),
            Capacity(about.announced_bytes)
        )));
    }
    match (&about.card_key, card_key(opened)) {
        (Some(was), Some(is)) if *was != is => {
            let named = about.card.as_deref().map(|card| format!(" ({card})")).unwrap_or_default();
            Err(another(format!("it says of itself that it is another one than that{named}")))
        }
        (was, is) => Ok(was.is_some() && is.is_some()),
    }
}

/// Reads every place that was saved, and the witnesses; nothing is written.
pub(super) fn survey(card: &mut Card<'_>, journal: &mut Journal) -> Result<(Survey, Newer), Stop> {
    let (mut survey, mut newer) = (Survey::default(), Newer::default());
    let salts = journal.salts().to_vec();
    let (mut original, mut seen) = (Vec::new(), Ranges::default());
    // The oldest first: where a place was saved twice, what counts is what stood there before the test.
    for kept in journal.kept().into_iter().rev() {
        card.go_on()?;
        if journal.original(kept, &mut original).is_err() {
            continue;
        }
        for (start, end) in seen.add(kept.offset, kept.offset + kept.len) {
            let wanted = &original[(start - kept.offset) as usize..(end - kept.offset) as usize];
            survey.read(card, (start, wanted), &salts, &mut newer)?;
        }
    }
    for witness in journal.about().witnesses.iter().filter(|witness| !witness.constant) {
        survey.hear(card, *witness, &salts)?;
    }
    newer.foreign = joined(newer.foreign);
    Ok((survey, newer))
}

impl Survey {
    fn read(
        &mut self,
        card: &mut Card<'_>,
        (start, wanted): (u64, &[u8]),
        salts: &[u64],
        newer: &mut Newer,
    ) -> Result<(), Stop> {
        let end = start + wanted.len() as u64;
        card.read(pieces(start, end, card.block()), Content::Buffer, |piece, _, answer| {
            let from = (piece.offset - start) as usize;
            let wanted = &wanted[from..from + piece.len as usize];
            match answer {
                Answer::Differs { bytes, .. } => self.count(piece.offset, wanted, bytes, salts, newer),
                Answer::Same => {}
                Answer::Failed(_) => {
                    self.unread += u64::from(piece.len) / SECTOR as u64;
                    self.differing += u64::from(piece.len);
                }
            }
            Ok(())
        })
    }

    /// What was saved may be a stamp of the run itself: there a fake answers for two addresses, and the place's own
    /// original is in the journal under the other one.
    fn count(&mut self, start: u64, wanted: &[u8], found: &[u8], salts: &[u64], newer: &mut Newer) {
        let sectors = wanted.chunks(SECTOR).zip(found.chunks(SECTOR));
        for ((wanted, found), offset) in sectors.zip((start..).step_by(SECTOR)) {
            let place = Kept { offset, len: found.len() as u64 };
            if wanted == found {
                self.same += u64::from(wanted.iter().any(|byte| *byte != wanted[0]));
                continue;
            }
            if is_ours(wanted, salts) {
                newer.aliases.extend((!is_ours(found, salts)).then_some(place));
                continue;
            }
            self.differing += found.len() as u64;
            match is_ours(found, salts) {
                true => self.ours += 1,
                false => {
                    self.foreign += 1;
                    newer.foreign.push(place);
                }
            }
        }
    }

    /// A witness that lies where the test wrote is in the journal, and was counted there.
    fn hear(&mut self, card: &mut Card<'_>, witness: Witness, salts: &[u64]) -> Result<(), Stop> {
        let end = witness.offset + u64::from(witness.len);
        if end > card.bytes() {
            return Ok(());
        }
        let sectors = u64::from(witness.len) / SECTOR as u64;
        card.read(pieces(witness.offset, end, card.block()), Content::Buffer, |_, _, answer| {
            match answer {
                Answer::Differs { bytes, .. } if crc32c::crc32c(bytes) == witness.crc32c => {
                    self.same += sectors
                }
                Answer::Differs { bytes, .. } if bytes.chunks(SECTOR).any(|s| is_ours(s, salts)) => {}
                Answer::Differs { .. } => self.foreign += sectors,
                _ => {}
            }
            Ok(())
        })
    }

    /// By what the card is known, or why it is not: `named` is true where both identities are known and agree.
    pub(super) fn recognise(&self, named: bool) -> Result<RecognisedBy, String> {
        let telling = self.same + self.ours + self.foreign;
        match telling {
            _ if named => Ok(RecognisedBy::Identity),
            0 => Ok(RecognisedBy::SizeOnly),
            _ if self.foreign * ONE_IN <= telling => Ok(RecognisedBy::Content),
            _ => Err(format!(
                "of {telling} sectors that would tell, {} hold neither what was saved nor what the test wrote",
                self.foreign
            )),
        }
    }
}

fn is_ours(sector: &[u8], salts: &[u64]) -> bool {
    read_stamp_header(sector).is_some_and(|stamp| salts.is_empty() || salts.contains(&stamp.salt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::fill;

    fn stamp(salt: u64) -> Vec<u8> {
        let mut sector = vec![0; SECTOR];
        fill(Content::Stamp { salt, generation: 1 }, 4096, &mut sector);
        sector
    }

    fn counted(wanted: &[u8], found: &[u8]) -> Survey {
        let mut survey = Survey::default();
        survey.count(4096, wanted, found, &[7], &mut Newer::default());
        survey
    }

    #[test]
    fn a_sector_is_as_it_was_or_the_tests_own_or_foreign() {
        let noise: Vec<u8> = (0..SECTOR).map(|i| (i * 7) as u8).collect();
        let none = Survey::default();
        let changed = Survey { differing: 512, ..none };
        assert_eq!(counted(&noise, &noise), Survey { same: 1, ..none });
        assert_eq!(counted(&[0; SECTOR], &[0; SECTOR]), none, "an empty sector tells nothing");
        assert_eq!(counted(&noise, &stamp(7)), Survey { ours: 1, ..changed });
        assert_eq!(counted(&noise, &stamp(8)), Survey { foreign: 1, ..changed }, "another run's");
        assert_eq!(counted(&noise, &[0; SECTOR]), Survey { foreign: 1, ..changed });
        assert_eq!(counted(&stamp(7), &noise), none, "an address for which another one answered");
    }

    #[test]
    fn what_was_written_since_is_spared_and_so_is_another_address_of_its_place() {
        let noise: Vec<u8> = (0..SECTOR).map(|i| (i * 7) as u8).collect();
        let wanted = [noise.clone(), noise.clone(), stamp(7), stamp(7), noise.clone()].concat();
        let found = [[1; SECTOR].to_vec(), stamp(7), noise.clone(), stamp(7), noise].concat();
        let mut newer = Newer::default();
        Survey::default().count(8192, &wanted, &found, &[7], &mut newer);
        assert_eq!(newer.foreign, [Kept { offset: 8192, len: 512 }]);
        assert_eq!(newer.aliases, [Kept { offset: 9216, len: 512 }]);
    }

    #[test]
    fn a_card_without_identity_is_another_one_when_more_than_a_tenth_is_foreign() {
        let known =
            |same, ours, foreign| Survey { same, ours, foreign, ..Survey::default() }.recognise(false);
        assert_eq!(known(90, 0, 10), Ok(RecognisedBy::Content));
        assert_eq!(known(0, 9, 1), Ok(RecognisedBy::Content));
        assert!(known(89, 0, 11).is_err() && known(0, 0, 1).is_err());
        assert_eq!(known(0, 0, 0), Ok(RecognisedBy::SizeOnly));
        let named = Survey { foreign: 100, ..Survey::default() }.recognise(true);
        assert_eq!(named, Ok(RecognisedBy::Identity));
    }
}
