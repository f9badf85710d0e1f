//! Import of files that overlap with the archive: the same card by another name, an unfinished session, the same log.

use crate::engines::on_both;
use crate::files::{own, record};
use crate::logs::{card, card_of, import, log};
use crate::sessions::{self, report, results_of, run, sample};
use cardscope_model::card::{CardEvent, CardFacts, EventKind};
use cardscope_model::session_file::SessionFile;
use cardscope_store::{
    Archive, AttachmentOwner, ImportedSource, NewAttachment, NewSource, SessionEnd, SessionId,
};

#[test]
fn file_does_not_merge_contradicting_cards() {
    on_both(|place| {
        // Two brands sell the same flash, so both archives give their first card the same id.
        let flash = |brand: &str| CardFacts {
            brand: Some(brand.into()),
            model: Some("USD".into()),
            capacity_bytes: Some(63_864_569_856),
            ..CardFacts::default()
        };
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let theirs = import(&mut other, "theirs.log", &log(flash("Lexar"), &[90.0]))[0];
        let file = other.export(theirs).unwrap();
        let mut archive = Archive::open(place).unwrap();
        let ours = import(&mut archive, "ours.log", &log(flash("Gigastone"), &[80.0]))[0];
        let ours = card_of(&mut archive, ours);
        assert_eq!(file.card.as_ref().map(|card| &card.id), Some(&ours), "or there is nothing to be seen");
        archive.add_file(&file).unwrap();
        assert_ne!(card_of(&mut archive, theirs), ours);
        let again = import(&mut archive, "again.log", &log(flash("Lexar"), &[91.0]))[0];
        assert_eq!(card_of(&mut archive, again), card_of(&mut archive, theirs));
        assert_eq!(archive.cards().unwrap().len(), 2);
    });
}

#[test]
fn session_id_in_capitals_is_the_same_session() {
    on_both(|place| {
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let session = own(&mut other, 1, 1);
        let mut file = other.export(session).unwrap();
        file.session = format!("{{{}}}", file.session.to_uppercase());
        let mut archive = Archive::open(place).unwrap();
        assert!(matches!(archive.add_file(&file).unwrap(), ImportedSource::New { .. }));
        assert_eq!(archive.session(session).unwrap().file.runs[0].samples.len(), 1);
        assert!(matches!(
            archive.add_file(&other.export(session).unwrap()).unwrap(),
            ImportedSource::Known { .. }
        ));
    });
}

#[test]
fn equal_logs_and_two_sizes_round_trip_as_separate_sessions() {
    on_both(|place| {
        let twin = log(card("Acme", "Swift", "64GB"), &[80.0]);
        let mut sizes = log(card("Acme", "Swift", "64GB"), &[70.0, 71.0]);
        sizes.runs[1].size_bytes = Some(64 << 20);
        sizes.runs[1].run = 1;
        let nameless = log(CardFacts::default(), &[60.0]);
        let twins = [twin.clone(), twin];
        let nameless = [nameless.clone(), nameless];
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let several = |name: &'static str, logs| NewSource { logs, ..crate::logs::source(name, &twins[0]) };
        let sources = [
            several("twins", &twins),
            several("sizes", std::slice::from_ref(&sizes)),
            several("nameless", &nameless),
        ];
        let kept = other.import(sources).unwrap();
        let sessions = |kept: &ImportedSource| match kept {
            ImportedSource::New { sessions, .. } => sessions.clone(),
            known => panic!("{known:?}"),
        };
        let all: Vec<SessionId> = kept.iter().flat_map(sessions).collect();
        assert_eq!(all.len(), 6);
        let mut archive = Archive::open(place).unwrap();
        for session in &all {
            let file = other.export(*session).unwrap();
            assert!(matches!(archive.add_file(&file).unwrap(), ImportedSource::New { .. }), "{file:#?}");
        }
        let titles = |archive: &mut Archive| {
            archive.cards().unwrap().into_iter().map(|card| (card.title, card.runs)).collect::<Vec<_>>()
        };
        assert_eq!(titles(&mut archive), titles(&mut other));
        // Each log is recognized when imported separately with other line ends.
        let again = NewSource { bytes: b"twins\r\n".into(), ..several("again", &twins) };
        assert!(matches!(archive.import([again]).unwrap()[0], ImportedSource::Known { .. }));
    });
}

