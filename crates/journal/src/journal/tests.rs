//! Property tests: after any run and any damage the oldest content is restored, or the missing range is reported.

use crate::record::{HEAD_BYTES, MAGIC, RecordHead, RecordKind};
use crate::{Journal, JournalCompleteness, JournalFacts, is_journal};
use cardscope_engine::content::{IoContent, fill_content};
use cardscope_engine::journal::{JournalWriter as _, RestoreProgress, SavedRange};
use cardscope_files::ResolvedFolder;
use proptest::prelude::*;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

const SECTOR: u64 = 512;
const SECTORS: u64 = 48;

/// Card of `real` sectors; addresses beyond them wrap around.
#[derive(Clone)]
struct Card {
    places: Vec<u8>,
    real: u64,
}

impl Card {
    /// Fills every third sector with one byte and the others with noise.
    fn new(real: u64) -> Self {
        let mut places = vec![0; (real * SECTOR) as usize];
        fill_content(IoContent::Stream { seed: 5 }, 0, &mut places);
        places.chunks_mut(512).step_by(3).for_each(|sector| sector.fill(0xff));
        Card { places, real }
    }

    fn place(&self, address: u64) -> usize {
        (address % (self.real * SECTOR)) as usize
    }

    fn read(&self, offset: u64, len: u64) -> Vec<u8> {
        (0..len / SECTOR)
            .flat_map(|i| {
                let at = self.place(offset + i * SECTOR);
                self.places[at..at + SECTOR as usize].to_vec()
            })
            .collect()
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        for (i, sector) in bytes.chunks(SECTOR as usize).enumerate() {
            let at = self.place(offset + i as u64 * SECTOR);
            self.places[at..at + sector.len()].copy_from_slice(sector);
        }
    }

    fn stamp(&mut self, range: SavedRange, generation: u32) {
        let mut bytes = vec![0; range.len as usize];
        fill_content(IoContent::Stamp { salt: 9, generation }, range.offset, &mut bytes);
        self.write(range.offset, &bytes);
    }
}

fn begin(folder: &Path) -> Journal {
    let about = JournalFacts {
        tool_version: "0".into(),
        target: "/dev/sdz".into(),
        card: Some("SN32G".into()),
        announced_bytes: SECTORS * SECTOR,
        began: "2026-01-02T03:04:05Z".into(),
        ..JournalFacts::default()
    };
    Journal::create(ResolvedFolder::open(folder).unwrap(), about).unwrap()
}

/// Journal with one committed sector.
fn with_a_sector(folder: &Path) -> Journal {
    let mut journal = begin(folder);
    journal.save(0, &[1; 512]).unwrap();
    journal.commit().unwrap();
    journal
}

fn save(journal: &mut Journal, card: &Card, range: SavedRange) {
    journal.save(range.offset, &card.read(range.offset, range.len)).unwrap();
}

/// Saves and overwrites all batches; returns the journal's file and the end of its last commit.
fn test_run(
    folder: &Path,
    card: &mut Card,
    batches: &[Vec<SavedRange>],
    unfinished: &[SavedRange],
) -> (PathBuf, u64) {
    let mut journal = begin(folder);
    journal.record_salt(9).unwrap();
    for (number, batch) in batches.iter().enumerate() {
        batch.iter().for_each(|range| save(&mut journal, card, *range));
        journal.commit().unwrap();
        batch.iter().for_each(|range| card.stamp(*range, number as u32));
    }
    let committed = journal.log.end;
    unfinished.iter().for_each(|range| save(&mut journal, card, *range));
    let path = journal.path().to_owned();
    journal.unused = false;
    (path, committed)
}

/// Restores all readable ranges; returns the others.
fn put_back(journal: &mut Journal, card: &mut Card) -> Vec<SavedRange> {
    let mut bytes = Vec::new();
    let mut unreadable = Vec::new();
    for saved in journal.saved_ranges() {
        match journal.read_original(saved, &mut bytes) {
            Ok(()) => card.write(saved.offset, &bytes),
            Err(_) => unreadable.push(saved),
        }
    }
    unreadable
}

