//! Records: documents of verbs without benchmark runs.

use crate::engines::on_both;
use crate::sessions::{record, start};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_store::{Archive, ArchiveError, SessionEnd};
use serde_json::json;

#[test]
fn record_round_trips_with_last_update_and_end() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let [done, crashed] = [(); 2].map(|()| archive.begin_session(&record("verify")).unwrap());
        let document = Report { header: ReportHeader::default(), body: json!({ "verdict": "genuine" }) };
        archive.update_record(done, &json!({ "verdict": "inconclusive" })).unwrap();
        archive.finish(done, SessionEnd::Complete, &document).unwrap();
        archive.update_record(crashed, &json!({ "rounds": 3 })).unwrap();
        drop(archive);
        let document = serde_json::to_value(&document).unwrap();

        let mut archive = Archive::open(place).unwrap();
        let stored = archive.session(done).unwrap();
        assert_eq!((&stored.file.kind, &stored.file.recipe), (&"verify".to_owned(), &None));
        assert_eq!(stored.file.document.as_ref(), Some(&document));
        assert_eq!(stored.summary.ended, Some(SessionEnd::Complete));
        let stored = archive.session(crashed).unwrap();
        assert_eq!((stored.file.document, stored.summary.ended), (Some(json!({ "rounds": 3 })), None));
        assert!(stored.summary.running, "this process lives");
        let lines = archive.sessions().unwrap();
        assert_eq!(
            lines.iter().map(|line| (line.id, line.is_record)).collect::<Vec<_>>(),
            [(done, true), (crashed, true)]
        );
        let card = lines[0].card_id.clone().unwrap();
        assert_eq!(archive.card_sessions(&card).unwrap(), lines);
        let unit = record("verify").specimen.unwrap();
        assert_eq!(archive.unit_sessions(&unit.id).unwrap(), lines);
        assert!(archive.unit_sessions("another").unwrap().is_empty());
    });
}

#[test]
fn benchmark_refuses_record_update() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let id = archive.begin_session(&start()).unwrap();
        assert!(matches!(archive.update_record(id, &json!({})), Err(ArchiveError::NoSuchSession { .. })));
    });
}

#[test]
fn long_run_gives_peak_temperature_despite_unreadable_documents() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut told = |document| {
            let id = archive.begin_session(&record("sustain")).unwrap();
            archive.update_record(id, &document).unwrap();
            id
        };
        let of = told(json!({ "series": [{ "second": 1 }], "max_celsius": 41.5 }));
        for odd in [json!({ "max_celsius": "41.5" }), json!({}), json!("hot"), json!(null)] {
            told(odd);
        }
        let card = archive.session(of).unwrap().summary.card_id.unwrap();
        let words = archive.card_statements(&card).unwrap();
        let peaks: Vec<_> = words.iter().map(|word| word.temperatures.1).collect();
        assert_eq!((peaks[0], peaks.len()), (Some(41.5), 5));
        assert_eq!(peaks[1..], [None; 4]);
        assert!(words.iter().all(|word| word.document.is_none()));
        let said = archive.identities(&card).unwrap();
        assert_eq!(said, words.iter().rev().map(|word| word.identity.clone()).collect::<Vec<_>>());
    });
}
