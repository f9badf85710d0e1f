//! Own documents in the layouts of fio 2 and 3, alone, among other output, added up, and broken.

use super::*;
use cardscope_model::run::Figure;
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

fn results(text: &str) -> Vec<Figure> {
    log(text).runs.remove(0).results
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
