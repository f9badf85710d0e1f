//! Kills a process that saves and overwrites, or that restores, at random times; afterwards the card must be restorable.
//! The process is this test program, which uses a journal as a probe does.

use cardscope_capacity::probe::quick as capacity;
use cardscope_engine::content::{IoContent, fill_content};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ReadAnswer, split_extents};
use cardscope_engine::journal::{JournalError, JournalWriter as _, SavedRange};
use cardscope_engine::target::TargetRegion;
use cardscope_files::ResolvedFolder;
use cardscope_journal::restoring::restore_from_journal;
use cardscope_journal::{Journal, JournalFacts, survey};
use cardscope_model::random::mix_bits;
use cardscope_model::report::{ExitStatus, ReportDocument as _};
use cardscope_model::restore::{RecognisedBy, RestoreReport};
use cardscope_probing::context;
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_restore::request::RestoreRequest;
use cardscope_restore::verb::restore;
use cardscope_session::consent::{GivenBeforehand, PreservingConsent};
use cardscope_session::frame::VerbOutcome;
use cardscope_session::journals;
use cardscope_session::opening;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CARD: &str = "CARDSCOPE_TEST_CARD";
const BYTES: u64 = 8 << 20;

/// Not a test: overwrites partly overlapping ranges of a card, restores them, and ends its journal.
#[test]
#[ignore = "runs only as a child of other tests"]
fn other_process() {
    let Ok(card) = std::env::var(CARD) else { return };
    let interrupt = InterruptFlag::default();
    let mut opened = opening::open_by_name(&card, true, &mut PreservingConsent, &interrupt).unwrap();
    let mut journal = journals::create_journal(&card, &mut opened, BYTES).unwrap();
    journal.record_salt(77).unwrap();
    let mut card = IoDriver::new(opened.target.as_mut(), &interrupt, 64 << 10, 2).unwrap();
    for batch in 0..12 {
        let places: Vec<SavedRange> = (0..6).map(|n| place(batch * 6 + n)).collect();
        for place in &places {
            let end = place.offset + place.len;
            card.read(split_extents(place.offset, end, 64 << 10), IoContent::Buffer, |extent, _, answer| {
                let ReadAnswer::Differs { bytes, .. } = answer else { panic!("{answer:?}") };
                journal.save(extent.offset, bytes).map_err(Into::into)
            })
            .unwrap();
        }
        journal.commit().unwrap();
        for place in &places {
            let stamp = IoContent::Stamp { salt: 77, generation: batch as u32 };
            card.write(split_extents(place.offset, place.offset + place.len, 64 << 10), stamp, |_, _, _| {})
                .unwrap();
        }
    }
    let done = restore_from_journal(&mut card, &mut journal, &mut Silent).unwrap();
    assert!(done.lost.is_empty() && done.unreadable.is_empty());
    journal.finish().unwrap();
}

fn place(n: u64) -> SavedRange {
    let (at, len) = (mix_bits(n) % (BYTES / 4096), 1 + mix_bits(n + 1000) % 20);
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
        fill_content(IoContent::Stream { seed: 3 }, 0, &mut before[..5 << 20]);
        std::fs::write(dir.path().join("card.img"), &before).unwrap();
        Table { dir, before }
    }

    fn card(&self) -> PathBuf {
        self.dir.path().join("card.img")
    }

    fn start(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "restoring::other_process"])
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

    /// Shortest duration of a whole run; the first run also loads the program.
    fn whole_run(&self) -> Duration {
        let timed = |_| {
            let began = Instant::now();
            assert!(self.start().wait().unwrap().success() && self.is_as_before());
            began.elapsed()
        };
        (0..3).map(timed).min().unwrap()
    }

    /// Kills a run after a time; returns the journal that remains, if any.
    fn killed_after(&self, time: Duration) -> Option<PathBuf> {
        let mut child = self.start();
        std::thread::sleep(time);
        child.kill().unwrap();
        child.wait().unwrap();
        self.journals().pop()
    }

    /// Kills runs until one leaves a changed card; returns its journal.
    fn torn(&self) -> PathBuf {
        let whole = self.whole_run();
        for n in 0..500 {
            let journal = self.killed_after(whole.mul_f64((mix_bits(n) % 1000) as f64 / 1000.0));
            match journal {
                Some(journal) if !self.is_as_before() => return journal,
                Some(journal) => std::fs::remove_file(journal).unwrap(),
                None => {}
            }
        }
        panic!("no run was killed in time");
    }
}

fn restored(
    file: &Path,
    target: Option<&Path>,
) -> Result<VerbOutcome<RestoreReport>, cardscope_session::Failure> {
    let target = target.map(|t| t.to_str().unwrap().to_owned());
    let request = RestoreRequest { file: Some(file.to_owned()), target, ..RestoreRequest::default() };
    restore(&request, &mut GivenBeforehand(None), &InterruptFlag::default(), &mut Silent)
}

