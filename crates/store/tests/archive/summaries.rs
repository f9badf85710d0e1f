//! Figures of own runs and logs, and their summaries.

use crate::engines::on_both;
use crate::logs::{card, card_of, import, log, run as log_run};
use crate::sessions::{self, report, results_of, run};
use cardscope_model::condition::ConditionOrigin;
use cardscope_store::{Archive, SessionEnd};

#[test]
fn own_runs_and_logs_share_one_card() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let own = archive.begin_session(&sessions::start()).unwrap();
        let id = card_of(&mut archive, own);
        for number in [1, 2, 3] {
            archive.begin_run(own, run(number)).unwrap();
            archive
                .finish_run(own, &results_of(number, &[("RND4K Q1T1 read", 8.0 + f64::from(number))]))
                .unwrap();
        }
        archive.begin_run(own, run(4)).unwrap();
        let facts = archive.find_cards(&id).unwrap().remove(0).facts;
        let other = import(&mut archive, "x.log", &log(facts, &[80.0]))[0];
        assert_eq!(card_of(&mut archive, other), id, "the same maker, model and capacity");

        let runs = archive.measurements(std::slice::from_ref(&id)).unwrap();
        assert_eq!(runs.len(), 4, "a run that did not finish has no figures");
        assert_eq!(
            [&runs[0].session, &runs[1].session],
            [&other.to_string(), &own.to_string()],
            "oldest first"
        );
        assert_eq!(runs[1].setting.recipe, "quick");
        assert_eq!((runs[1].run.counted, runs[2].run.counted), (false, true));
        let figure = &runs[2].run.results[0];
        assert_eq!((figure.mb_s, figure.iops, figure.latency_us), (10.0, Some(10.0e6 / 4096.0), Some(410.0)));

        let random = archive.summaries(|test| test.to_string() == "RND4K Q1T1 read").unwrap();
        let of_own = random.iter().find(|row| row.setting.recipe == "quick").unwrap();
        assert_eq!((of_own.n, of_own.mean, of_own.median), (2, 10.5, 10.5), "the first run is not counted");
        assert_eq!((of_own.best, of_own.worst, of_own.max_latency_us), (11.0, 10.0, Some(900.0)));
        assert_eq!(random.len(), 2);
        assert_eq!(archive.summaries(|_| true).unwrap().len(), 3);
        let sessions = archive.card_sessions(&id).unwrap();
        assert_eq!(sessions.iter().map(|s| s.id).collect::<Vec<_>>(), [other, own], "oldest first");
        let line = &archive.cards().unwrap()[0];
        assert_eq!((line.sessions, line.runs, line.units), (2, 4, 1));
    });
}

#[test]
fn condition_of_report_applies_to_runs() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let own = archive.begin_session(&sessions::start()).unwrap();
        archive.begin_run(own, run(2)).unwrap();
        let results = results_of(2, &[("SEQ1M Q1T1 write", 60.0)]);
        archive.finish_run(own, &results).unwrap();
        let mut report = report(own, vec![results]);
        report.header.condition.set("room_c", "24", ConditionOrigin::Stated);
        archive.finish(own, SessionEnd::Complete, &report).unwrap();
        let id = card_of(&mut archive, own);
        let measured = archive.measurements(&[id]).unwrap();
        assert_eq!(measured[0].setting.condition.get("room_c"), Some("24"));
        let summaries = archive.summaries(|_| true).unwrap();
        assert_eq!((summaries.len(), summaries[0].setting.condition.get("room_c")), (1, Some("24")));
    });
}

#[test]
fn summary_is_recomputed_after_new_runs() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let facts = card("Samsung", "EVO Plus", "128GB");
        let mut first = log(facts.clone(), &[90.0]);
        first.runs[0].results[1].step = Some("direct".into());
        import(&mut archive, "1", &first);
        let sequential = "SEQ1M Q8T1 read".parse().unwrap();
        let before = archive.summaries(|test| test == sequential).unwrap();
        assert_eq!((before.len(), before[0].n, before[0].sd), (1, 1, None));
        let mut second = log(facts, &[]);
        second.runs = vec![log_run(1, 100.0), log_run(2, 98.0)];
        second.date = Some("2024-06-01".into());
        import(&mut archive, "2", &second);
        // Another open archive sees the new summary as well.
        let mut neighbour = Archive::open(place).unwrap();
        for archive in [&mut archive, &mut neighbour] {
            let after = archive.summaries(|test| test == sequential).unwrap();
            assert_eq!((after.len(), after[0].n, after[0].last.as_deref()), (1, 3, Some("2024-06-01")));
            assert!((after[0].mean - 96.0 * 1.048576).abs() < 1e-9);
        }
        let steps: Vec<_> = archive.summaries(|_| true).unwrap().into_iter().map(|row| row.step).collect();
        assert_eq!(steps.iter().filter(|step| step.as_deref() == Some("direct")).count(), 1);
    });
}

#[test]
fn thousand_cards_are_summarized_in_batches() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let logs: Vec<_> =
            (0..1000).map(|n| log(card("Brand", &format!("Model {n}"), "64GB"), &[f64::from(n)])).collect();
        let names: Vec<_> = (0..1000).map(|n| n.to_string()).collect();
        let sources: Vec<_> =
            names.iter().zip(&logs).map(|(name, log)| crate::logs::source(name, log)).collect();
        archive.import(sources).unwrap();
        let rows = archive.summaries(|test| test.to_string() == "SEQ1M Q8T1 read").unwrap();
        assert_eq!(rows.len(), 1000);
        assert_eq!(archive.cards().unwrap().iter().map(|c| c.runs).sum::<u32>(), 1000);
        let everything: Vec<String> = archive.cards().unwrap().into_iter().map(|c| c.id).collect();
        assert_eq!(archive.measurements(&everything).unwrap().len(), 1000);
    });
}
