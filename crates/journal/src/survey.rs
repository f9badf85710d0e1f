//! Compares a card with a journal, sector by sector: the saved original, a stamp of the run, or foreign data. Blocks
//! that the test did not write are checked by their fingerprints, which are taken before the test to recognize a card without
//! an identity. Sectors of one repeated byte do not count, because they are the same on every empty card.

use crate::journal::Journal;
use crate::record::BlockFingerprint;
use crate::restoring::{byte_ranges, merged_ranges};
use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::{IoContent, constant_byte, read_stamp_header};
use cardscope_engine::io_driver::{IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::{JournalError, JournalWriter, RestoreProgress, SavedRange};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath;
use std::collections::HashMap;

/// Bytes of a sector, which a device writes completely or not at all.
const SECTOR: usize = 512;

/// Bytes read of each place in a sample.
const SAMPLE_BYTES: u64 = 4096;

/// Unreadable sectors after which a sample ends: each can take the kernel half a minute.
const MAX_UNREAD_SECTORS: u64 = 16 * SAMPLE_BYTES / SECTOR as u64;

/// Amount of the saved data that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyExtent {
    All,
    /// About this many blocks of 4 KiB, spread over ranges and batches.
    Sample(usize),
    /// Like `Sample`, but ends at the first sector that identifies the card: an original or a stamp.
    FirstMatch(usize),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardSurvey {
    pub original: u64,
    pub stamped: u64,
    pub foreign: u64,
    pub unread: u64,
    pub read: u64,
    /// No stamp, although the run certainly overwrote them.
    pub unstamped: u64,
    /// Original is a stamp of the run for the same address: the seed was used on this card before.
    pub stamped_before: u64,
    /// Bytes that differ from their original.
    pub differing: u64,
    /// Sectors that the test did not write: unchanged, and changed. They are included in the counts above.
    pub untouched: (u64, u64),
}

/// Places written after the test. A device writes a sector completely or not at all and each sector has its own stamp,
/// so a torn write leaves originals and stamps, which are not in here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewerPlaces {
    /// Sectors with neither the original nor a stamp of the run.
    pub foreign: Vec<SavedRange>,
    /// Sectors saved as stamps of the run. On a fake, another address leads to the same place and has its original.
    pub aliases: Vec<SavedRange>,
}

impl NewerPlaces {
    pub fn merged(&self) -> Vec<SavedRange> {
        merged_ranges([self.foreign.as_slice(), &self.aliases].concat())
    }
}

/// Compares the saved ranges, or a sample of them, and the fingerprints with the card. `shift` is added to the
/// journal's addresses: a partition and its disk have the same bytes at different addresses.
pub fn survey_card(
    card: &mut IoDriver<'_>,
    journal: &mut Journal,
    extent: SurveyExtent,
    shift: i64,
) -> Result<(CardSurvey, NewerPlaces), ProbeStop> {
    let (mut survey, mut newer) = (CardSurvey::default(), NewerPlaces::default());
    let salts = journal.salts().to_vec();
    let (mut original, mut seen) = (Vec::new(), ByteRanges::default());
    for (whole, part) in sampled_parts(journal, extent) {
        card.check_interrupt()?;
        if survey.is_over(extent) {
            break;
        }
        if journal.read_original(whole, &mut original).is_err() {
            continue;
        }
        let stamped = journal.overwrote(whole);
        for (start, end) in seen.add(part.offset, part.offset + part.len) {
            let wanted = &original[(start - whole.offset) as usize..(end - whole.offset) as usize];
            let Some(start) = card_offset(card, start, end - start, shift) else { continue };
            survey.compare_range(card, (start, wanted), (&salts, stamped), &mut newer)?;
        }
    }
    for witness in untouched_fingerprints(journal) {
        card.check_interrupt()?;
        let start = card_offset(card, witness.offset, u64::from(witness.len), shift);
        if let Some(start) = start.filter(|_| !survey.is_over(extent)) {
            survey.compare_fingerprint(card, witness, start, &salts)?;
        }
    }
    newer.foreign = merged_ranges(newer.foreign);
    Ok((survey, newer))
}

