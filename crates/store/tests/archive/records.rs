//! Records: documents of verbs that are no benchmark session.

use crate::engines::on_both;
use crate::sessions;
use cardscope_store::{Archive, ArchiveError, EndedHow, RecordStart};
use serde_json::json;

fn start() -> RecordStart {
    let session = sessions::start();
    RecordStart {
        kind: "verify".into(),
        target: session.target,
        piece: session.piece,
        seed: u64::MAX,
        condition: session.condition,
        identity: session.identity,
        host: session.host,
        tool_version: session.tool_version,
    }
}

#[test]
fn a_record_comes_back_as_it_was_last_kept_and_says_how_it_ended() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let [done, crashed] = [(); 2].map(|()| archive.begin_record(&start()).unwrap());
        archive.update_record(done, &json!({ "verdict": "inconclusive" })).unwrap();
        archive.finish_record(done, EndedHow::Complete, &json!({ "verdict": "genuine" })).unwrap();
        archive.update_record(crashed, &json!({ "rounds": 3 })).unwrap();
        drop(archive);

        let mut archive = Archive::open(place).unwrap();
        let stored = archive.record(done).unwrap();
        assert_eq!((stored.start, stored.document), (start(), Some(json!({ "verdict": "genuine" }))));
        assert_eq!(stored.summary.ended, Some(EndedHow::Complete));
        let stored = archive.record(crashed).unwrap();
        assert_eq!((stored.document, stored.summary.ended), (Some(json!({ "rounds": 3 })), None));
        assert!(stored.summary.running, "this process lives");
        let lines = archive.records().unwrap();
        assert_eq!(lines.iter().map(|line| line.id).collect::<Vec<_>>(), [done, crashed]);
        assert!(archive.sessions().unwrap().is_empty(), "a record is no session");
        let card = lines[0].card_id.clone().unwrap();
        assert_eq!(archive.card_records(&card).unwrap()[0].document, Some(json!({ "verdict": "genuine" })));
    });
}

#[test]
fn a_record_that_is_not_there_is_named() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let id = archive.begin_session(&sessions::start()).unwrap();
        assert!(matches!(archive.record(id), Err(ArchiveError::NoSuchSession { .. })));
        assert!(matches!(archive.update_record(id, &json!({})), Err(ArchiveError::NoSuchSession { .. })));
    });
}