fn range() -> impl Strategy<Value = SavedRange> {
    (0..SECTORS, 1..8u64).prop_map(|(start, sectors)| SavedRange {
        offset: start * SECTOR,
        len: sectors.min(SECTORS - start) * SECTOR,
    })
}

fn batch() -> impl Strategy<Value = Vec<SavedRange>> {
    proptest::collection::vec(range(), 1..5)
}

fn flip(path: &Path, at: u64, bit: u32) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << bit)], at).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn torn_journal_restores_oldest_content_even_on_fakes(
        real in 5..=SECTORS,
        batches in proptest::collection::vec(batch(), 0..6),
        unfinished in batch(),
        cut in 0.0..1.0f64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let before = Card::new(real);
        let mut card = before.clone();
        let (path, committed) = test_run(folder.path(), &mut card, &batches, &unfinished);
        let len = path.metadata().unwrap().len();
        let torn = committed + ((len - committed) as f64 * cut) as u64;
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(torn).unwrap();
        // Twice, as if the first restore had been stopped before it removed the journal.
        for _ in 0..2 {
            let mut journal = Journal::open(&path).unwrap();
            prop_assert_eq!(journal.damage().lost_ranges, 0);
            prop_assert_eq!(journal.salts(), &[9][..]);
            prop_assert!(put_back(&mut journal, &mut card).is_empty());
            prop_assert!(before.places == card.places);
        }
    }

    #[test]
    fn flipped_bit_loses_only_reported_ranges(
        batches in proptest::collection::vec(batch(), 1..6),
        at in 0.0..1.0f64,
        bit in 0..8u32,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let before = Card::new(SECTORS);
        let mut card = before.clone();
        let (path, len) = test_run(folder.path(), &mut card, &batches, &[]);
        let at = (len as f64 * at) as u64;
        flip(&path, at, bit);
        let mut journal = match Journal::open(&path) {
            Ok(journal) => journal,
            // The bit flipped the version, so the file is of an unknown format.
            Err(error) => {
                prop_assert!(at < MAGIC.len() as u64, "{error}");
                return Ok(());
            }
        };
        prop_assert_eq!(journal.damage().lost_ranges, 0);
        let unreadable = put_back(&mut journal, &mut card);
        prop_assert!(unreadable.len() <= 1);
        for sector in 0..SECTORS {
            let named = unreadable.iter().any(|k| (k.offset..k.offset + k.len).contains(&(sector * SECTOR)));
            let same = before.read(sector * SECTOR, SECTOR) == card.read(sector * SECTOR, SECTOR);
            prop_assert!(same || named, "sector {}", sector);
        }
    }

    #[test]
    fn damaged_journal_reports_every_missing_range(
        batches in proptest::collection::vec(batch(), 1..6),
        flips in proptest::collection::vec((0.0..1.0f64, 0..8u32), 2..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let before = Card::new(SECTORS);
        let mut card = before.clone();
        let (path, len) = test_run(folder.path(), &mut card, &batches, &[]);
        flips.iter().for_each(|(at, bit)| flip(&path, (len as f64 * at) as u64, *bit));
        let Ok(mut journal) = Journal::open(&path) else { return Ok(()) };
        let unreadable = put_back(&mut journal, &mut card);
        let all_back = before.places == card.places;
        let reported = !unreadable.is_empty()
            || journal.damage().lost_ranges > 0
            || journal.damage().tail.is_some();
        prop_assert!(all_back || reported);
    }
}

/// Offset and length of each record of a journal's file.
fn records(file: &[u8]) -> Vec<(usize, usize)> {
    let mut at = MAGIC.len();
    let mut all = Vec::new();
    while let Some(head) = RecordHead::decode(&file[at..]) {
        let len = HEAD_BYTES + head.payload as usize;
        all.push((at, len));
        at += len;
    }
    assert_eq!(at, file.len());
    all
}