/// Fingerprints of blocks that the test did not write.
fn untouched_fingerprints(journal: &Journal) -> Vec<BlockFingerprint> {
    let saved = journal.saved_ranges();
    let mut untouched = journal.facts().witnesses.clone();
    untouched.retain(|w| !saved.iter().any(|s| s.offset < w.end() && w.offset < s.offset + s.len));
    untouched
}

/// Ranges of the journal with the part of each to compare, oldest first: of a place that was saved twice only the first
/// copy is from before the test.
fn sampled_parts(journal: &Journal, extent: SurveyExtent) -> Vec<(SavedRange, SavedRange)> {
    let mut all = journal.saved_ranges();
    all.reverse();
    let (SurveyExtent::Sample(wanted) | SurveyExtent::FirstMatch(wanted)) = extent else {
        return all.into_iter().map(|whole| (whole, whole)).collect();
    };
    let (each, step) = ((wanted / all.len().max(1)).max(1) as u64, all.len().div_ceil(wanted).max(1));
    let part = move |whole: SavedRange, n: u64| {
        let at = whole.len / each * n / SAMPLE_BYTES * SAMPLE_BYTES;
        (whole, SavedRange { offset: whole.offset + at, len: SAMPLE_BYTES.min(whole.len - at) })
    };
    all.into_iter().step_by(step).flat_map(|whole| (0..each).map(move |n| part(whole, n))).collect()
}

/// Offset on the card of a range of the journal; `None` if the card is too small.
fn card_offset(card: &IoDriver<'_>, start: u64, len: u64, shift: i64) -> Option<u64> {
    let fits = |start: &u64| start.checked_add(len).is_some_and(|end| end <= card.bytes());
    start.checked_add_signed(shift).filter(fits)
}

impl CardSurvey {
    fn is_over(&self, extent: SurveyExtent) -> bool {
        let seen = matches!(extent, SurveyExtent::FirstMatch(_)) && self.original + self.stamped > 0;
        seen || extent != SurveyExtent::All && self.unread >= MAX_UNREAD_SECTORS
    }

    fn compare_range(
        &mut self,
        card: &mut IoDriver<'_>,
        (start, wanted): (u64, &[u8]),
        (salts, stamped): (&[u64], bool),
        newer: &mut NewerPlaces,
    ) -> Result<(), ProbeStop> {
        let end = start + wanted.len() as u64;
        card.read(split_extents(start, end, card.block()), IoContent::Buffer, |extent, _, answer| {
            let from = (extent.offset - start) as usize;
            let wanted = &wanted[from..from + extent.len as usize];
            match answer {
                ReadAnswer::Differs { bytes, .. } => {
                    let before = self.stamped;
                    self.count_sectors(extent.offset, (wanted, bytes), salts, newer);
                    let sectors = u64::from(extent.len) / SECTOR as u64;
                    self.read += sectors;
                    self.unstamped += if stamped { sectors - (self.stamped - before) } else { 0 };
                }
                ReadAnswer::Same => {}
                ReadAnswer::Failed(_) => {
                    self.unread += u64::from(extent.len) / SECTOR as u64;
                    self.differing += u64::from(extent.len);
                }
            }
            Ok(())
        })
    }

    /// Counts the sectors of one read. If the original itself is a stamp of the run, a fake answered for two
    /// addresses, and the true original is in the journal under the other one.
    fn count_sectors(&mut self, at: u64, (was, is): (&[u8], &[u8]), salts: &[u64], newer: &mut NewerPlaces) {
        let sectors = was.chunks(SECTOR).zip(is.chunks(SECTOR));
        for ((wanted, found), offset) in sectors.zip((at..).step_by(SECTOR)) {
            let place = SavedRange { offset, len: found.len() as u64 };
            self.stamped_before += u64::from(has_own_stamp(offset, wanted, salts));
            if wanted == found {
                self.original += u64::from(wanted.iter().any(|byte| *byte != wanted[0]));
                continue;
            }
            if has_run_stamp(wanted, salts) {
                newer.aliases.extend((!has_run_stamp(found, salts)).then_some(place));
                continue;
            }
            self.differing += found.len() as u64;
            if has_run_stamp(found, salts) {
                self.stamped += 1;
            } else {
                self.foreign += 1;
                newer.foreign.push(place);
            }
        }
    }

