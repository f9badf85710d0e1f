//! Verbs that preserve the card's data, behind readers that misread it.

use super::*;
use crate::consent::Beforehand;
use crate::{bench, check, endure, format, map, verify};
use cardscope_engine::event::Silent;
use cardscope_model::report::{Document as _, ExitStatus};
use cardscope_model::verify::Verdict;
use clap::{Args, Parser};

#[derive(Debug, Parser)]
struct Line<R: Args> {
    #[command(flatten)]
    request: R,
}

const READERS: [&str; 3] = ["repeat_bytes=64KiB", "repeat_bytes=128KiB", "flip_read_every=10"];

fn carried_out<P: Procedure + Args>(words: &str, target: &str, folder: &Path) -> Outcome<Report<P::Body>> {
    let archive = folder.join("archive").display().to_string();
    let image = folder.join("card.img").display().to_string();
    let words = words.split(' ').map(|word| if word == "IMAGE" { &image } else { word });
    let typed = words.chain([target, "--archive", &archive]);
    let request = Line::<P>::try_parse_from(typed).unwrap().request;
    let mut consent = Beforehand(Some(target.to_owned()));
    execute(&request, &mut consent, &Interrupt::default(), &mut Silent).unwrap()
}

fn assert_ended_by_reader<B: Body + std::fmt::Debug>(outcome: &mut Outcome<Report<B>>, what: &str) {
    assert_eq!(outcome.failure, None, "{what}");
    assert_eq!(outcome.report.exit_status(), ExitStatus::NotProven, "{what}");
    let header = &outcome.report.header;
    assert!(header.suspect_reader.as_ref().is_some_and(|reader| reader.ended_test), "{what}");
    assert!(header.session.is_some(), "{what}");
    let moved = outcome.report.body.moved().unwrap();
    assert!(moved.data_kept && moved.bytes_written == 0, "{what}: {moved:?}");
}

#[test]
fn nothing_is_written_through_a_reader_that_misreads_a_card_with_data() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = format!("sim:constant?announced_bytes=64MiB&state=filled&{reader}");
        let mut verified = carried_out::<verify::Request>("verify", &target, folder.path());
        assert_ended_by_reader(&mut verified, &target);
        assert_eq!(verified.report.body.verdict, Verdict::ReaderSuspect);
        let mut mapped = carried_out::<map::Request>("map --only page-writes", &target, folder.path());
        assert_ended_by_reader(&mut mapped, &target);
        let mut checked = carried_out::<check::Request>("check --budget 30s", &target, folder.path());
        assert_ended_by_reader(&mut checked, &target);
        assert_eq!(checked.report.body.verdict, Verdict::ReaderSuspect);
    }
}

#[test]
fn an_image_is_not_taken_through_a_reader_that_misreads() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = format!("sim:constant?announced_bytes=64MiB&state=filled&{reader}");
        let words = "bench --recipe kdiskmark --size 4M --backup IMAGE";
        let mut measured = carried_out::<bench::Request>(words, &target, folder.path());
        assert_ended_by_reader(&mut measured, &target);
        assert!(!folder.path().join("card.img").exists());
    }
}

fn assert_blames_reader<B: Body + std::fmt::Debug>(outcome: &Outcome<Report<B>>, what: &str) {
    assert_eq!(outcome.failure, None, "{what}");
    let header = &outcome.report.header;
    assert!(header.suspect_reader.as_ref().is_some_and(|reader| !reader.ended_test), "{what}");
    assert_ne!(outcome.report.exit_status(), ExitStatus::Bad, "{what}");
}

#[test]
fn where_nothing_is_preserved_a_reader_that_misreads_is_reported_and_the_card_is_not_accused() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS {
        let target = format!("sim:constant?announced_bytes=64MiB&state=filled&{reader}");
        for words in ["verify --erase", "verify --full"] {
            let verified = carried_out::<verify::Request>(words, &target, folder.path());
            assert_blames_reader(&verified, &format!("{words} {target}"));
            assert_eq!(verified.report.body.verdict, Verdict::ReaderSuspect, "{words} {target}");
            assert_eq!(verified.report.exit_status(), ExitStatus::NotProven, "{words} {target}");
        }
        let checked = carried_out::<check::Request>("check --budget 30s --erase", &target, folder.path());
        assert_blames_reader(&checked, &target);
        assert_eq!(checked.report.body.verdict, Verdict::ReaderSuspect);
        let formatted = carried_out::<format::Request>("format --label CARD", &target, folder.path());
        assert_blames_reader(&formatted, &target);
        let words = "bench --recipe kdiskmark --size 4M";
        let measured = carried_out::<bench::Request>(words, &target, folder.path());
        assert_blames_reader(&measured, &target);
        let worn = carried_out::<endure::Request>("endure --rounds 2", &target, folder.path());
        assert_blames_reader(&worn, &target);
    }
}

#[test]
fn an_honest_reader_is_not_suspected() {
    let folder = tempfile::tempdir().unwrap();
    for state in ["filled", "factory"] {
        let target = format!("sim:constant?announced_bytes=64MiB&state={state}");
        let verified = carried_out::<verify::Request>("verify", &target, folder.path());
        assert_eq!(verified.report.header.suspect_reader, None);
        assert_eq!(verified.report.exit_status(), ExitStatus::Good);
    }
}