#[test]
fn events_are_exported_with_their_own_unit() {
    on_both(|place| {
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let sessions = ["a", "b"].map(|unique| {
            let mut start = sessions::start();
            start.specimen.as_mut().unwrap().id = cardscope_store::unit_id(unique);
            other.begin_session(&start).unwrap()
        });
        let id = card_of(&mut other, sessions[0]);
        let event = |kind, note: &str| CardEvent {
            date: None,
            kind,
            price: None,
            note: Some(note.into()),
            source: None,
        };
        for piece in other.units(&id).unwrap() {
            other.add_event(&id, Some(&piece.id), &event(EventKind::Failed, &piece.id)).unwrap();
        }
        other.add_event(&id, None, &event(EventKind::Note, "of both")).unwrap();
        let mut archive = Archive::open(place).unwrap();
        for session in sessions {
            archive.add_file(&other.export(session).unwrap()).unwrap();
        }
        let told = |archive: &mut Archive| {
            let mut events = archive.events(&id).unwrap();
            events.sort_by_key(|(piece, _)| piece.clone());
            events
        };
        assert_eq!(told(&mut archive), told(&mut other));
        assert_eq!(told(&mut archive).len(), 3);
    });
}

#[test]
fn unfinished_session_is_completed_by_later_file() {
    on_both(|place| {
        let elsewhere = tempfile::tempdir().unwrap();
        let mut other = Archive::open(elsewhere.path().join("other.sqlite")).unwrap();
        let session = other.begin_session(&sessions::start()).unwrap();
        other.begin_run(session, run(2)).unwrap();
        other.add_sample(session, 2, &sample(0)).unwrap();
        let early = other.export(session).unwrap();
        other.add_sample(session, 2, &sample(1)).unwrap();
        let results = results_of(2, &[("RND4K Q1T1 read", 9.0)]);
        other.finish_run(session, &results).unwrap();
        other.finish(session, SessionEnd::Complete, &report(session, vec![results])).unwrap();
        let late = other.export(session).unwrap();

        let mut archive = Archive::open(place).unwrap();
        assert!(matches!(archive.add_file(&early).unwrap(), ImportedSource::New { .. }));
        assert!(matches!(archive.add_file(&early).unwrap(), ImportedSource::Known { .. }));
        let picture = NewAttachment { name: "card.png", media_type: "image/png", note: None, bytes: &[1] };
        archive.attach(AttachmentOwner::Session(session), &picture).unwrap();
        assert!(matches!(archive.add_file(&late).unwrap(), ImportedSource::New { .. }), "it has more");
        assert!(matches!(archive.add_file(&early).unwrap(), ImportedSource::Known { .. }), "it has less");
        let file = archive.export(session).unwrap();
        assert_eq!(file.attachments.len(), 1, "what hangs on it here stays");
        assert_eq!(SessionFile { attachments: Vec::new(), ..file }.to_json(), late.to_json());
        assert_eq!(archive.summaries(|_| true).unwrap()[0].n, 1);
        // In its own archive only its own process may end a session.
        let mut here = Archive::open(elsewhere.path().join("here.sqlite")).unwrap();
        let running = here.begin_session(&sessions::start()).unwrap();
        let mut ended = here.export(running).unwrap();
        (ended.ended_at, ended.ended) = (Some("2026-01-01".into()), Some("complete".into()));
        assert!(matches!(here.add_file(&ended).unwrap(), ImportedSource::Known { .. }));
        // Records behave the same.
        let record = record(&mut other, true);
        let whole = other.export(record).unwrap();
        let begun = SessionFile { ended_at: None, ended: None, document: None, ..whole.clone() };
        archive.add_file(&begun).unwrap();
        archive.add_file(&whole).unwrap();
        assert_eq!(archive.export(record).unwrap().document, whole.document);
    });
}