    /// Compares the fingerprint of a block that the test did not write.
    fn compare_fingerprint(
        &mut self,
        card: &mut IoDriver<'_>,
        witness: BlockFingerprint,
        start: u64,
        salts: &[u64],
    ) -> Result<(), ProbeStop> {
        let sectors = u64::from(witness.len) / SECTOR as u64;
        let extents = split_extents(start, start + u64::from(witness.len), card.block());
        card.read(extents, IoContent::Buffer, |_, _, answer| {
            let ReadAnswer::Differs { bytes, .. } = answer else {
                self.unread += sectors;
                return Ok(());
            };
            self.read += sectors;
            if crc32c::crc32c(bytes) == witness.crc32c {
                let evidence = if witness.constant { 0 } else { sectors };
                self.original += evidence;
                self.untouched.0 += evidence;
            } else if !bytes.chunks(SECTOR).any(|sector| has_run_stamp(sector, salts)) {
                // A stamp here was written through another address of a fake.
                self.foreign += sectors;
                self.untouched.1 += sectors;
            }
            Ok(())
        })
    }
}

pub(crate) fn has_run_stamp(sector: &[u8], salts: &[u64]) -> bool {
    read_stamp_header(sector).is_some_and(|stamp| salts.is_empty() || salts.contains(&stamp.salt))
}

fn has_own_stamp(offset: u64, sector: &[u8], salts: &[u64]) -> bool {
    has_run_stamp(sector, salts) && read_stamp_header(sector).is_some_and(|stamp| stamp.address == offset)
}

/// Part of a journal, without the places that were written after the test and must not be overwritten.
pub struct JournalPart<'j> {
    journal: &'j mut Journal,
    parts: Vec<SavedRange>,
    /// Saved range that contains each part, by offset and length.
    wholes: HashMap<(u64, u64), SavedRange>,
}

impl<'j> JournalPart<'j> {
    pub fn new(journal: &'j mut Journal, spared: &[SavedRange]) -> Self {
        let left_out = byte_ranges(spared);
        let (mut parts, mut wholes) = (Vec::new(), HashMap::new());
        for whole in journal.saved_ranges() {
            for (start, end) in left_out.missing(whole.offset, whole.offset + whole.len) {
                let part = SavedRange { offset: start, len: end - start };
                parts.push(part);
                // Of two copies of a place the older one, which comes last, is from before the test.
                wholes.insert((part.offset, part.len), whole);
            }
        }
        JournalPart { journal, parts, wholes }
    }
}

impl JournalWriter for JournalPart<'_> {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        self.journal.save(offset, original)
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        self.journal.commit()
    }

    fn saved_ranges(&self) -> Vec<SavedRange> {
        self.parts.clone()
    }

    fn read_original(&mut self, range: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let whole = self.wholes.get(&(range.offset, range.len)).copied().unwrap_or(range);
        self.journal.read_original(whole, into)?;
        into.drain(..(range.offset - whole.offset) as usize);
        into.truncate(range.len as usize);
        Ok(())
    }

    fn record_restoring(&mut self, step: RestoreProgress) {
        // Spared places are not written back, so a partial restore is never recorded as complete.
        if step == RestoreProgress::Begun || self.parts == self.journal.saved_ranges() {
            self.journal.record_restoring(step);
        }
    }
}

pub const FINGERPRINT_BYTES: u32 = 4096;

/// Blocks at the start, where partition tables and file systems begin, and blocks spread over the rest.
const START_BLOCKS: u64 = 8;
const SPREAD_BLOCKS: u64 = 24;

/// Most reads that taking fingerprints needs, one at a time.
pub const MAX_FINGERPRINTS: u64 = START_BLOCKS + SPREAD_BLOCKS;

/// Takes the fingerprints, without unreadable blocks.
pub fn take_fingerprints(target: &mut dyn Target) -> Vec<BlockFingerprint> {
    let bytes = target.info().bytes;
    fingerprint_offsets(bytes).filter_map(|offset| fingerprint_at(target, offset)).collect()
}

