//! Import of other tools' logs: once each, and without loss.

use crate::engines::on_both;
use crate::logs::{self, card, cooled, import, log, run, source};
use crate::sessions;
use cardscope_model::card::CardFacts;
use cardscope_model::log::CardLog;
use cardscope_model::result::ToolPrints;
use cardscope_store::{Archive, ImportedSource, NewSource, SessionEnd};
use proptest::prelude::*;

#[test]
fn imported_log_and_file_round_trip() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("Lexar", "PLAY PRO", "1TB"), &[612.0, 597.5, 281.25]);
        log.other.insert("nvme".into(), serde_json::json!({ "temperature_celsius": 41.5 }));
        log.doubts.push("the clock of the host was wrong".into());
        let [session] = import(&mut archive, "lexar.log", &log)[..] else {
            panic!("one condition, one session")
        };
        drop(archive);

        let mut archive = Archive::open(place).unwrap();
        let stored = archive.session(session).unwrap();
        assert_eq!(stored.summary.kind, "import");
        assert_eq!((stored.summary.runs, stored.summary.ended), (3, Some(SessionEnd::Complete)));
        assert_eq!(stored.summary.card.as_deref(), Some("Lexar PLAY PRO 1TB"));
        let back = stored.log().unwrap();
        // The origins of a condition are stored separately from the log.
        assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&log).unwrap());
        assert_eq!(sessions::interrupted(&mut archive), []);
        let files = archive.sources().unwrap();
        assert_eq!((files[0].name.as_str(), files[0].bytes, files[0].sessions), ("lexar.log", 9, 1));
        assert_eq!(archive.source(&files[0].hash).unwrap(), (files[0].clone(), b"lexar.log".to_vec()));
        assert!(archive.source("none").unwrap_err().to_string().contains("no file none"));
    });
}

#[test]
fn same_log_with_other_line_ends_is_recognized() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let log = log(card("SanDisk", "Ultra", "64GB"), &[88.0, 87.0]);
        let both = [source("ultra.txt", &log), source("ultra.txt", &log)];
        let kept = archive.import(both).unwrap();
        assert!(
            matches!(&kept[..], [ImportedSource::New { .. }, ImportedSource::Known { .. }]),
            "twice in one batch: {kept:?}"
        );
        let crlf =
            NewSource { name: "copy of ultra.txt", bytes: b"ultra.txt\r\n".into(), ..source("", &log) };
        for again in [source("ultra.txt", &log), crlf] {
            match archive.import([again]).unwrap().remove(0) {
                ImportedSource::Known { name, source, .. } => {
                    assert_eq!(
                        (name.as_str(), source),
                        ("ultra.txt", archive.sources().unwrap()[0].hash.clone())
                    );
                }
                new => panic!("{new:?}"),
            }
        }
        assert_eq!(archive.sessions().unwrap().len(), 1);
    });
}

#[test]
fn unnamed_cards_with_equal_figure_stay_separate() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let nameless = log(Default::default(), &[44.46]);
        let first = import(&mut archive, "first: 44.46 MB/sec", &nameless);
        let second = import(&mut archive, "second: 44.46 MB/sec", &nameless);
        let cards = [first[0], second[0]].map(|session| logs::card_of(&mut archive, session));
        assert_ne!(cards[0], cards[1]);
        let titles: Vec<String> = archive.cards().unwrap().into_iter().map(|card| card.title).collect();
        assert_eq!(titles, ["unnamed card of first: 44.46 MB/sec", "unnamed card of second: 44.46 MB/sec"]);
        // The same text in UTF-16 with other line ends is the same log.
        let bytes: Vec<u8> = "first: 44.46 MB/sec\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let again = NewSource { bytes: (&bytes[..]).into(), ..source("first.txt", &nameless) };
        assert!(matches!(archive.import([again]).unwrap()[..], [ImportedSource::Known { .. }]));
    });
}

#[test]
fn condition_and_size_split_log_into_sessions() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("SanDisk", "Extreme", "256GB"), &[830.0, 640.0, 828.0, 835.0]);
        log.runs[1].condition = Some(cooled());
        log.runs[3].size_bytes = Some(256 << 20);
        let sessions = import(&mut archive, "three.log", &log);
        let stored: Vec<_> = sessions.iter().map(|id| archive.session(*id).unwrap()).collect();
        let numbers = |place: usize| stored[place].file.runs.iter().map(|r| r.run).collect::<Vec<_>>();
        assert_eq!([numbers(0), numbers(1), numbers(2)], [vec![1, 3], vec![2], vec![4]]);
        let cooling = stored[1].file.condition.clone();
        assert_eq!(
            (cooling.get("cooling"), cooling.get("reader")),
            (Some("active"), Some("slot of a laptop"))
        );
        let card = logs::card_of(&mut archive, sessions[0]);
        let runs = archive.measurements(&[card]).unwrap();
        assert_eq!(runs.iter().map(|r| r.run.run).collect::<Vec<_>>(), [1, 3, 2, 4]);
        assert_eq!(runs[3].setting.size_bytes, Some(256 << 20));
        assert_eq!(runs[0].setting.recipe, "cdm_fio.sh");
        assert_eq!(
            (runs[0].measured_at.as_deref(), runs[0].source.as_deref()),
            (Some("2024-05-17"), Some("three.log"))
        );
        assert_eq!(runs[0].run.results[0].as_printed, Some(ToolPrints { value: 830.0, unit: "MB/s".into() }));
    });
}