/// Damage to a journal's file.
#[derive(Debug, Clone)]
enum Harm {
    /// Truncated to a share of the file.
    Cut(f64),
    /// Truncated at the end of a record.
    CutAtARecord(f64),
    Zeroed(f64, f64),
    Dropped(Vec<prop::sample::Index>),
    Swapped(prop::sample::Index, prop::sample::Index),
}

impl Harm {
    fn any() -> impl Strategy<Value = Harm> {
        let index = any::<prop::sample::Index>;
        prop_oneof![
            (0.0..1.0f64).prop_map(Harm::Cut),
            (0.0..1.0f64).prop_map(Harm::CutAtARecord),
            (0.0..1.0f64, 0.0..1.0f64).prop_map(|(from, len)| Harm::Zeroed(from, len)),
            proptest::collection::vec(index(), 1..4).prop_map(Harm::Dropped),
            (index(), index()).prop_map(|(one, other)| Harm::Swapped(one, other)),
        ]
    }

    fn to(&self, file: &mut Vec<u8>) {
        let all = records(file);
        let at = |share: f64| (file.len() as f64 * share) as usize;
        match self {
            Harm::Cut(share) => file.truncate(at(*share)),
            Harm::CutAtARecord(share) => {
                let end = all.iter().map(|(at, len)| at + len).rfind(|end| *end <= at(*share));
                file.truncate(end.unwrap_or(MAGIC.len()));
            }
            Harm::Zeroed(from, len) => {
                let (from, len) = (at(*from), at(*len).max(1));
                file.iter_mut().skip(from).take(len).for_each(|byte| *byte = 0);
            }
            Harm::Dropped(which) => {
                let gone: Vec<usize> = which.iter().map(|index| index.index(all.len())).collect();
                let kept = all.iter().enumerate().filter(|(n, _)| !gone.contains(n));
                let kept: Vec<u8> = kept.flat_map(|(_, (at, len))| file[*at..at + len].to_vec()).collect();
                *file = [MAGIC, &kept].concat();
            }
            Harm::Swapped(one, other) => {
                let mut order = all.clone();
                order.swap(one.index(all.len()), other.index(all.len()));
                let moved: Vec<u8> =
                    order.iter().flat_map(|(at, len)| file[*at..at + len].to_vec()).collect();
                *file = [MAGIC, &moved].concat();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn incomplete_journal_is_detected_and_restores_the_rest(
        batches in proptest::collection::vec(batch(), 1..8),
        harms in proptest::collection::vec(Harm::any(), 1..2),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let before = Card::new(SECTORS);
        let mut card = before.clone();
        let (path, _) = test_run(folder.path(), &mut card, &batches, &[]);
        let mut file = std::fs::read(&path).unwrap();
        harms.iter().for_each(|harm| harm.to(&mut file));
        std::fs::write(&path, &file).unwrap();
        let Ok(mut journal) = Journal::open(&path) else { return Ok(()) };
        let unreadable = put_back(&mut journal, &mut card);
        let all_back = before.places == card.places;
        let whole = unreadable.is_empty() && journal.completeness() == JournalCompleteness::Complete;
        prop_assert!(all_back || !whole, "{:?}", journal.damage());
        // Each original with an intact record is restored, whatever happened to other records and tables.
        let there = Entries::of(&file);
        for sector in (0..SECTORS).map(|n| n * SECTOR) {
            let (is, was) = (card.read(sector, SECTOR), before.read(sector, SECTOR));
            prop_assert!(is == was || !there.have(sector), "sector {}", sector / SECTOR);
        }
    }
}

/// Headers of all intact records of ranges in a file.
struct Entries(Vec<RecordHead>);

impl Entries {
    fn of(file: &[u8]) -> Self {
        let whole = |at: usize| {
            let head = RecordHead::decode(&file[at..])?;
            let payload = file.get(at + HEAD_BYTES..at + HEAD_BYTES + head.payload as usize)?;
            let saves = matches!(head.kind, RecordKind::Bytes | RecordKind::Fill)
                && crc32c::crc32c(payload) == head.crc;
            saves.then_some(head)
        };
        Entries((0..file.len()).filter_map(whole).collect())
    }

    fn have(&self, sector: u64) -> bool {
        let covers = |head: &&RecordHead| (head.offset..head.offset + u64::from(head.len)).contains(&sector);
        let oldest = self.0.iter().filter(covers).map(|head| head.batch).min();
        oldest == Some(0)
    }
}

#[test]
fn journal_is_private_and_recognized_by_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let journal = with_a_sector(folder.path());
    let path = journal.path().to_owned();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("journal-20260102T030405Z-"));
    assert!(is_journal(&path) && !is_journal(folder.path()));
    let other = folder.path().join("other");
    std::fs::write(&other, "cardscope archive").unwrap();
    assert!(!is_journal(&other));
}

#[test]
fn open_refuses_links_and_journals_of_other_users() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) =
        test_run(folder.path(), &mut Card::new(SECTORS), &[vec![SavedRange { offset: 0, len: 512 }]], &[]);
    let link = folder.path().join("journal-link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(is_journal(&link), "opening it says why not");
    let refusal = |path: &Path| Journal::open(path).err().unwrap().to_string();
    assert!(refusal(&link).contains("that is a link"), "{}", refusal(&link));
    std::os::unix::fs::chown(&path, Some(65_534), None).expect("this test needs root");
    assert!(refusal(&path).contains("it is owned by user 65534"), "{}", refusal(&path));
}

