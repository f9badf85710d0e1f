//! A process that saves and overwrites is killed at any moment, as is the restoring itself; afterwards the card is as
//! it was. The process is this test program again, doing what a probe does with a journal.

use super::{Request, restore};
use crate::consent::{Beforehand, DataKept};
use crate::frame::{Document as _, ExitStatus, Outcome};
use crate::journals;
use crate::opening;
use cardscope_engine::card::{Answer, Card, extents};
use cardscope_engine::content::{Content, fill};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::journal::{Journal as _, SavedRange};
use cardscope_journal::put_back::put_back;
use cardscope_model::random::mix;
use cardscope_model::restore::{RecognisedBy, RestoreReport};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CARD: &str = "CARDSCOPE_TEST_CARD";
const BYTES: u64 = 8 << 20;

/// Not a test: overwrites places of a card that overlap here and there, puts them back, and ends its journal.
#[test]
#[ignore = "runs only as a child of other tests"]
fn other_process() {
    let Ok(card) = std::env::var(CARD) else { return };
    let interrupt = Interrupt::default();
    let mut opened = opening::open(&card, true, &mut DataKept, &interrupt).unwrap();
    let mut journal = journals::create(&card, &mut opened, BYTES).unwrap();
    journal.wrote_with(77).unwrap();
    let mut card = Card::new(opened.target.as_mut(), &interrupt, 64 << 10, 2).unwrap();
    for batch in 0..12 {
        let places: Vec<SavedRange> = (0..6).map(|n| place(batch * 6 + n)).collect();
        for place in &places {
            let end = place.offset + place.len;
            card.read(extents(place.offset, end, 64 << 10), Content::Buffer, |extent, _, answer| {
                let Answer::Differs { bytes, .. } = answer else { panic!("{answer:?}") };
                journal.save(extent.offset, bytes).map_err(Into::into)
            })
            .unwrap();
        }
        journal.commit().unwrap();
        for place in &places {
            let stamp = Content::Stamp { salt: 77, generation: batch as u32 };
            card.write(extents(place.offset, place.offset + place.len, 64 << 10), stamp, |_, _, _| {})
                .unwrap();
        }
    }
    let done = put_back(&mut card, &mut journal, &mut Silent).unwrap();
    assert!(done.lost.is_empty() && done.unreadable.is_empty());
    journal.finish().unwrap();
}

fn place(n: u64) -> SavedRange {
    let (at, len) = (mix(n) % (BYTES / 4096), 1 + mix(n + 1000) % 20);
    let offset = at * 4096;
    SavedRange { offset, len: (len * 4096).min(BYTES - offset) }
}

struct Table {
    dir: tempfile::TempDir,
    before: Vec<u8>,
}

impl Table {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut before = vec![0; BYTES as usize];
        fill(Content::Stream { seed: 3 }, 0, &mut before[..5 << 20]);
        std::fs::write(dir.path().join("card.img"), &before).unwrap();
        Table { dir, before }
    }

    fn card(&self) -> PathBuf {
        self.dir.path().join("card.img")
    }

    fn start(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "restore::tests::other_process"])
            .env(CARD, self.card())
            .env("XDG_STATE_HOME", self.dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn journals(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.dir.path().join("cardscope")) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).collect()
    }

    fn is_as_before(&self) -> bool {
        std::fs::read(self.card()).unwrap() == self.before
    }

    /// How long a whole run takes here and now.
    fn whole_run(&self) -> Duration {
        let began = Instant::now();
        assert!(self.start().wait().unwrap().success() && self.is_as_before());
        began.elapsed()
    }

    /// Kills a run after a time; gives the journal that it left, if any.
    fn killed_after(&self, time: Duration) -> Option<PathBuf> {
        let mut child = self.start();
        std::thread::sleep(time);
        child.kill().unwrap();
        child.wait().unwrap();
        self.journals().pop()
    }

    /// Kills runs until one left a card that is not as it was.
    fn torn(&self) -> PathBuf {
        let whole = self.whole_run();
        for n in 0..500 {
            let journal = self.killed_after(whole.mul_f64((mix(n) % 1000) as f64 / 1000.0));
            match journal {
                Some(journal) if !self.is_as_before() => return journal,
                Some(journal) => std::fs::remove_file(journal).unwrap(),
                None => {}
            }
        }
        panic!("no run was killed in time");
    }
}

fn restored(file: &Path, target: Option<&Path>) -> Result<Outcome<RestoreReport>, crate::Failure> {
    let target = target.map(|t| t.to_str().unwrap().to_owned());
    let request = Request { file: Some(file.to_owned()), target, ..Request::default() };
    restore(&request, &mut Beforehand(None), &Interrupt::default(), &mut Silent)
}

#[test]
fn wherever_a_run_is_killed_its_card_is_restored_to_the_last_byte() {
    let table = Table::new();
    let (mut torn, mut seen) = (0, 0);
    let whole = table.whole_run();
    for moment in 0..30 {
        let share = (mix(moment) % 1000) as f64 / 1000.0;
        let Some(journal) = table.killed_after(whole.mul_f64(share)) else {
            assert!(table.is_as_before(), "without a journal nothing may have been overwritten");
            continue;
        };
        seen += 1;
        torn += u32::from(!table.is_as_before());
        // A file that was killed before its first records were on disk is no journal yet.
        let outcome = restored(&journal, None);
        assert!(table.is_as_before(), "moment {moment}: {outcome:?}");
        let _ = std::fs::remove_file(journal);
    }
    assert!(
        torn > 3,
        "{torn} of {seen} runs were killed while the card was overwritten, or this tests nothing"
    );
}

#[test]
fn restoring_twice_changes_nothing_and_another_card_is_refused_and_not_written_to() {
    let table = Table::new();
    let journal = table.torn();
    let copy = table.dir.path().join("copy");
    std::fs::copy(&journal, &copy).unwrap();
    let other = table.dir.path().join("other.img");
    let foreign: Vec<u8> = table.before.iter().map(|b| b ^ 0x55).collect();
    std::fs::write(&other, &foreign).unwrap();
    let refusal = restored(&journal, Some(&other)).err().map(|f| (f.exit_status(), f.to_string()));
    assert!(matches!(&refusal, Some((2, why)) if why.contains("nothing was written")), "{refusal:?}");
    assert!(std::fs::read(&other).unwrap() == foreign);
    std::fs::write(&other, &foreign[1 << 20..]).unwrap();
    let refusal = restored(&journal, Some(&other)).err().map(|f| f.exit_status());
    assert_eq!(refusal, Some(2), "another size");

    let Outcome { report, failure } = restored(&journal, None).unwrap();
    assert!(
        failure.is_none() && report.compared && report.removed && report.exit_status() == ExitStatus::Good,
        "{report:?}"
    );
    assert_eq!(report.recognised_by, Some(RecognisedBy::Content));
    assert!(report.bytes_restored > 0 && table.is_as_before() && !journal.exists());
    let Outcome { report, .. } = restored(&copy, None).unwrap();
    assert_eq!((report.bytes_restored, report.differed_bytes, report.removed), (0, Some(0), false));
    assert!(report.notes.iter().any(|note| note.contains("a copy of the card")), "{:?}", report.notes);
}
