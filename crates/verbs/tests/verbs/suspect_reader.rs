//! Verbs that preserve data, behind readers that misread the card.

use cardscope_bench::verb as bench;
use cardscope_capacity::verb as verify;
use cardscope_check::verb as check;
use cardscope_endurance::verb::endure;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_flash::verb as map;
use cardscope_format::verb::format;
use cardscope_model::report::{ExitStatus, ReportDocument as _};
use cardscope_model::report::{Report, ReportBody};
use cardscope_model::suspect_reader::ReadStage;
use cardscope_model::verify::Verdict;
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::frame::{Procedure, VerbOutcome, execute_verb};
use cardscope_testkit::cards::unique_sim_card;
use clap::{Args, Parser};
use std::path::Path;

#[derive(Debug, Parser)]
struct Line<R: Args> {
    #[command(flatten)]
    request: R,
}

const READERS: [&str; 3] = ["repeat_bytes=64KiB", "repeat_bytes=128KiB", "flip_read_every=10"];

fn carried_out<P: Procedure + Args>(
    words: &str,
    target: &str,
    folder: &Path,
) -> VerbOutcome<Report<P::Body>> {
    let archive = folder.join("archive").display().to_string();
    let image = folder.join("card.img").display().to_string();
    let words = words.split(' ').map(|word| if word == "IMAGE" { &image } else { word });
    let typed = words.chain([target, "--archive", &archive]);
    let request = Line::<P>::try_parse_from(typed).unwrap().request;
    let mut consent = GivenBeforehand(Some(target.to_owned()));
    execute_verb(&request, &mut consent, &InterruptFlag::default(), &mut Silent).unwrap()
}

fn assert_ended_by_reader<B: ReportBody + std::fmt::Debug>(outcome: &mut VerbOutcome<Report<B>>, what: &str) {
    assert_eq!(outcome.failure, None, "{what}");
    assert_eq!(outcome.report.exit_status(), ExitStatus::NotProven, "{what}");
    let header = &outcome.report.header;
    assert!(header.suspect_reader.as_ref().is_some_and(|reader| reader.ended_test), "{what}");
    assert!(header.session.is_some(), "{what}");
    let moved = outcome.report.body.io_totals().unwrap();
    assert!(moved.data_kept && moved.bytes_written == 0, "{what}: {moved:?}");
}

#[test]
fn misreading_reader_prevents_writes_to_card_with_data() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = unique_sim_card(&format!("announced_bytes=81MiB&state=filled&{reader}"));
        let mut verified = carried_out::<verify::VerifyRequest>("verify", &target, folder.path());
        assert_ended_by_reader(&mut verified, &target);
        assert_eq!(verified.report.body.verdict, Verdict::ReaderSuspect);
        let mut mapped = carried_out::<map::MapRequest>("map --only page-writes", &target, folder.path());
        assert_ended_by_reader(&mut mapped, &target);
        let mut checked = carried_out::<check::CheckRequest>("check --budget 30s", &target, folder.path());
        assert_ended_by_reader(&mut checked, &target);
        assert_eq!(checked.report.body.verdict, Verdict::ReaderSuspect);
    }
}

#[test]
fn misreading_reader_prevents_saving_image() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = unique_sim_card(&format!("announced_bytes=82MiB&state=filled&{reader}"));
        let words = "bench --recipe kdiskmark --size 4M --backup IMAGE";
        let mut measured = carried_out::<bench::BenchRequest>(words, &target, folder.path());
        assert_ended_by_reader(&mut measured, &target);
        assert!(!folder.path().join("card.img").exists());
    }
}

fn assert_blames_reader<B: ReportBody + std::fmt::Debug>(outcome: &VerbOutcome<Report<B>>, what: &str) {
    assert_eq!(outcome.failure, None, "{what}");
    let header = &outcome.report.header;
    assert!(header.suspect_reader.as_ref().is_some_and(|reader| !reader.ended_test), "{what}");
    assert_ne!(outcome.report.exit_status(), ExitStatus::Bad, "{what}");
}

#[test]
fn erasing_test_reports_misreading_reader_not_card() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = unique_sim_card(&format!("announced_bytes=83MiB&state=filled&{reader}"));
        for words in ["verify --erase", "verify --full"] {
            let verified = carried_out::<verify::VerifyRequest>(words, &target, folder.path());
            assert_blames_reader(&verified, &format!("{words} {target}"));
            assert_eq!(verified.report.body.verdict, Verdict::ReaderSuspect, "{words} {target}");
            assert_eq!(verified.report.exit_status(), ExitStatus::NotProven, "{words} {target}");
        }
        let checked =
            carried_out::<check::CheckRequest>("check --budget 30s --erase", &target, folder.path());
        assert_blames_reader(&checked, &target);
        assert_eq!(checked.report.body.verdict, Verdict::ReaderSuspect);
        let formatted = carried_out::<format::FormatRequest>("format --label CARD", &target, folder.path());
        assert_blames_reader(&formatted, &target);
        let words = "bench --recipe kdiskmark --size 4M";
        let measured = carried_out::<bench::BenchRequest>(words, &target, folder.path());
        assert_blames_reader(&measured, &target);
        let worn = carried_out::<endure::EndureRequest>("endure --rounds 2", &target, folder.path());
        assert_blames_reader(&worn, &target);
    }
}

/// Readers that flip bits so rarely that most are not detected before the first write.
#[test]
fn single_misread_gives_neither_loss_nor_pass() {
    let folder = tempfile::tempdir().unwrap();
    let mut unstable = 0;
    for seed in 1..=8 {
        let target = unique_sim_card(&format!("announced_bytes=84MiB&flip_read_every=500&seed={seed}"));
        for words in ["verify --erase --budget 10s", "verify --full"] {
            let verified = carried_out::<verify::VerifyRequest>(words, &target, folder.path()).report;
            let body = &verified.body;
            let differed =
                verified.header.findings.iter().any(|finding| finding.claim.starts_with("answers-"));
            assert!(
                !body.verdict.is_bad() || body.verdict == Verdict::Unstable,
                "{words} {target}: {body:?}"
            );
            assert!(!differed || verified.exit_status() != ExitStatus::Good, "{words} {target}: {body:?}");
            unstable += u32::from(body.verdict == Verdict::Unstable);
        }
    }
    assert!(unstable > 2, "{unstable}");
}

#[test]
fn format_succeeds_despite_one_misread_and_names_reader() {
    let folder = tempfile::tempdir().unwrap();
    let mut suspect = 0;
    for seed in 1..=24 {
        let target = unique_sim_card(&format!("announced_bytes=85MiB&flip_read_every=8&seed={seed}"));
        let formatted = carried_out::<format::FormatRequest>("format", &target, folder.path()).report;
        assert_eq!(formatted.exit_status(), ExitStatus::Good, "{target}: {formatted:?}");
        let stage = formatted.header.suspect_reader.map(|reader| reader.stage);
        suspect += u32::from(stage == Some(ReadStage::ReadingBack));
    }
    assert!(suspect > 0);
}

#[test]
fn good_reader_is_not_suspected() {
    let folder = tempfile::tempdir().unwrap();
    for state in ["filled", "factory"] {
        let target = unique_sim_card(&format!("announced_bytes=86MiB&state={state}"));
        let verified = carried_out::<verify::VerifyRequest>("verify", &target, folder.path());
        assert_eq!(verified.report.header.suspect_reader, None);
        assert_eq!(verified.report.exit_status(), ExitStatus::Good);
    }
}
