//! Real logs of benchmark tools: every file is read, and facts from the notes of the collection are confirmed.

#![allow(clippy::unwrap_used, reason = "what is missing or wrong here must fail loudly")]

use crate::data::data;
use cardscope_import::readers::read_logs;
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use std::path::PathBuf;

/// Logs in a folder of the real data, by file name; `None` without data.
fn folder(name: &str) -> Option<Vec<(String, Vec<CardLog>)>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(data()?.join(name)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let read_one = |path: PathBuf| {
        let logs = read_logs(&std::fs::read(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.file_name().unwrap().to_string_lossy().into_owned(), logs)
    };
    Some(paths.into_iter().map(read_one).collect())
}

fn named<'a>(files: &'a [(String, Vec<CardLog>)], part: &str) -> &'a CardLog {
    &files.iter().find(|(name, _)| name.contains(part)).unwrap_or_else(|| panic!("no file {part}")).1[0]
}

fn result<'a>(log: &'a CardLog, run: usize, name: &str) -> &'a TestFigure {
    let found = log.runs[run - 1].results.iter().find(|r| r.name().to_string() == name && r.step.is_none());
    found.unwrap_or_else(|| panic!("no {name} in run {run}"))
}

/// Printed number and IOPS.
fn printed(log: &CardLog, run: usize, name: &str) -> (f64, Option<f64>) {
    let result = result(log, run, name);
    (result.printed_or_speed().value, result.iops)
}

/// Asserts that speed and IOPS agree within `slack` bytes a second of rounding, one block, and half a percent.
fn agrees(logs: &[(String, Vec<CardLog>)], slack: f64) {
    for (file, result) in logs.iter().flat_map(|(file, logs)| {
        logs.iter().flat_map(|log| &log.runs).flat_map(|run| &run.results).map(move |result| (file, result))
    }) {
        let Some(iops) = result.iops else { continue };
        let block = result.test.block as f64;
        let (by_speed, by_iops) = (result.mb_s * 1e6, iops * block);
        let apart = (by_speed - by_iops).abs();
        assert!(apart <= slack + block + by_iops * 0.005, "{file} {}: {by_speed} {by_iops}", result.name());
    }
}

#[test]
fn cdm_fio_logs_have_all_runs_of_three_cards() {
    let Some(files) = folder("cdm_fio") else { return };
    assert!(files.iter().all(|(_, logs)| logs[0].format == "cdm_fio" && logs.len() == 1));
    let runs = |part| named(&files, part).runs.len();
    assert_eq!(
        [runs("SD71-active"), runs("SD71-passive"), runs("LX1TB71"), runs("ST25671"), runs("own-")],
        [10, 10, 10, 3, 1]
    );

    let adata = named(&files, "SD71-active");
    assert_eq!(printed(adata, 1, "SEQ1G Q1T1 read"), (750.0, None));
    assert_eq!(printed(adata, 7, "SEQ1G Q1T1 read").0, 676.0);
    assert_eq!(printed(adata, 10, "RND4K Q1T1 write").0, 88.0);
    let passive = named(&files, "SD71-passive");
    assert_eq!(printed(passive, 1, "SEQ32M Q32T1 read"), (777.0, Some(24.0)));
    assert_eq!(printed(passive, 10, "SEQ1G Q1T1 write").0, 193.0);
    let lexar = named(&files, "LX1TB71");
    assert_eq!(printed(lexar, 1, "RND4K Q8T8 write"), (418.0, Some(107_172.0)));
    assert_eq!(printed(lexar, 2, "SEQ1G Q1T1 read").0, 690.0);
    assert_eq!(result(lexar, 2, "SEQ1G Q1T1 read").mb_s, 690.0 * 1.048_576);
    agrees(&files, 1_048_576.0);
}

#[test]
fn cdm_fio_log_of_sandisk_has_three_runs_and_cooling() {
    let Some(files) = folder("cdm_fio") else { return };
    let card = named(&files, "ST25671");
    assert_eq!(printed(card, 1, "SEQ256M Q1T1 read"), (834.0, Some(3.0)));
    assert_eq!(printed(card, 1, "SEQ8M Q32T1 read"), (836.0, Some(104.0)));
    assert_eq!(printed(card, 2, "SEQ32M Q32T1 read"), (831.0, Some(25.0)));
    let sizes: Vec<_> = card.runs.iter().map(|run| run.size_bytes.unwrap() >> 20).collect();
    assert_eq!(sizes, [256, 1024, 1024]);
    let cooling: Vec<_> =
        card.runs.iter().map(|run| run.condition.as_ref().and_then(|said| said.get("cooling"))).collect();
    assert_eq!(cooling, [None, None, Some("active")]);
    let own = named(&files, "own-new");
    assert_eq!(own.runs[0].results.len(), 12);
    assert_eq!(printed(own, 1, "RND4K Q8T8 write"), (375.0, Some(96_084.0)));
}

