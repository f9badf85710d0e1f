//! Own documents in the layouts of fio 2 and 3, alone, among other output, added up, and broken.

use super::*;
use cardscope_model::log::LogFigure;
use proptest::prelude::*;

/// A direction as fio 3 prints it: `bw` is `bw_bytes` in KiB, cut.
fn moved(bytes_s: u64, iops: f64) -> String {
    format!(
        r#"{{"io_bytes": {bytes_s}, "io_kbytes": {}, "bw_bytes": {bytes_s}, "bw": {}, "iops": {iops},
        "clat_ns": {{"min": 900, "max": 7000000, "mean": 250500.5, "percentile": {{"99.000000": 1}}, "bins": {{"1": 2}}}},
        "lat_ns": {{"max": 9000000, "mean": 300000}}}}"#,
        bytes_s / 1024,
        bytes_s / 1024
    )
}

const STILL: &str =
    r#"{"io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "clat_ns": {"max": 0, "mean": 0.0}}"#;

fn job(name: &str, options: &str, read: &str, write: &str) -> String {
    format!(
        r#"{{"jobname": "{name}", "groupid": 0, "error": 0, "job options": {{{options}}},
        "read": {read}, "write": {write}, "trim": {STILL}, "latency_depth": 4}}"#
    )
}

fn document(jobs: &[String]) -> String {
    format!(
        r#"{{"fio version": "fio-3.36", "timestamp": 1700000000, "time": "Tue Nov 14 22:13:20 2023",
        "global options": {{"direct": "1", "ioengine": "libaio", "size": "64M"}}, "jobs": [{}],
        "disk_util": [{{"name": "mmcblk0", "util": 99.0}}]}}"#,
        jobs.join(",")
    )
}

fn log(text: &str) -> Log {
    read(&Text::of(text)).unwrap().remove(0)
}

fn results(text: &str) -> Vec<LogFigure> {
    log(text).runs.remove(0).results
}

#[test]
fn a_job_is_named_by_its_options_and_its_bytes_are_exact() {
    let text = document(&[job(
        "a",
        r#""rw": "randread", "bs": "4k", "iodepth": "32""#,
        &moved(8_193_000, 2000.2),
        STILL,
    )]);
    let log = log(&text);
    let result = &log.runs[0].results[0];
    assert_eq!(result.name().to_string(), "RND4K Q32T1 read");
    assert_eq!((result.mb_s, result.iops, result.as_printed.value), (8.193, Some(2000.2), 8000.0));
    assert_eq!((result.latency_us, result.max_latency_us), (Some(250.500_5), Some(7000.0)));
    assert_eq!((log.runs[0].size_bytes, log.date.as_deref()), (Some(64 << 20), Some("2023-11-14T22:13:20")));
    assert_eq!(log.condition.get("note"), Some("disk mmcblk0"));
    assert_eq!(log.tool.unwrap().version.as_deref(), Some("3.36"));
    assert_eq!(log.doubts, Vec::<String>::new());
}

#[test]
fn jobs_of_one_name_are_one_result_which_is_their_sum() {
    let one = job(
        "q8t2",
        r#""rw": "randwrite", "bs": "4k", "iodepth": "8", "numjobs": "2""#,
        STILL,
        &moved(1_024_000, 250.0),
    );
    let results = results(&document(&[one.clone(), one]));
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].name().to_string(), "RND4K Q8T2 write");
    assert_eq!((results[0].mb_s, results[0].iops), (2.048, Some(500.0)));
}

#[test]
fn a_job_that_reads_and_writes_is_a_mix_with_its_parts() {
    let mix = job(
        "m",
        r#""rw": "randrw", "rwmixread": "70", "bs": "4k""#,
        &moved(7_168_000, 1750.0),
        &moved(3_072_000, 750.0),
    );
    let results = results(&document(&[mix]));
    let told: Vec<_> = results.iter().map(|r| (r.name().to_string(), r.step.as_deref(), r.mb_s)).collect();
    assert_eq!(
        told,
        [
            ("RND4K Q1T1 mix70".to_owned(), None, 10.24),
            ("RND4K Q1T1 read".to_owned(), Some("part of mix70"), 7.168),
            ("RND4K Q1T1 write".to_owned(), Some("part of mix70"), 3.072),
        ]
    );
}