#[test]
fn finish_keeps_another_file_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let journal = with_a_sector(folder.path());
    let path = journal.path().to_owned();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "another's").unwrap();
    journal.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another's");
}

#[test]
fn journal_stays_in_its_folder_when_the_folder_is_renamed() {
    let top = tempfile::tempdir().unwrap();
    let (folder, moved) = (top.path().join("state"), top.path().join("moved"));
    std::fs::create_dir(&folder).unwrap();
    let mut journal = begin(&folder);
    std::fs::rename(&folder, &moved).unwrap();
    std::fs::create_dir(&folder).unwrap();
    journal.save(0, &[1; 512]).unwrap();
    journal.commit().unwrap();
    assert_eq!(std::fs::read_dir(&moved).unwrap().count(), 1);
    journal.finish().unwrap();
    assert_eq!(std::fs::read_dir(&moved).unwrap().count() + std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn open_refuses_a_journal_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let journal = with_a_sector(folder.path());
    let path = journal.path().to_owned();
    let refusal = Journal::open(&path).err().unwrap().to_string();
    assert!(refusal.contains("is still active"), "{refusal}");
    let (about, saved) = Journal::peek(&path).unwrap();
    assert_eq!((about, saved), (journal.facts().clone(), 512), "what it says is known meanwhile");
    drop(journal);
    assert!(Journal::open(&path).is_ok());
}

#[test]
fn open_refuses_later_journal_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal-x");
    for (line, version) in
        [("cardscope journal 2\n", "version 2"), ("cardscope journal 12\n...", "version 12")]
    {
        std::fs::write(&path, line).unwrap();
        let refusal = Journal::open(&path).err().unwrap().to_string();
        assert!(refusal.contains(version), "{refusal}");
    }
}

#[test]
fn dropped_journal_is_removed_only_without_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begin(folder.path());
    journal.save(0, &[1; 512]).unwrap();
    let path = journal.path().to_owned();
    drop(journal);
    assert!(!path.exists());
    let journal = with_a_sector(folder.path());
    let path = journal.path().to_owned();
    drop(journal);
    assert!(path.exists());
    Journal::open(&path).unwrap().finish().unwrap();
    assert!(!path.exists());
}

#[test]
fn constant_ranges_are_compact_and_long_ones_split() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begin(folder.path());
    journal.save(0, &vec![0xff; 8 << 20]).unwrap();
    journal.commit().unwrap();
    assert!(journal.path().metadata().unwrap().len() < 16 << 10);
    assert_eq!(journal.saved_ranges().len(), 8);
    let mut bytes = Vec::new();
    for saved in journal.saved_ranges() {
        journal.read_original(saved, &mut bytes).unwrap();
        assert!(bytes == vec![0xff; 1 << 20]);
    }
}