#[test]
fn log_without_figures_is_stored() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = CardLog::new("f3");
        log.other.insert("f3probe".into(), serde_json::json!({ "usable_bytes": 8_000_000_000u64 }));
        let sessions = import(&mut archive, "probe.log", &log);
        let stored = archive.session(sessions[0]).unwrap();
        assert!(stored.file.runs.is_empty());
        assert_eq!(stored.log().unwrap().other, log.other);
    });
}

#[test]
fn invalid_speeds_are_dropped_with_a_note() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("A", "B", "8GB"), &[20.0, 21.0]);
        log.runs[0].results[0].mb_s = f64::NAN;
        log.runs[0].results[1].mb_s = -3.0;
        log.runs[1].results[0].iops = Some(f64::INFINITY);
        let sessions = import(&mut archive, "nan.log", &log);
        let back = archive.session(sessions[0]).unwrap().log().unwrap();
        assert_eq!(back.runs.iter().map(|r| r.run).collect::<Vec<_>>(), [2]);
        assert_eq!(back.runs[0].results[0].iops, None);
        assert!(back.doubts[0].starts_with("left out 2 impossible speeds"), "{:?}", back.doubts);
    });
}

#[test]
fn runs_with_equal_numbers_are_renumbered() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("A", "B", "8GB"), &[]);
        log.runs = vec![run(0, 10.0), run(7, 11.0), run(7, 12.0)];
        let sessions = import(&mut archive, "twice.log", &log);
        let runs = archive.session(sessions[0]).unwrap().file.runs;
        assert_eq!(runs.iter().map(|r| r.run).collect::<Vec<_>>(), [1, 2, 3]);
    });
}

#[test]
fn names_with_any_character_are_stored_by_both_databases() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("a\0b", "'; DROP TABLE card; --", "64GB"), &[5.0]);
        log.part = Some("\u{1f4be} ¬∞C \"quoted\"".into());
        import(&mut archive, "a\0name.log", &log);
        assert_eq!(archive.find_cards("drop table").unwrap().len(), 1);
    });
}

prop_compose! {
    fn any_log()(
        speeds in prop::collection::vec(0.0..5000.0f64, 1..6),
        (brand, name, part) in (prop::option::of("[ -~]{1,12}"), prop::option::of("\\PC{1,12}"), prop::option::of("\\PC{0,12}")),
        (bytes, date, word) in (prop::option::of(0u64..1 << 50), prop::option::of("20[0-9]{2}-0[1-9]"), "\\PC{0,20}"),
    ) -> CardLog {
        let mut log = log(Default::default(), &speeds);
        (log.card.brand, log.card.name, log.card.capacity_bytes) = (brand, name, bytes);
        (log.part, log.date) = (part, date);
        log.condition.set("note", word.clone(), cardscope_model::condition::ConditionOrigin::Stated);
        log.other.insert(word, serde_json::json!(speeds));
        log
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]
    #[test]
    fn any_logs_round_trip(logs in prop::collection::vec(any_log(), 1..5)) {
        on_both(|place| {
            let mut archive = Archive::open(place).unwrap();
            let names: Vec<String> = (0..logs.len()).map(|n| format!("{n}.log")).collect();
            let sources: Vec<_> = names.iter().zip(&logs).map(|(name, log)| source(name, log)).collect();
            for (kept, log) in archive.import(sources).unwrap().into_iter().zip(&logs) {
                let ImportedSource::New { sessions, .. } = kept else { continue };
                let back = archive.session(sessions[0]).unwrap().log().unwrap();
                assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(log).unwrap());
            }
        });
    }
}

#[test]
fn cards_known_by_size_only_stay_separate() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let size = CardFacts { capacity_label: Some("64GB".into()), ..CardFacts::default() };
        let nameless = log(size, &[44.46]);
        let ids = ["first", "second"].map(|name| {
            let titled = NewSource { title: Some("speed"), ..source(name, &nameless) };
            let ImportedSource::New { sessions, .. } = archive.import([titled]).unwrap().remove(0) else {
                panic!("{name}")
            };
            logs::card_of(&mut archive, sessions[0])
        });
        assert_ne!(ids[0], ids[1]);
        let cards = archive.cards().unwrap();
        assert!(cards.iter().all(|card| card.title == "speed" && card.facts.name.is_none()), "{cards:?}");
    });
}

#[test]
fn invalid_date_stays_in_log_without_ordering() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("A", "B", "8GB"), &[20.0]);
        log.date = Some((0..80).map(|n| cardscope_store::unit_id(&n.to_string())).collect());
        let session = import(&mut archive, "a.log", &log)[0];
        assert_eq!(archive.session(session).unwrap().log().unwrap().date, log.date);
        assert_eq!(archive.cards().unwrap()[0].measured, None);
    });
}

#[test]
fn absurd_speed_does_not_block_summaries() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut absurd = log(card("A", "B", "8GB"), &[20.0, 21.0]);
        for run in &mut absurd.runs {
            run.results[0].mb_s = 1.7e308;
        }
        import(&mut archive, "absurd.log", &absurd);
        import(&mut archive, "sound.log", &log(card("C", "D", "8GB"), &[20.0]));
        let rows = archive.summaries(|_| true).unwrap();
        assert_eq!(rows.len(), 3, "{rows:?}");
        assert!(rows.iter().all(|row| row.mean.is_finite() && row.mean < 100.0));
    });
}
