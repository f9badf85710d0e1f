//! Exact round trips of stored sessions.

use crate::engines::on_both;
use crate::sessions::{self, report, results, results_of, run, sample, start};
use crate::upgrading::{quoted, sql};
use cardscope_model::aggregate;
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::result::RunResult;
use cardscope_model::series::SeriesBucket;
use cardscope_model::session_file::SampleRecord;
use cardscope_store::{Archive, ArchiveError, SessionEnd};
use proptest::prelude::*;
use std::path::Path;

#[test]
fn session_round_trips_after_reopening() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = archive.begin_session(&start()).unwrap();
        for number in [1, 2] {
            archive.begin_run(session, run(number)).unwrap();
            (0..3).for_each(|i| archive.add_sample(session, number, &sample(i)).unwrap());
            archive.finish_run(session, &results(number)).unwrap();
        }
        let report = report(session, vec![results(1), results(2)]);
        archive.finish(session, SessionEnd::Complete, &report).unwrap();
        drop(archive);

        let stored = Archive::open(place).unwrap().session(session).unwrap();
        let (begun, file) = (start(), stored.file);
        let unit = file.specimen.unwrap();
        assert_eq!((&unit.id, &unit.model), begun.specimen.as_ref().map(|u| (&u.id, &u.model)).unwrap());
        assert_eq!((file.target, file.recipe, file.seed), (begun.target, begun.recipe, begun.seed));
        assert_eq!((file.condition, file.identity, file.host), (begun.condition, begun.identity, begun.host));
        assert_eq!((file.io_path, file.bus_ceiling_mb_s), (begun.io_path, begun.bus_ceiling_mb_s));
        // The origins of a condition are stored separately from the report.
        assert_eq!(
            serde_json::to_value(file.report.unwrap()).unwrap(),
            serde_json::to_value(&report).unwrap()
        );
        for (stored, begun) in file.runs.iter().zip([run(1), run(2)]) {
            let started = (stored.run, stored.seed.parse().unwrap(), stored.counted, stored.size_bytes);
            assert_eq!(started, (begun.run, begun.seed, begun.counted, begun.size_bytes));
        }
        assert_eq!(file.runs[1].samples, [sample(0), sample(1), sample(2)]);
        assert_eq!(file.runs[1].results, Some(results(2)));
        let line = stored.summary;
        assert_eq!(
            (line.runs, line.samples, line.ended, line.running),
            (2, 6, Some(SessionEnd::Complete), false)
        );
        assert_eq!(line.card.as_deref(), Some("SN32G"));
    });
}

/// Run whose results have the series of its loops.
fn run_with_a_course(number: u32, loops: &[SampleRecord]) -> RunResult {
    let mut run = results_of(number, &[("RND4K Q32T1 read", 9.0), ("SEQ1M Q1T1 read", 80.0)]);
    run.results[0].series = aggregate::join_series(loops.iter().map(|record| &record.sample));
    // No loop of this test is stored, so its series must stay in the results.
    run.results[1].series = [SeriesBucket { bytes: 7, ..SeriesBucket::default() }].into_iter().collect();
    run
}

#[test]
fn series_and_runs_are_stored_once_and_read_complete() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = archive.begin_session(&start()).unwrap();
        let loops: Vec<SampleRecord> = (0..3).map(sample).collect();
        let runs: Vec<RunResult> = (1..=2).map(|number| run_with_a_course(number, &loops)).collect();
        for whole in &runs {
            archive.begin_run(session, run(whole.run)).unwrap();
            loops.iter().for_each(|one| archive.add_sample(session, whole.run, one).unwrap());
            archive.finish_run(session, whole).unwrap();
        }
        archive.finish(session, SessionEnd::Complete, &report(session, runs.clone())).unwrap();
        let file = archive.export(session).unwrap();
        drop(archive);
        let whole = |place: &Path| {
            let stored = Archive::open(place).unwrap().session(session).unwrap().file;
            assert_eq!(stored.runs.iter().filter_map(|r| r.results.clone()).collect::<Vec<_>>(), runs);
            assert_eq!(stored.report.unwrap().body.runs, runs);
            assert_eq!(Archive::open(place).unwrap().export(session).unwrap().to_json(), file.to_json());
        };
        let times = |place: &Path| {
            let rows = "SELECT results FROM run UNION ALL SELECT document FROM session";
            let text = sql(place, rows.to_owned()).concat();
            (text.matches("at_s").count(), text.matches("RND4K Q32T1").count())
        };
        whole(place);
        assert_eq!(times(place), (2, 2), "series without loops, and each result in its run");
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere.sqlite");
        Archive::open(&elsewhere).unwrap().add_file(&file).unwrap();
        whole(&elsewhere);
        assert_eq!(times(&elsewhere), (2, 2));
        // Rows of an earlier version, with all copies.
        for (table, value, key) in [
            ("run", quoted(&runs[0]), "number = 1"),
            ("session", quoted(&report(session, runs.clone())), "TRUE"),
        ] {
            let column = if table == "run" { "results" } else { "document" };
            sql(place, format!("UPDATE {table} SET {column} = {value} WHERE {key}"));
        }
        assert!(times(place).0 > 2, "or this tests nothing");
        whole(place);
    });
}