#[test]
fn saved_ranges_are_newest_batch_first_then_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begin(folder.path());
    for (offset, commit) in [(4096, false), (512, true), (8192, false), (1024, true)] {
        journal.save(offset, &[offset as u8; 512]).unwrap();
        if commit {
            journal.commit().unwrap();
        }
    }
    journal.save(0, &[1; 512]).unwrap();
    let offsets: Vec<u64> = journal.saved_ranges().iter().map(|saved| saved.offset).collect();
    assert_eq!(offsets, [1024, 8192, 512, 4096], "and what is not committed is not among them");
}

#[test]
fn restore_steps_use_reserved_records() {
    let folder = tempfile::tempdir().unwrap();
    let (path, len) =
        test_run(folder.path(), &mut Card::new(SECTORS), &[vec![SavedRange { offset: 0, len: 512 }]], &[]);
    let noted = |step: RestoreProgress| {
        let mut journal = Journal::open(&path).unwrap();
        journal.record_restoring(step);
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().log.restore_step, Some(step));
        path.metadata().unwrap().len()
    };
    // The restore was killed twice; the second note uses the last reserved record.
    assert_eq!(noted(RestoreProgress::Begun), len);
    assert_eq!(noted(RestoreProgress::Begun), len);
    assert!(noted(RestoreProgress::Written) > len);
    let journal = Journal::open(&path).unwrap();
    assert_eq!((journal.damage().lost_ranges, journal.damage().tail), (0, None));
}

/// Journal written by version 0.1 in November 2026, before tallies were introduced.
const OLD: &[u8] = include_bytes!("../../tests/fixtures/journal-without-a-tally");

#[test]
fn journal_without_tally_restores_with_unknown_completeness() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal-old");
    std::fs::write(&path, OLD).unwrap();
    let mut journal = Journal::open(&path).unwrap();
    let damage = (journal.damage().lost_ranges, journal.damage().tail);
    assert_eq!((journal.completeness(), damage), (JournalCompleteness::Unknown, (0, None)));
    assert_eq!((journal.saved_ranges().len(), journal.salts()), (8, &[9][..]));
    let (before, mut card) = (Card::new(SECTORS), Card::new(SECTORS));
    for (number, saved) in journal.saved_ranges().iter().enumerate() {
        card.stamp(*saved, number as u32);
    }
    assert!(put_back(&mut journal, &mut card).is_empty() && before.places == card.places);
}

#[test]
fn torn_tally_falls_back_to_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let batches: Vec<_> = (0..3).map(|n| vec![SavedRange { offset: n * 512, len: 512 }]).collect();
    let (path, len) = test_run(folder.path(), &mut Card::new(SECTORS), &batches, &[]);
    let whole = std::fs::read(&path).unwrap();
    let pages: Vec<usize> = records(&whole)
        .iter()
        .filter(|(at, _)| whole[*at..].starts_with(b"TALY"))
        .map(|(at, _)| *at)
        .collect();
    assert_eq!((pages.len(), pages[0] % 4096, pages[1] % 4096), (2, 0, 0));
    let completeness = |file: &[u8]| {
        std::fs::write(&path, file).unwrap();
        Journal::open(&path).unwrap().completeness()
    };
    assert_eq!(completeness(&whole), JournalCompleteness::Complete);
    // Torn while the third batch was committed; its commit record is intact.
    let mut torn = whole.clone();
    torn[pages[1] + 600..pages[1] + 700].fill(7);
    assert_eq!(completeness(&torn), JournalCompleteness::Complete);
    // Nothing explains the loss of the previous tally.
    let mut damaged = whole.clone();
    damaged[pages[0]] = 0;
    assert_eq!(completeness(&damaged), JournalCompleteness::Unknown);
    damaged[pages[1]] = 0;
    assert_eq!(completeness(&damaged), JournalCompleteness::Unknown);
    // Without the commit record of the last batch, and then with one range less.
    assert_eq!(completeness(&whole[..len as usize - 76]), JournalCompleteness::Complete);
    assert_eq!(completeness(&whole[..len as usize - 76 - 10]), JournalCompleteness::Incomplete);
}
