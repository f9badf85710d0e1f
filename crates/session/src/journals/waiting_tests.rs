//! Cards without identity that are opened for writing while a journal is unrestored: the same card, others, copies, empty and
//! used ones.

use super::check_journals;
use crate::error::Result;
use crate::test_support::open_card;
use cardscope_engine::content::{IoContent, fill_content};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::journal::{JournalWriter as _, RestoreProgress};
use cardscope_files::ResolvedFolder;
use cardscope_journal::{Journal, JournalFacts, survey};
use std::path::PathBuf;
use tempfile::TempDir;

const BYTES: usize = 4 << 20;
const BLOCK: usize = 4096;

/// Ranges saved in each batch, spread over the card.
const RANGES: usize = 8;

/// Card whose test was killed, and its journal.
struct KilledTest {
    dir: TempDir,
    before: Vec<u8>,
    after: Vec<u8>,
    journal: PathBuf,
}

fn data(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    fill_content(IoContent::Stream { seed }, 0, &mut bytes);
    bytes
}

impl KilledTest {
    /// Creates a card with this content after some batches, of which the last was not written.
    fn new(before: Vec<u8>, batches: usize) -> Self {
        Self::with_journal_change(before, batches, |_| ())
    }

    fn with_journal_change(before: Vec<u8>, batches: usize, then: impl FnOnce(&mut Journal)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let card = dir.path().join("killed.img");
        std::fs::write(&card, &before).unwrap();
        let mut target = open_card(card.to_str().unwrap());
        let about = JournalFacts {
            target: "/dev/sdz".into(),
            announced_bytes: BYTES as u64,
            start_bytes: Some(0),
            notes_putting_back: true,
            witnesses: survey::take_fingerprints(target.target.as_mut()),
            ..JournalFacts::default()
        };
        let mut journal = Journal::create(ResolvedFolder::open(dir.path()).unwrap(), about).unwrap();
        journal.record_salt(77).unwrap();
        let mut after = before.clone();
        for batch in 0..batches {
            let places =
                (0..RANGES).map(|n| (n * batches + batch) * (BYTES / (RANGES * batches)) / BLOCK * BLOCK);
            for at in places.clone() {
                journal.save(at as u64, &before[at..at + BLOCK]).unwrap();
            }
            journal.commit().unwrap();
            for at in places.filter(|_| batch + 1 < batches) {
                let stamp = IoContent::Stamp { salt: 77, generation: batch as u32 };
                fill_content(stamp, at as u64, &mut after[at..at + BLOCK]);
            }
        }
        then(&mut journal);
        KilledTest { journal: journal.path().to_owned(), dir, before, after }
    }

    /// Opens a card with this content for writing. Returns the caveats or the refusal.
    fn open_content(&self, content: &[u8]) -> Result<String> {
        let card = self.dir.path().join("card.img");
        std::fs::write(&card, content).unwrap();
        let result = self.opening_target(card.to_str().unwrap());
        assert!(std::fs::read(card).unwrap() == content, "nothing is written");
        result
    }

    fn opening_target(&self, target: &str) -> Result<String> {
        let mut card = open_card(target);
        let noted = card.caveats.len();
        check_journals(std::slice::from_ref(&self.journal), target, &mut card, &InterruptFlag::default())?;
        Ok(card.caveats[noted..].iter().map(ToString::to_string).collect())
    }

    #[track_caller]
    fn assert_refused(&self, content: &[u8], why: &str) {
        let refusal = self.open_content(content).err().map(|f| (f.exit_status(), f.to_string()));
        let (status, text) = refusal.expect("it is not written to");
        for word in [why, "othing was written", "cardscope restore", self.journal.to_str().unwrap()] {
            assert!(text.contains(word), "{word:?} in {text}");
        }
        assert_eq!(status, 2);
    }

    #[track_caller]
    fn assert_opened(&self, content: &[u8]) {
        let note = self.open_content(content).unwrap();
        assert!(note.contains(self.journal.to_str().unwrap()) && note.lines().count() == 1, "{note}");
    }
}

