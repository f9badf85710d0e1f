//! Lossless export and import of session files in both databases, and their published schema.

use crate::engines::on_both;
use crate::logs::{card, card_of, import, log};
use crate::sessions::{self, report, results_of, run, sample};
use cardscope_model::card::{CardEvent, EventKind};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::session_file::{SessionFile, SessionFileError};
use cardscope_store::{
    Archive, ArchiveError, AttachmentOwner, ImportedSource, NewAttachment, SessionEnd, SessionId,
};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// Session with data in every field.
pub(crate) fn own(archive: &mut Archive, runs: u32, samples: u32) -> SessionId {
    let session = archive.begin_session(&sessions::start()).unwrap();
    let mut all = Vec::new();
    for number in 1..=runs {
        archive.begin_run(session, run(number)).unwrap();
        (0..samples).for_each(|i| archive.add_sample(session, number, &sample(i)).unwrap());
        all.push(results_of(number, &[("RND4K Q32T1 read", 9.0 + f64::from(number) / 3.0)]));
        archive.finish_run(session, &all[all.len() - 1]).unwrap();
    }
    archive.finish(session, SessionEnd::Interrupted, &report(session, all)).unwrap();
    let id = card_of(archive, session);
    let piece = archive.units(&id).unwrap()[0].id.clone();
    let event = CardEvent {
        date: None,
        kind: EventKind::InUse,
        price: None,
        note: Some("in a camera".into()),
        source: None,
    };
    archive.add_event(&id, Some(&piece), &event).unwrap();
    archive.add_event(&id, None, &CardEvent { kind: EventKind::Note, ..event }).unwrap();
    let picture =
        NewAttachment { name: "card.png", media_type: "image/png", note: None, bytes: &[0, 255, 10, 13] };
    for owner in
        [AttachmentOwner::Session(session), AttachmentOwner::Card(&id), AttachmentOwner::Unit(&piece)]
    {
        archive.attach(owner, &picture).unwrap();
    }
    session
}

pub(crate) fn record(archive: &mut Archive, known: bool) -> SessionId {
    let start = sessions::record("verify");
    let start =
        SessionFile { specimen: start.specimen.filter(|_| known), seed: u64::MAX.to_string(), ..start };
    let record = archive.begin_session(&start).unwrap();
    let body = json!({ "verdict": "genuine", "seconds": 0.1 });
    archive.finish(record, SessionEnd::Complete, &Report { header: ReportHeader::default(), body }).unwrap();
    record
}

/// Imports a file into an empty archive and exports it again.
fn through(place: &Path, text: &str) -> String {
    let mut archive = Archive::open(place).unwrap();
    let file = SessionFile::from_json(text).unwrap();
    assert!(matches!(archive.add_file(&file).unwrap(), ImportedSource::New { .. }));
    assert!(matches!(archive.add_file(&file).unwrap(), ImportedSource::Known { .. }), "twice is once");
    archive.export(file.session.parse().unwrap()).unwrap().to_json().unwrap()
}

fn exported(archive: &mut Archive, session: SessionId) -> String {
    archive.export(session).unwrap().to_json().unwrap()
}

#[test]
fn export_round_trips_through_both_databases() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("Lexar", "PLAY PRO", "1TB"), &[612.0, 597.5]);
        log.card.made = Some("2024-02".into());
        log.condition.set("note", "in a \"dock\"", cardscope_model::condition::ConditionOrigin::Read);
        let imported = import(&mut archive, "lexar.log", &log)[0];
        let nameless = import(&mut archive, "speed.txt", &crate::logs::log(Default::default(), &[1.5]))[0];
        let begun = archive.begin_session(&sessions::start()).unwrap();
        let all = [
            imported,
            nameless,
            begun,
            own(&mut archive, 2, 3),
            record(&mut archive, true),
            record(&mut archive, false),
        ];
        let texts = all.map(|session| exported(&mut archive, session));
        on_both(|empty| texts.iter().for_each(|text| assert_eq!(through(empty, text), *text)));
    });
}

#[test]
fn imported_session_counts_like_own_session() {
    on_both(|place| {
        let mut first = Archive::open(place).unwrap();
        let session = own(&mut first, 3, 1);
        let file = first.export(session).unwrap();
        let id = card_of(&mut first, session);
        let (runs, summaries) =
            (first.measurements(std::slice::from_ref(&id)).unwrap(), first.summaries(|_| true).unwrap());
        on_both(|other| {
            let mut second = Archive::open(other).unwrap();
            second.add_file(&file).unwrap();
            assert_eq!(second.measurements(std::slice::from_ref(&id)).unwrap(), runs);
            assert_eq!(second.summaries(|_| true).unwrap(), summaries);
            assert!(!second.session(session).unwrap().summary.running);
        });
    });
}

#[test]
fn session_file_of_known_log_is_recognized() {
    on_both(|place| {
        let log = log(card("Lexar", "PLAY PRO", "1TB"), &[612.0]);
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let session = import(&mut other, "theirs.log", &log)[0];
        let file = other.export(session).unwrap();
        let mut archive = Archive::open(place).unwrap();
        import(&mut archive, "ours.log", &log);
        match archive.add_file(&file).unwrap() {
            ImportedSource::Known { name, .. } => assert_eq!(name, "ours.log"),
            new => panic!("{new:?}"),
        }
    });
}

