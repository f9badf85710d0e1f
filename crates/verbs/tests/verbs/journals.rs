//! Restoring after any end of a probe, as long as the card answers.

use cardscope_engine::content::{IoContent, fill_content};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::journal::JournalWriter as _;
use cardscope_engine::target::TargetError;
use cardscope_files::ResolvedFolder;
use cardscope_journal::restore_outcome::RestoreOutcome;
use cardscope_journal::{Journal, JournalFacts, folder};
use cardscope_model::verify;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_session::consent::PreservingConsent;
use cardscope_session::frame::execute_verb;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening;
use clap::Parser as _;
use tempfile::TempDir;

const AT: u64 = 8 << 20;
const LEN: usize = 64 << 10;

/// Simulated card of which a part was saved and overwritten.
struct Overwritten {
    opened: OpenTarget,
    journal: Journal,
    _dir: TempDir,
}

impl Overwritten {
    fn new(card: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut opened =
            opening::open_by_name(card, true, &mut PreservingConsent, &InterruptFlag::default()).unwrap();
        let about = JournalFacts {
            tool_version: "0".into(),
            target: card.into(),
            announced_bytes: opened.target.info().bytes,
            began: "2026-01-02T03:04:05Z".into(),
            ..JournalFacts::default()
        };
        let mut journal = Journal::create(ResolvedFolder::open(dir.path()).unwrap(), about).unwrap();
        write(&mut opened, &[7; LEN]);
        journal.save(AT, &[7; LEN]).unwrap();
        journal.commit().unwrap();
        let mut stamps = [0; LEN];
        fill_content(IoContent::Stamp { salt: 9, generation: 0 }, AT, &mut stamps);
        write(&mut opened, &stamps);
        Overwritten { opened, journal, _dir: dir }
    }

    fn after(&mut self, error: TargetError) -> RestoreOutcome {
        let stop = ProbeStop::Target(error);
        RestoreOutcome::restore_after_probe(
            Some(&stop),
            self.opened.target.as_mut(),
            &mut self.journal,
            &mut Silent,
        )
    }
}

fn write(opened: &mut OpenTarget, bytes: &[u8; LEN]) {
    let mut card =
        IoDriver::new(opened.target.as_mut(), &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    assert_eq!(card.write_bytes(AT, bytes).unwrap(), []);
}

fn failed_flush() -> TargetError {
    TargetError::Io { operation: "flush", offset: 0, len: 0, reason: "I/O error".into(), errno: 5 }
}

fn no_memory() -> TargetError {
    TargetError::Setup { what: "memory for I/Os".into(), reason: "out of memory".into() }
}

#[test]
fn temporary_errors_do_not_leave_card_overwritten() {
    for error in [failed_flush(), no_memory(), TargetError::Unsupported("no".into())] {
        let mut card = Overwritten::new("sim:constant?announced_bytes=64MiB");
        let returned = card.after(error);
        assert!(returned.failure.is_none(), "{returned:?}");
        assert!(
            returned.may_have_changed(None).is_empty() && returned.tally.restored == LEN as u64,
            "{returned:?}"
        );
    }
}

#[test]
fn missing_card_is_not_written() {
    let mut card = Overwritten::new("sim:constant?announced_bytes=64MiB");
    let gone = TargetError::Gone { operation: "write", offset: AT, reason: "no such device".into() };
    let returned = card.after(gone);
    assert!(!returned.may_have_changed(None).is_empty() && returned.tally.restored == 0, "{returned:?}");
}

/// If restoring fails, that is reported and the journal stays.
#[test]
fn card_lost_during_restore_is_reported() {
    let limit = format!("sim:constant?announced_bytes=64MiB&faults.vanish_after_bytes={}", 2 * LEN + 512);
    let mut card = Overwritten::new(&limit);
    let returned = card.after(failed_flush());
    assert!(returned.failure.is_some() && !returned.may_have_changed(None).is_empty(), "{returned:?}");
}

/// A reader keeps its descriptor when the card is exchanged, so the journal of the first card must not be restored.
#[test]
fn restore_refuses_unknown_and_unreadable_cards() {
    let mut card = Overwritten::new("sim:constant?announced_bytes=64MiB");
    write(&mut card.opened, &[5; LEN]);
    let returned = card.after(failed_flush());
    let why = returned.failure.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("another card") && returned.tally.restored == 0, "{returned:?}");

    let mut card = Overwritten::new("sim:constant?announced_bytes=64MiB");
    let unreadable = "sim:constant?announced_bytes=64MiB&faults.read_error_p=1";
    card.opened =
        opening::open_by_name(unreadable, true, &mut PreservingConsent, &InterruptFlag::default()).unwrap();
    let returned = card.after(failed_flush());
    let why = returned.failure.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("cannot be read") && returned.tally.restored == 0, "{returned:?}");
}

/// Runs a quick test in virtual time; returns its document and the pending journals of this card.
fn verified(card: &str) -> (verify::VerifyReport, Vec<std::path::PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("archive.db").display().to_string();
    let line = Line::try_parse_from(["verify", card, "--seed=7", "--archive", &archive]).unwrap();
    let outcome =
        execute_verb(&line.request, &mut PreservingConsent, &InterruptFlag::default(), &mut Silent).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let waits = folder::pending_journals().unwrap();
    let its = |file: &std::path::PathBuf| Journal::peek(file).is_some_and(|(about, _)| about.target == card);
    (outcome.report, waits.into_iter().filter(its).collect())
}

#[derive(Debug, clap::Parser)]
struct Line {
    #[command(flatten)]
    request: cardscope_capacity::verb::VerifyRequest,
}

/// An unreadable range cannot be saved, so it must not be written; the rest of the card is tested.
#[test]
fn permanently_failing_ranges_leave_no_journal() {
    for bad in [
        "rig.extra_sectors=1",
        "faults.error_ranges=67108352+512",
        "faults.error_ranges=67104768+4096",
        "faults.error_ranges=67108352+512:write",
        "faults.error_ranges=66060288+1048576",
        "faults.error_ranges=0+1048576",
    ] {
        let card = format!("sim:constant?announced_bytes=64MiB&state=filled&{bad}");
        let (report, waits) = verified(&card);
        let moved = &report.body.moved;
        assert!(
            moved.bytes_written > 0 && moved.data_kept && moved.may_have_changed.is_none(),
            "{bad}: {moved:?}"
        );
        assert_eq!(waits, Vec::<std::path::PathBuf>::new(), "{bad}");
    }
}