#[test]
fn crystaldiskmark_reports_of_every_version_are_read() {
    let Some(files) = folder("crystaldiskmark") else { return };
    assert!(files.iter().all(|(_, logs)| logs[0].format == "crystaldiskmark" && logs.len() == 1));
    let old = named(&files, "3.0.1");
    assert_eq!(printed(old, 1, "SEQ1M Q1T1 read").0, 505.825);
    assert_eq!(printed(old, 1, "RND4K Q1T1 read"), (25.206, Some(6153.8)));
    assert_eq!((old.runs[0].loops, old.runs[0].size_bytes), (Some(5), Some(1000 << 20)));
    assert_eq!(printed(named(&files, "parity"), 1, "RND4K Q32T1 write"), (0.294, Some(71.8)));
    let bare = named(&files, "noheader");
    assert_eq!((bare.runs[0].loops, bare.runs[0].size_bytes), (Some(9), Some(50 << 20)));
    assert_eq!(printed(named(&files, "840evo"), 1, "SEQ128K Q32T1 read").0, 554.872);
    let two_kinds = named(&files, "5.2.0");
    assert_eq!(printed(two_kinds, 1, "SEQ128K Q32T1 read").0, 140.647);
    assert_eq!(printed(two_kinds, 1, "SEQ1M Q1T1 read").0, 156.034);
    let hdd = result(named(&files, "7.0.0"), 1, "RND4K Q32T16 read");
    assert_eq!(hdd.latency_us, Some(635_043.04));
    let uwp = named(&files, "uwp");
    assert_eq!(printed(uwp, 1, "SEQ1M Q8T1 read"), (543.188, Some(518.0)));
    assert_eq!(result(uwp, 1, "SEQ1M Q8T1 read").latency_us, Some(15407.04));
    let mix = named(&files, "nvme-mix");
    assert_eq!(printed(mix, 1, "RND4K Q32T16 read").1, Some(999_670.2));
    assert_eq!(printed(mix, 1, "SEQ128K Q32T1 mix70").0, 4117.665);
    assert_eq!(mix.runs[0].results.len(), 12);
    agrees(&files, 500.0);
}

#[test]
fn crystaldiskmark_report_of_a_microsd_has_date_and_fill_level() {
    let Some(files) = folder("crystaldiskmark") else { return };
    let card = named(&files, "samsung-evo-plus");
    assert_eq!(printed(card, 1, "SEQ128K Q32T1 read").0, 91.559);
    assert_eq!(printed(card, 1, "SEQ128K Q32T1 write").0, 85.101);
    assert_eq!(printed(card, 1, "RND4K Q8T8 write"), (3.173, Some(774.7)));
    assert_eq!(card.date.as_deref(), Some("2019-04-01T11:33:09"));
    assert_eq!(card.condition.get("full_percent"), Some("11.7"));
}

#[test]
fn kdiskmark_reports_agree_with_their_iops_in_kibibytes() {
    let Some(files) = folder("kdiskmark") else { return };
    let old = named(&files, "1.6.0");
    assert_eq!(printed(old, 1, "SEQ1M Q8T1 read"), (542.516, Some(529.8)));
    assert_eq!(result(old, 1, "SEQ1M Q8T1 read").mb_s, 542.516 * 1.024);
    assert_eq!((old.format.as_str(), old.doubts.len()), ("kdiskmark", 1));
    assert_eq!(named(&files, "3.0.0").doubts, Vec::<String>::new());
    agrees(&files, 500.0);
}

#[test]
fn fio_json_is_read_among_other_text() {
    let Some(files) = folder("fio-json") else { return };
    assert!(files.iter().all(|(_, logs)| logs[0].format == "fio-json" && logs.len() == 1));
    let suite = named(&files, "sdcard-suite");
    assert_eq!((suite.runs.len(), suite.runs[0].results.len()), (1, 6));
    assert_eq!(result(suite, 1, "SEQ1M Q8T1 read").mb_s, 1_869.989_611);
    let sum = result(named(&files, "q8t8-nogroup"), 1, "RND4K Q8T8 read");
    assert_eq!(sum.mb_s, 544.223_409);
    let mixed = named(&files, "mixed-70-30");
    assert_eq!(result(mixed, 1, "RND4K Q1T1 mix70").mb_s, 40.012_774 + 17.106_02);
    assert_eq!(mixed.runs[0].results.len(), 3);
    assert_eq!(result(named(&files, "jsonplus"), 1, "RND4K Q1T1 read").iops, Some(13_682.658_671));
    let capped = named(&files, "note-before");
    assert_eq!(result(capped, 1, "RND4K Q1T1 write").mb_s, 34.067_83);
    let old = result(named(&files, "2.2.10"), 1, "RND4K Q32T1 write");
    assert_eq!(
        (old.printed_or_speed().value, old.iops, old.latency_us),
        (62_499.0, Some(15_624.7), Some(8151.19))
    );
    agrees(&files, 1024.0);
}