#[test]
fn inconsistent_file_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
    let session = own(&mut archive, 1, 0);
    let good = archive.export(session).unwrap();
    let refused = |alter: &dyn Fn(&mut SessionFile)| {
        let mut file = good.clone();
        alter(&mut file);
        let mut empty = Archive::open(folder.path().join("empty.sqlite")).unwrap();
        let error = empty.add_file(&file).unwrap_err();
        assert!(matches!(error, ArchiveError::File(SessionFileError::Damaged(_))), "{error}");
        assert!(empty.sessions().unwrap().is_empty() && empty.cards().unwrap().is_empty());
    };
    refused(&|file| file.session = "yesterday's".into());
    refused(&|file| file.seed = "-1".into());
    refused(&|file| file.ended = Some("well".into()));
    refused(&|file| file.card.as_mut().unwrap().id = "../card".into());
    refused(&|file| file.card.as_mut().unwrap().id = "AB".repeat(32));
    refused(&|file| file.specimen.as_mut().unwrap().id = "1".into());
    refused(&|file| file.started_at = "2024".repeat(2000));
    refused(&|file| file.runs[0].figures.as_mut().unwrap()[0].mb_s = 1.7e308);
    refused(&|file| file.runs[0].figures.as_mut().unwrap()[0].mb_s = -1.0);
    refused(&|file| file.card = None);
    refused(&|file| file.recipe = None);
    refused(&|file| file.specimen = None);
    refused(&|file| file.runs.push(file.runs[0].clone()));
    refused(&|file| file.attachments[0].content = "not base64!".into());
    refused(&|file| {
        file.source = Some(cardscope_model::session_file::FileSource {
            hash: "0".repeat(64),
            name: "x".into(),
            format: "f3".into(),
            imported_at: String::new(),
            content: "AAAA".into(),
        });
    });
}

#[test]
fn exported_files_match_published_schema() {
    let schema = include_str!("../../../../docs/result-file.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
    let mut full = log(card("Lexar", "PLAY PRO", "1TB"), &[612.0]);
    full.runs[0].results[0].step = Some("direct".into());
    full.doubts.push("a doubt".into());
    let all = [
        import(&mut archive, "lexar.log", &full)[0],
        own(&mut archive, 2, 2),
        record(&mut archive, true),
        record(&mut archive, false),
        archive.begin_session(&sessions::start()).unwrap(),
    ];
    for session in all {
        let file = serde_json::from_str(&exported(&mut archive, session)).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&file).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let mut wrong: serde_json::Value = file;
        wrong["mood"] = "good".into();
        assert!(!schema.is_valid(&wrong), "an unknown field is refused");
        wrong.as_object_mut().unwrap().remove("mood");
        wrong["version"] = 2.into();
        assert!(!schema.is_valid(&wrong), "another version is another schema");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn any_session_round_trips_through_file(
        (runs, samples) in (0u32..3, 0u32..3),
        speeds in prop::collection::vec(0.0..1e5f64, 0..4),
        (note, bytes) in ("\\PC{0,30}", prop::collection::vec(any::<u8>(), 0..50)),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let mut log = log(card("Any", &note, "1TB"), &speeds);
        log.other.insert(note.clone(), json!(speeds));
        let source = cardscope_store::NewSource { bytes: (&bytes[..]).into(), ..crate::logs::source(&note, &log) };
        let ImportedSource::New { sessions, .. } = archive.import([source]).unwrap().remove(0) else { unreachable!() };
        for (place, session) in [sessions[0], own(&mut archive, runs, samples)].into_iter().enumerate() {
            let text = exported(&mut archive, session);
            prop_assert_eq!(through(&folder.path().join(format!("{place}.sqlite")), &text), text);
        }
    }
    #[test]
    fn altered_files_never_panic_or_store_partially(
        leaf in 0usize..300,
        value in prop::sample::select(vec![json!(null), json!(""), json!("x"), json!(-1), json!(1e308), json!([]), json!({}), json!(true)]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let session = own(&mut archive, 1, 1);
        let mut file: serde_json::Value = serde_json::from_str(&exported(&mut archive, session)).unwrap();
        alter(&mut file, &mut leaf.clone(), &value);
        let mut empty = Archive::open(folder.path().join("empty.sqlite")).unwrap();
        let taken = SessionFile::from_json(&file.to_string()).map(|file| empty.add_file(&file).is_ok());
        let sessions = empty.sessions().unwrap().len();
        prop_assert_eq!(sessions, usize::from(taken == Ok(true)));
        prop_assert!(taken == Ok(true) || empty.cards().unwrap().is_empty());
    }
}

/// Replaces the n-th leaf of a document.
fn alter(file: &mut serde_json::Value, leaf: &mut usize, value: &serde_json::Value) {
    match file {
        serde_json::Value::Array(all) => all.iter_mut().for_each(|part| alter(part, leaf, value)),
        serde_json::Value::Object(all) => all.values_mut().for_each(|part| alter(part, leaf, value)),
        found if *leaf == 0 => {
            *found = value.clone();
            *leaf = usize::MAX;
        }
        _ => *leaf = leaf.saturating_sub(1),
    }
}