fn fingerprint_offsets(bytes: u64) -> impl Iterator<Item = u64> {
    let size = u64::from(FINGERPRINT_BYTES);
    let blocks = bytes / size;
    let first = (0..START_BLOCKS).map(|n| n * 256);
    // An offset that grows, so that the blocks do not all have the same position in each unit of the flash.
    let spread = (1..=SPREAD_BLOCKS).map(move |n| blocks / (SPREAD_BLOCKS + 1) * n + n * 7);
    let mut all: Vec<u64> = first.chain(spread).filter(|block| *block < blocks).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(move |block| block * size)
}

fn fingerprint_at(target: &mut dyn Target, offset: u64) -> Option<BlockFingerprint> {
    let len = FINGERPRINT_BYTES;
    target.plan(&single_read_plan(len)).ok()?;
    let content = IoContent::Buffer;
    target.submit(&IoRequest { slot: 0, direction: IoDirection::Read, offset, len, content }).ok()?;
    let mut done = Vec::new();
    // `complete` returns early after an interrupt, but no I/O may stay in flight.
    while done.is_empty() {
        target.complete(1, &mut done).ok()?;
    }
    done.pop()?.result.ok()?;
    let bytes = &target.buffer(0).ok()?[..len as usize];
    let constant = constant_byte(bytes).is_some();
    Some(BlockFingerprint { offset, len, crc32c: crc32c::crc32c(bytes), constant })
}

/// Plan of single I/Os of `len` bytes.
pub(crate) fn single_read_plan(len: u32) -> LanePlan {
    let block = u64::from(len);
    LanePlan { depth: 1, block, path: KernelPath::Direct, sync_each: false, own_buffers: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::fill_content;

    fn stamp(salt: u64) -> Vec<u8> {
        let mut sector = vec![0; SECTOR];
        fill_content(IoContent::Stamp { salt, generation: 1 }, 4096, &mut sector);
        sector
    }

    fn counted(wanted: &[u8], found: &[u8]) -> CardSurvey {
        let mut survey = CardSurvey::default();
        survey.count_sectors(4096, (wanted, found), &[7], &mut NewerPlaces::default());
        survey
    }

    #[test]
    fn survey_counts_original_stamped_and_foreign_sectors() {
        let noise: Vec<u8> = (0..SECTOR).map(|i| (i * 7) as u8).collect();
        let none = CardSurvey::default();
        let changed = CardSurvey { differing: 512, ..none };
        assert_eq!(counted(&noise, &noise), CardSurvey { original: 1, ..none });
        assert_eq!(counted(&[0; SECTOR], &[0; SECTOR]), none, "an empty sector tells nothing");
        assert_eq!(counted(&noise, &stamp(7)), CardSurvey { stamped: 1, ..changed });
        assert_eq!(counted(&noise, &stamp(8)), CardSurvey { foreign: 1, ..changed }, "another run's");
        assert_eq!(counted(&noise, &[0; SECTOR]), CardSurvey { foreign: 1, ..changed });
        let before = CardSurvey { stamped_before: 1, ..none };
        assert_eq!(counted(&stamp(7), &noise), before, "a stamp of the same seed from before the test");
        let mut alias = vec![0; SECTOR];
        fill_content(IoContent::Stamp { salt: 7, generation: 1 }, 8192, &mut alias);
        assert_eq!(counted(&alias, &noise), none, "an address for which another one answered");
    }

    #[test]
    fn survey_spares_newer_data_and_its_aliases() {
        let noise: Vec<u8> = (0..SECTOR).map(|i| (i * 7) as u8).collect();
        let wanted = [noise.clone(), noise.clone(), stamp(7), stamp(7), noise.clone()].concat();
        let found = [[1; SECTOR].to_vec(), stamp(7), noise.clone(), stamp(7), noise].concat();
        let mut newer = NewerPlaces::default();
        CardSurvey::default().count_sectors(8192, (&wanted, &found), &[7], &mut newer);
        assert_eq!(newer.foreign, [SavedRange { offset: 8192, len: 512 }]);
        assert_eq!(newer.aliases, [SavedRange { offset: 9216, len: 512 }]);
    }
}