#[test]
fn killed_run_is_restored_exactly() {
    let table = Table::new();
    let (mut torn, mut seen) = (0, 0);
    let whole = table.whole_run();
    for moment in 0..30 {
        let share = (mix_bits(moment) % 1000) as f64 / 1000.0;
        let Some(journal) = table.killed_after(whole.mul_f64(share)) else {
            assert!(table.is_as_before(), "without a journal nothing may have been overwritten");
            continue;
        };
        seen += 1;
        torn += u32::from(!table.is_as_before());
        // A file without its first records on disk is not a journal yet.
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
fn second_restore_is_harmless_and_other_card_is_refused() {
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

    let VerbOutcome { report, failure } = restored(&journal, None).unwrap();
    assert!(
        failure.is_none() && report.compared && report.removed && report.exit_status() == ExitStatus::Good,
        "{report:?}"
    );
    assert_eq!(report.recognised_by, Some(RecognisedBy::Content));
    assert!(report.bytes_restored > 0 && table.is_as_before() && !journal.exists());
    let VerbOutcome { report, .. } = restored(&copy, None).unwrap();
    assert_eq!((report.bytes_restored, report.differed_bytes, report.removed), (0, Some(0), false));
    assert!(report.notes.iter().any(|note| note.contains("a copy of the card")), "{:?}", report.notes);
}

/// Card and journal of a quick test that was stopped halfway, as if killed.
struct Ended {
    dir: tempfile::TempDir,
    before: Vec<u8>,
    after: Vec<u8>,
    journal: Vec<u8>,
    /// Content of the journal after each batch.
    moments: Vec<Vec<u8>>,
}

/// Journal that copies its file after each batch.
struct Copied<'j> {
    journal: &'j mut Journal,
    moments: Vec<Vec<u8>>,
}

impl cardscope_engine::journal::JournalWriter for Copied<'_> {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        self.journal.save(offset, original)
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        self.journal.commit()?;
        self.moments.push(std::fs::read(self.journal.path()).unwrap());
        Ok(())
    }

    fn saved_ranges(&self) -> Vec<SavedRange> {
        self.journal.saved_ranges()
    }

    fn read_original(&mut self, range: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        self.journal.read_original(range, into)
    }
}

impl Ended {
    fn new(mib: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut before = vec![0; (mib << 20) as usize];
        fill_content(IoContent::Stream { seed: 3 }, 0, &mut before[..(mib << 19) as usize]);
        let path = dir.path().join("card.img");
        std::fs::write(&path, &before).unwrap();
        let interrupt = InterruptFlag::default();
        let mut opened =
            opening::open_by_name(path.to_str().unwrap(), true, &mut PreservingConsent, &interrupt).unwrap();
        let about = JournalFacts {
            target: path.display().to_string(),
            announced_bytes: mib << 20,
            start_bytes: Some(0),
            notes_putting_back: true,
            witnesses: survey::take_fingerprints(opened.target.as_mut()),
            ..JournalFacts::default()
        };
        let mut journal = Journal::create(ResolvedFolder::open(dir.path()).unwrap(), about).unwrap();
        let limits = ProbeLimits {
            seed: 5,
            region: TargetRegion { start: 0, len: mib << 20 },
            max_write: None,
            budget: None,
        };
        let options = capacity::QuickOptions { thorough: false, limits };
        journal.record_salt(context::stamp_salt(options.limits.seed)).unwrap();
        let mut card = IoDriver::new(opened.target.as_mut(), &interrupt, PROBE_BLOCK, PROBE_DEPTH).unwrap();
        let mut copied = Copied { journal: &mut journal, moments: Vec::new() };
        capacity::probe_card(&mut card, Some(&mut copied), &options, &mut Silent).unwrap();
        let moments = copied.moments;
        drop(card);
        drop(opened);
        let file = journal.path().to_owned();
        drop(journal);
        let after = std::fs::read(path).unwrap();
        assert!(after != before);
        Ended { before, after, journal: std::fs::read(file).unwrap(), moments, dir }
    }