#[test]
fn running_session_is_not_shown_as_interrupted() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = archive.begin_session(&start()).unwrap();
        archive.begin_run(session, run(1)).unwrap();
        archive.add_sample(session, 1, &sample(0)).unwrap();
        assert_eq!(sessions::interrupted(&mut archive), []);
        let stored = archive.session(session).unwrap();
        assert!(stored.summary.running && stored.file.report.is_none());
        assert_eq!(stored.partial_report().header.error.as_deref(), Some("it is still running"));
    });
}

#[test]
fn sessions_are_listed_oldest_first_and_share_card_and_recipe() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut unknown = start();
        unknown.specimen = None;
        let begun = [start(), unknown, start()].map(|s| archive.begin_session(&s).unwrap());
        let listed = archive.sessions().unwrap();
        assert_eq!(listed.iter().map(|s| s.id).collect::<Vec<_>>(), begun);
        assert_eq!(
            listed.iter().map(|s| s.card.as_deref()).collect::<Vec<_>>(),
            [Some("SN32G"), None, Some("SN32G")]
        );
    });
}

#[test]
fn missing_session_and_run_are_reported() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let nowhere = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let missing = ArchiveError::NoSuchSession("01890a5d-ac96-774b-bcce-b302099a8057".into());
        assert_eq!(archive.session(nowhere).unwrap_err(), missing);
        assert_eq!(archive.finish_run(nowhere, &results(1)).unwrap_err(), missing);
        assert!(archive.add_sample(nowhere, 1, &sample(0)).is_err());
        assert!("yesterday's".parse::<cardscope_store::SessionId>().is_err());
    });
}

prop_compose! {
    fn any_sample()(
        latencies in prop::collection::vec(0u64..1 << 42, 0..40),
        seconds in prop::collection::vec((any::<u32>(), 1u32..1 << 20, 0u64..1 << 50, 0.0..1e9f64, prop::option::of(-40.0..150.0f64)), 0..10),
        (ios, nanos, counted, end) in (0u64..1 << 50, 0u64..1 << 60, any::<bool>(), prop::option::of(-40.0..150.0f64)),
        (key, step) in (".{0,20}", prop::option::of(".{0,20}")),
    ) -> SampleRecord {
        let mut record = sessions::sample(0);
        let mut histogram = LatencyHistogram::default();
        latencies.iter().for_each(|l| histogram.record(*l));
        (record.test_key, record.step) = (key, step);
        (record.sample.ios, record.sample.nanos, record.sample.counted) = (ios, nanos, counted);
        record.sample.temperature_c.end = end;
        record.sample.histogram = histogram;
        record.sample.series = seconds
            .into_iter()
            .map(|(at_s, seconds, bytes, max_us, temperature_c)| SeriesBucket {
                at_s,
                seconds,
                bytes,
                ios,
                sum_us: ios,
                max_us,
                temperature_c,
            })
            .collect();
        record
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_samples_round_trip(samples in prop::collection::vec(any_sample(), 1..6)) {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let session = archive.begin_session(&start()).unwrap();
        archive.begin_run(session, run(1)).unwrap();
        samples.iter().for_each(|s| archive.add_sample(session, 1, s).unwrap());
        prop_assert_eq!(&archive.session(session).unwrap().file.runs[0].samples, &samples);
    }
}