#[test]
fn fio_json_agrees_with_the_cdm_fio_log_made_from_it() {
    let (Some(json), Some(text)) = (folder("fio-json"), folder("cdm_fio")) else { return };
    let (json, text) = (named(&json, "cdm-256M"), named(&text, "own-new"));
    assert_eq!(json.runs[0].results.len(), text.runs[0].results.len());
    for printed in &text.runs[0].results {
        let exact = result(json, 1, &printed.name().to_string());
        // The script cuts MiB/s to a whole number.
        let cut = (exact.mb_s / 1.048_576).floor();
        assert_eq!(cut, printed.printed_or_speed().value, "{}", printed.name());
    }
}

#[test]
fn fio_text_of_a_card_at_50_mhz_is_read() {
    let Some(files) = folder("fio-text") else { return };
    let read = result(named(&files, "50mhz-read"), 1, "SEQ1M Q1T8 read");
    assert_eq!((read.printed_or_speed().value, read.printed_or_speed().unit.as_str()), (22.5, "MiB/s"));
    assert!((read.mb_s - 23.6).abs() < 0.05);
    let write = result(named(&files, "50mhz-write"), 1, "SEQ1M Q1T8 write");
    assert_eq!((write.printed_or_speed().value, write.printed_or_speed().unit.as_str()), (8607.0, "KiB/s"));
    assert!((write.mb_s - 8.813).abs() < 0.001);
    assert_eq!(write.max_latency_us, Some(2_023_000.0));
    assert_eq!(write.percentiles_us.p99, Some(1_519_000.0));
    assert_eq!(printed(named(&files, "own-"), 1, "SEQ1M Q8T1 read"), (1965.0, Some(1964.0)));
}

/// Logs of one of the published reports next to the data; `None` without them.
fn seed(start: &str) -> Option<Vec<CardLog>> {
    let seeds = data()?.join("../seeds");
    let entries = std::fs::read_dir(seeds).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let path =
        paths.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))?;
    Some(read_logs(&std::fs::read(path).unwrap()).unwrap())
}

fn value_of(log: &CardLog, path: &[&str]) -> Option<f64> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(log.other.get(*first)?, |value, key| value.get(key))?.as_f64()
}

#[test]
fn chart_page_has_three_cards_under_five_conditions() {
    let Some(logs) = seed("000") else { return };
    let told: Vec<_> = logs
        .iter()
        .map(|log| {
            (log.card.model.as_deref().unwrap(), log.condition.get("cooling").unwrap(), log.runs.len())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("LX1TB71", "active", 10),
            ("LX1TB71", "passive", 10),
            ("SD71", "active", 10),
            ("SD71", "passive", 10),
            ("ST25671_WDC/SDSQXFN", "mixed, unknown", 2),
        ]
    );
    let lexar = &logs[0];
    assert_eq!((lexar.card.brand.as_deref(), lexar.card.name.as_deref()), (Some("Lexar"), Some("PLAY PRO")));
    assert_eq!(lexar.card.firmware.as_deref(), Some("X0705A"));
    assert_eq!(value_of(lexar, &["nvme", "tmt1_celsius"]), Some(81.0));
    assert!(lexar.condition.get("note").unwrap().starts_with("20°C idle, up to 41°C during test"));
    assert_eq!(lexar.condition.get("file_system"), Some("exFAT"));
    assert_eq!(printed(lexar, 1, "RND4K Q8T8 write").0, 534.0);
    assert_eq!(
        result(lexar, 10, "SEQ1G Q1T1 read").mb_s,
        cardscope_model::units::round_measured(737.0 * 1.048_576)
    );
    assert_eq!(lexar.runs[0].size_bytes, Some(1 << 30));
    assert_eq!(logs[4].card.firmware.as_deref(), Some("RO157S2P"));
}

#[test]
fn published_figures_follow_from_the_runs() {
    let Some(logs) = seed("000") else { return };
    for first in [0, 2, 4] {
        let log = &logs[first];
        for figure in &log.runs[0].results {
            let name = figure.name().to_string();
            let of_runs: Vec<f64> = (1..=log.runs.len()).map(|run| printed(log, run, &name).0).collect();
            let published = |heading| value_of(log, &["published", heading, "values", &name]).unwrap();
            let mean = of_runs.iter().sum::<f64>() / of_runs.len() as f64;
            assert_eq!(published("Comparison Of Averages"), mean.round_ties_even(), "{name}");
            assert_eq!(
                published("Comparison Of Worsts"),
                of_runs.iter().copied().fold(f64::MAX, f64::min),
                "{name}"
            );
            assert_eq!(
                published("Comparison Of Bests"),
                of_runs.iter().copied().fold(0.0, f64::max),
                "{name}"
            );
        }
    }
}

#[test]
fn chart_page_agrees_with_its_cdm_fio_logs() {
    let (Some(page), Some(files)) = (seed("000"), folder("cdm_fio")) else { return };
    for (part, log) in [(1, "LX1TB71-passive"), (2, "SD71-active"), (3, "SD71-passive")] {
        let (page, log) = (&page[part], named(&files, log));
        for (published, measured) in page.runs.iter().zip(&log.runs) {
            for figure in &published.results {
                let name = figure.name().to_string();
                assert_eq!(figure.mb_s, result(log, measured.run as usize, &name).mb_s, "{name}");
            }
        }
    }
}