    fn card(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("card.img")).unwrap()
    }

    /// Restores the card with `journal` as its journal; returns the result, and true if the journal remains.
    fn restored(
        &self,
        journal: &[u8],
    ) -> (Result<VerbOutcome<RestoreReport>, cardscope_session::Failure>, bool) {
        std::fs::write(self.dir.path().join("card.img"), &self.after).unwrap();
        let file = self.dir.path().join("journal-x");
        std::fs::write(&file, journal).unwrap();
        (restored(&file, None), file.exists())
    }

    /// Sectors whose content changed.
    fn changed(&self) -> Vec<u64> {
        let card = self.card();
        let sectors = card.chunks(512).zip(self.before.chunks(512)).zip((0..).step_by(512));
        sectors.filter(|((is, was), _)| is != was).map(|(_, at)| at).collect()
    }

    /// Restores with a damaged journal, and checks the report against the card.
    #[track_caller]
    fn says_what_is_wrong(&self, journal: &[u8], harm: &str) -> bool {
        let (outcome, stays) = self.restored(journal);
        let changed = self.changed();
        let Ok(VerbOutcome { report, failure }) = outcome else {
            assert!(stays, "{harm}");
            return false;
        };
        assert!(changed.is_empty() || failure.is_some() || report.is_bad(), "{harm}: exit 0, {report:?}");
        assert!(changed.is_empty() || stays, "{harm}: {report:?}");
        let lists = [&report.lost, &report.unreadable, &report.left, &report.originals_lost];
        let is_named =
            |at: &u64| lists.iter().copied().flatten().any(|r| (r.offset..r.offset + r.len).contains(at));
        let unnamed = changed.iter().filter(|at| !is_named(at)).count();
        assert!(
            failure.is_some() || unnamed == 0,
            "{harm}: {unnamed} of {} not named, {report:?}",
            changed.len()
        );
        if !report.originals_lost.is_empty() {
            let listed = report.may_have_changed.as_ref().and_then(|changed| changed.file.clone()).unwrap();
            assert!(std::fs::read_to_string(listed).unwrap().lines().count() > 1, "{harm}");
        }
        changed.is_empty()
    }
}

#[test]
fn truncated_journal_stays_and_names_damage() {
    let ended = Ended::new(24);
    assert!(ended.says_what_is_wrong(&ended.journal, "nothing"));
    for percent in [30, 40, 50, 60, 70, 80] {
        let left = &ended.journal[..ended.journal.len() * percent / 100];
        let (outcome, stays) = ended.restored(left);
        let report = outcome.unwrap().report;
        assert!(report.is_bad() && stays && report.missing_ranges > 0, "{percent} %: {report:?}");
        let wrong: u64 = report.originals_lost.iter().map(|range| range.len).sum();
        assert!(wrong > 0 && wrong == 512 * ended.changed().len() as u64, "{percent} %: {report:?}");
        assert!(!ended.says_what_is_wrong(left, "cut"));
    }
}

#[test]
fn damaged_journal_never_reports_complete_restore() {
    let ended = Ended::new(4);
    let len = ended.journal.len() as u64;
    for case in 0..90 {
        let (from, size) = (mix_bits(case) % len, 1 + mix_bits(case + 500) % (len / 3));
        let (from, end) = (from as usize, (from + size).min(len) as usize);
        let mut journal = ended.journal.clone();
        match case % 3 {
            0 => journal.truncate(from),
            1 => journal[from..end].fill(0),
            _ => drop(journal.drain(from..end)),
        }
        ended.says_what_is_wrong(&journal, &format!("case {case}: {from} to {end} of {len}"));
    }
}

/// The journal is intact but older than the card, as after a disk that lost its last writes.
#[test]
fn stale_journal_is_detected_by_card_content() {
    let ended = Ended::new(4);
    assert!(ended.moments.len() > 4);
    let (last, earlier) = ended.moments.split_last().unwrap();
    assert!(ended.says_what_is_wrong(last, "the last moment"));
    for (batch, moment) in earlier.iter().enumerate().step_by(2) {
        assert!(!ended.says_what_is_wrong(moment, &format!("batch {batch}")));
    }
}

#[test]
fn old_version_journal_is_restored_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (card, file) = (dir.path().join("card.img"), dir.path().join("journal-old"));
    std::fs::write(&file, include_bytes!("../../../journal/tests/fixtures/journal-without-a-tally")).unwrap();
    let mut before = vec![0; 48 * 512];
    fill_content(IoContent::Stream { seed: 5 }, 0, &mut before);
    before.chunks_mut(512).step_by(3).for_each(|sector| sector.fill(0xff));
    let mut after = before.clone();
    for saved in Journal::open(&file).unwrap().saved_ranges() {
        let range = saved.offset as usize..(saved.offset + saved.len) as usize;
        fill_content(IoContent::Stamp { salt: 9, generation: 1 }, saved.offset, &mut after[range]);
    }
    // A block whose original is not in the journal.
    let mut stamped = before.clone();
    fill_content(IoContent::Stamp { salt: 9, generation: 2 }, 5 << 9, &mut stamped[5 << 9..6 << 9]);
    let mut with_more = after.clone();
    with_more[5 << 9..6 << 9].copy_from_slice(&stamped[5 << 9..6 << 9]);
    std::fs::write(&card, with_more).unwrap();
    let report = restored(&file, Some(&card)).unwrap().report;
    assert!(report.is_bad() && file.exists(), "{report:?}");
    assert_eq!(
        report.originals_lost.iter().map(|range| (range.offset, range.len)).collect::<Vec<_>>(),
        [(5 << 9, 512)]
    );
    assert!(std::fs::read(&card).unwrap() == stamped, "all but that block is restored");
    std::fs::write(&card, after).unwrap();
    let report = restored(&file, Some(&card)).unwrap().report;
    assert!(!report.is_bad() && report.removed && !file.exists(), "{report:?}");
    assert!(std::fs::read(&card).unwrap() == before);
}
