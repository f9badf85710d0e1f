use super::*;
use proptest::prelude::*;
use serde_json::json;

fn record() -> SessionFile {
    SessionFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        session: "01890a5d-ac96-774b-bcce-b302099a8057".to_owned(),
        kind: "verify".to_owned(),
        target: "/dev/sda".to_owned(),
        seed: u64::MAX.to_string(),
        tool_version: "0.1.0".to_owned(),
        started_at: "2024-05-01T10:00:00.000000Z".to_owned(),
        document: Some(json!({ "verdict": "genuine" })),
        ..SessionFile::default()
    }
}

fn altered(alter: impl FnOnce(&mut Value)) -> Result<SessionFile, SessionFileError> {
    let mut value = serde_json::to_value(record()).unwrap();
    alter(&mut value);
    SessionFile::from_json(&value.to_string())
}

#[test]
fn session_file_round_trips() {
    let text = record().to_json().unwrap();
    let back = SessionFile::from_json(&text).unwrap();
    assert_eq!((back.to_json().unwrap(), back), (text, record()));
}

#[test]
fn newer_version_is_refused_before_other_fields() {
    let refused = altered(|file| {
        file["version"] = 2.into();
        file["card"] = "of another kind".into();
    });
    assert_eq!(refused, Err(SessionFileError::Newer { found: 2 }));
}

#[test]
fn unknown_field_is_refused_by_name() {
    let refused = altered(|file| file["mood"] = "good".into());
    assert_eq!(refused, Err(SessionFileError::UnknownField("mood".to_owned())));
    let refused = altered(|file| {
        file["findings"] = json!([{ "claim": "a", "verdict": "b", "weight": "note", "confidence": 1.0, "evidence": [], "colour": 3 }]);
    });
    assert_eq!(refused, Err(SessionFileError::UnknownField("findings[0].colour".to_owned())));
}

#[test]
fn other_formats_and_damaged_files_are_distinguished() {
    for text in ["", "{", "[]", "null", "{\"format\":\"fio\"}"] {
        assert!(matches!(SessionFile::from_json(text), Err(SessionFileError::OtherFormat(_))), "{text}");
    }
    for version in [Value::Null, 0.into(), "1".into()] {
        let refused = altered(|file| file["version"] = version.clone());
        assert!(matches!(refused, Err(SessionFileError::Damaged(_))), "{version}");
    }
    let refused = altered(|file| file["runs"] = 7.into());
    assert!(matches!(refused, Err(SessionFileError::Damaged(_))));
}

#[test]
fn unknown_nested_field_has_its_path() {
    let file = json!({ "runs": [{ "run": 1 }, { "run": 2, "mood": "good" }], "note": null, "marks": [] });
    let taken = json!({ "runs": [{ "run": 1 }, { "run": 2 }] });
    assert_eq!(unknown_field(&file, &taken).as_deref(), Some("runs[1].mood"));
    assert_eq!(unknown_field(&taken, &file), None);
}

proptest! {
    #[test]
    fn session_parser_never_panics(text in "\\PC{0,200}", cut in 0usize..900) {
        let _ = SessionFile::from_json(&text);
        let whole = record().to_json().unwrap();
        let _ = SessionFile::from_json(&whole[..cut.min(whole.len())]);
    }
}