#[test]
fn own_card_is_refused_and_other_cards_are_tested() {
    let killed = KilledTest::new(data(1), 6);
    killed.assert_refused(&killed.after, "a test of this card");
    killed.assert_opened(&data(2));
    killed.assert_opened(&vec![0; BYTES]);
    let empty = KilledTest::new(vec![0xff; BYTES], 6);
    empty.assert_refused(&empty.after, "a test of this card");
    empty.assert_opened(&data(2));
}

#[test]
fn copies_and_empty_cards_are_tested_if_the_card_must_have_stamps() {
    for before in [data(1), vec![0; BYTES]] {
        let killed = KilledTest::new(before, 12);
        killed.assert_opened(&killed.before);
        let early = KilledTest::new(killed.before.clone(), 1);
        assert!(early.open_content(&early.before).is_err(), "the run may have been killed before it wrote");
        let late = KilledTest::with_journal_change(killed.before.clone(), 12, |journal| {
            journal.record_restoring(RestoreProgress::Begun)
        });
        assert!(late.open_content(&late.before).is_err(), "or when almost all was back");
    }
}

#[test]
fn partly_restored_and_used_cards_are_refused() {
    let killed = KilledTest::with_journal_change(data(1), 6, |journal| {
        journal.record_restoring(RestoreProgress::Begun)
    });
    let half = [&killed.before[..BYTES / 2], &killed.after[BYTES / 2..]].concat();
    killed.assert_refused(&half, "a test of this card");
    let killed = KilledTest::new(data(1), 6);
    let used = [&data(3)[..BYTES / 2], &killed.after[BYTES / 2..]].concat();
    killed.assert_refused(&used, "may belong to this card");
}

#[test]
fn unreadable_card_is_refused() {
    let killed = KilledTest::new(data(1), 6);
    for bytes in [BYTES, 2 * BYTES] {
        let card = format!("sim:constant?announced_bytes={bytes}&faults.read_error_p=1");
        let refusal = killed.opening_target(&card).unwrap_err().to_string();
        assert!(refusal.contains("could be read") && refusal.contains("othing was written"), "{refusal}");
    }
}

#[test]
fn smaller_reader_size_does_not_hide_the_card() {
    let killed = KilledTest::new(data(1), 6);
    killed.assert_refused(&killed.after[..BYTES - (1 << 20)], "may belong to this card");
    killed.assert_opened(&data(2)[..BYTES - (1 << 20)]);
    killed.assert_opened(&vec![0; BYTES / 2]);
}

#[test]
fn unreadable_journal_blocks_every_card() {
    let killed = KilledTest::new(data(1), 6);
    std::fs::write(&killed.journal, "cardscope journal 9\nwhatever comes").unwrap();
    let refusal = killed.open_content(&data(2)).unwrap_err().to_string();
    for word in ["version 9", "nothing was written", "another folder", killed.journal.to_str().unwrap()] {
        assert!(refusal.contains(word), "{word:?} in {refusal}");
    }
    // A journal gets its name once its beginning is on disk, so one without a beginning was truncated.
    for start in ["", "cardscope journal 1\n", "cardscope journal 1\nHEAD"] {
        std::fs::write(&killed.journal, start).unwrap();
        let refusal = killed.open_content(&data(2)).unwrap_err().to_string();
        assert!(
            refusal.contains("header is damaged") && refusal.contains("nothing was written"),
            "{refusal}"
        );
    }
}

#[test]
fn files_have_no_card_key() {
    let killed = KilledTest::new(data(1), 6);
    let card = killed.dir.path().join("card.img");
    std::fs::write(&card, &killed.after).unwrap();
    let mut target = open_card(card.to_str().unwrap());
    target.identity =
        Some(cardscope_simulator::decode_identity(&cardscope_simulator::random::random_card(1)).unwrap());
    assert!(crate::card_key::card_key(&target).is_some());
    assert_eq!(crate::journals::TargetMedium::of_target(&target).key, None);
}