#[test]
fn different_jobs_of_the_same_test_are_told_apart_by_name() {
    let read = |name| job(name, r#""rw": "read", "bs": "1M""#, &moved(20_971_520, 20.0), STILL);
    let full = read("full").replace(r#""groupid": 0"#, r#""groupid": 1"#);
    let results = results(&document(&[read("fresh"), full]));
    assert_eq!(results.iter().map(|r| r.step.as_deref()).collect::<Vec<_>>(), [Some("fresh"), Some("full")]);
}

#[test]
fn the_cards_of_two_computers_are_two_and_each_has_its_own_options() {
    let of = |host: &str, mb_s: u64| {
        let job = job("j", "", &moved(mb_s * 1_048_576, mb_s as f64), STILL);
        job.replacen('{', &format!(r#"{{"hostname": "{host}","#), 1)
    };
    let options = |host: &str, depth: u32| {
        format!(
            r#"{{"hostname": "{host}", "rw": "read", "bs": "1M", "ioengine": "libaio", "iodepth": "{depth}", "direct": "1"}}"#
        )
    };
    let text = format!(
        r#"{{"fio version": "fio-3.36", "global options": [{}, {}], "client_stats": [{}, {}]}}"#,
        options("pi1", 8),
        options("pi2", 2),
        of("pi1", 40),
        of("pi2", 20)
    );
    let logs = read(&Text::of(&text)).unwrap();
    let told: Vec<_> = logs
        .iter()
        .map(|log| {
            (log.part.as_deref(), log.runs[0].results[0].name().to_string(), log.runs[0].results[0].iops)
        })
        .collect();
    assert_eq!(
        told,
        [
            (Some("pi1"), "SEQ1M Q8T1 read".to_owned(), Some(40.0)),
            (Some("pi2"), "SEQ1M Q2T1 read".to_owned(), Some(20.0))
        ]
    );
    assert!(logs.iter().all(|log| log.doubts.is_empty()), "{:?}", logs[0].doubts);
}

#[test]
fn a_card_tested_by_fio_2_is_read_in_kibibytes_and_microseconds() {
    let text = r#"{"fio version": "fio-2.1.11", "jobs": [{"jobname": "randw", "groupid": 0, "error": 0,
        "read": {"io_bytes": 0, "bw": 0, "iops": 0.0},
        "write": {"io_bytes": 80000, "bw": 800, "iops": 200.0, "clat": {"max": 90000, "mean": 4990.5,
            "percentile": {"0.00": 0, "0.00": 0}}, "bw_dev": -nan},
        "latency_depth": 16}]}"#;
    let result = results(text).remove(0);
    assert_eq!(result.name().to_string(), "RND4K Q16T1 write");
    assert_eq!(
        (result.mb_s, result.latency_us, result.max_latency_us),
        (0.8192, Some(4990.5), Some(90_000.0))
    );
}

#[test]
fn notes_prompts_and_other_json_around_the_documents_do_not_matter() {
    let one =
        |name: &str| document(&[job(name, r#""rw": "read", "bs": "1M""#, &moved(20_971_520, 20.0), STILL)]);
    let text =
        format!("note: both ${{X}} {{\n$ fio\n{}\n{{\"blockdevices\": []}}\n$ fio\n{}\n", one("a"), one("a"));
    assert_eq!(log(&text).runs.iter().map(|run| run.run).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn documents_of_different_tests_make_one_run() {
    let one = |rw: &str| {
        document(&[job("j", &format!(r#""rw": "{rw}", "bs": "1M""#), &moved(20_971_520, 20.0), STILL)])
    };
    let log = log(&format!("{}\n{}", one("read"), one("randread")));
    assert_eq!((log.runs.len(), log.runs[0].results.len()), (1, 2));
}

#[test]
fn a_document_that_is_cut_off_is_an_error_that_says_so() {
    let text = document(&[job("a", r#""rw": "read", "bs": "1M""#, &moved(20_971_520, 20.0), STILL)]);
    for end in (text.find("\"jobname\"").unwrap()..text.len() - 1).step_by(7) {
        let error = read(&Text::of(&text[..end])).unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
    }
    let both = format!("{text}\n{}", &text[..100]);
    assert!(log(&both).doubts[0].contains("cut off"));
}

#[test]
fn jobs_that_failed_used_the_cache_or_could_not_queue_are_doubted() {
    let failed = job("a", r#""rw": "read", "bs": "1M""#, &moved(20_971_520, 20.0), STILL)
        .replace("\"error\": 0", "\"error\": 5");
    let text = document(&[failed]).replace(r#""direct": "1""#, r#""direct": "0""#);
    assert_eq!(log(&text).doubts.len(), 2);
    let capped = job(
        "b",
        r#""rw": "read", "bs": "1M", "iodepth": "8", "ioengine": "psync""#,
        &moved(20_971_520, 20.0),
        STILL,
    );
    let log = log(&document(&[capped]));
    assert_eq!(
        (log.runs[0].results[0].name().to_string().as_str(), log.doubts.len()),
        ("SEQ1M Q1T1 read", 1)
    );
}

#[test]
fn the_job_that_fills_the_file_is_no_result() {
    let fill = job("Bufread", r#""rw": "readwrite", "bs": "64M""#, &moved(20_971_520, 1.0), STILL);
    let error = read(&Text::of(&document(&[fill]))).unwrap_err().to_string();
    assert!(error.contains("only fills"), "{error}");
}

proptest! {
    #[test]
    fn figures_come_back_and_agree_with_their_iops(bytes_s in 4096_u64..4_000_000_000) {
        let iops = bytes_s as f64 / 4096.0;
        let text = document(&[job("a", r#""rw": "randwrite", "bs": "4k""#, STILL, &moved(bytes_s, iops))]);
        let result = results(&text).remove(0);
        prop_assert_eq!(result.mb_s, bytes_s as f64 / 1e6);
        prop_assert!((result.mb_s * 1e6 - result.iops.unwrap() * 4096.0).abs() < 1.0);
    }
}
