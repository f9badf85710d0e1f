//! Invariants of the logs of every reader, whatever the input. Used by fuzzing and by the tests of the corpus.

use crate::readers::formats::{LogFormat, formats};
use crate::readers::{ImportError, LogText, several_tools};
use cardscope_model::log::CardLog;
use cardscope_model::run::{LatencyPercentiles, Run, TestFigure};
use jiff::civil::{Date, DateTime};
use std::collections::HashSet;

/// Most bytes of JSON for each byte of text: a line of twenty bytes may become a run with its heading, size and condition.
const MOST_JSON_PER_BYTE: usize = 200;

/// Bytes of JSON that any log may have in addition.
const MOST_EXTRA_JSON: usize = 20_000;

/// Most bytes of a doubt, which may quote three parts of the text.
const MOST_DOUBT_BYTES: usize = 700;

/// Passes bytes to the reader of a format, also if it would not recognise them. `fuzz/` names the format in its environment.
///
/// # Panics
/// If the format is unknown, or a log breaks an invariant.
pub fn check_format(format: &str, bytes: &[u8]) {
    let format = formats().iter().find(|f| f.name == format).expect("the target is named as its format");
    check_text(format, &LogText::decode(bytes));
}

/// Same as [`check_format`], for decoded text.
pub fn check_text(format: &LogFormat, text: &LogText) {
    let _ = (format.recognise)(text);
    check_outcome(&format.read_plausible(text), text);
}

/// Passes bytes to the readers that recognise them.
///
/// # Panics
/// If a log breaks an invariant.
pub fn check_recognised(bytes: &[u8]) {
    let text = LogText::decode(bytes);
    check_outcome(&several_tools::logs_in_text(&text), &text);
}

fn check_outcome(outcome: &Result<Vec<CardLog>, ImportError>, text: &LogText) {
    match outcome {
        Ok(logs) => {
            let json: usize = logs.iter().map(check_log).sum();
            let most = MOST_JSON_PER_BYTE * text.body().len() + MOST_EXTRA_JSON;
            assert!(!logs.is_empty() && json <= most, "{} logs of {json} bytes, at most {most}", logs.len());
        }
        Err(ImportError::Empty { why, .. } | ImportError::Unknown(why)) => {
            assert!(!why.is_empty(), "a refusal says why");
        }
    }
}

/// Checks a log and returns its bytes in JSON.
fn check_log(log: &CardLog) -> usize {
    assert!(!log.is_empty(), "a log says something");
    assert!(formats().iter().any(|format| format.name == log.format), "{}", log.format);
    assert!(log.date.as_deref().is_none_or(is_date), "{:?}", log.date);
    let is_short = |doubt: &String| !doubt.trim().is_empty() && doubt.len() <= MOST_DOUBT_BYTES;
    assert!(log.doubts.iter().all(is_short), "{:?}", log.doubts);
    let prices = log.events.iter().filter_map(|event| event.price.as_ref());
    assert!(prices.map(|price| price.amount).all(is_amount), "{:?}", log.events);
    assert!(log.runs.windows(2).all(|pair| pair[0].run < pair[1].run), "runs are counted upwards");
    log.runs.iter().for_each(check_run);
    let json = serde_json::to_string(log).expect("a log is JSON");
    let back: CardLog = serde_json::from_str(&json).expect("a log comes back");
    // The origin of a condition is not in the JSON, so texts are compared instead of logs.
    assert_eq!(serde_json::to_string(&back).expect("as before"), json, "nothing is lost on the way");
    json.len()
}

fn check_run(run: &Run) {
    assert!(run.run > 0, "runs count from 1");
    let mut seen = HashSet::new();
    for figure in &run.results {
        assert!(seen.insert((figure.name(), &figure.step)), "a test comes once in a run: {figure:?}");
        check_figure(figure);
    }
}

fn check_figure(figure: &TestFigure) {
    assert!(is_amount(figure.mb_s) && is_amount(figure.printed_or_speed().value), "{figure:?}");
    let LatencyPercentiles { p50, p99, p999 } = figure.percentiles_us;
    let beside = [figure.iops, figure.latency_us, figure.max_latency_us, p50, p99, p999];
    assert!(beside.into_iter().flatten().all(is_amount), "{figure:?}");
    assert!(figure.test.block > 0 && figure.test.queue > 0 && figure.test.threads > 0, "{figure:?}");
}

fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// True for `YYYY-MM-DD`, also followed by `Thh:mm:ss`.
fn is_date(text: &str) -> bool {
    let same = |read: String| read == text;
    text.parse::<Date>().is_ok_and(|day| same(day.to_string()))
        || text.parse::<DateTime>().is_ok_and(|at| same(at.to_string()) && text.len() > "0000-00-00".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_is_a_day_with_or_without_a_time() {
        for (text, is) in [
            ("2024-02-03", true),
            ("2024-02-03T04:05:06", true),
            ("2024-02-31", false),
            ("2024-02", false),
            ("2024-02-03T04:05", false),
            ("2024/02/03", false),
        ] {
            assert_eq!(is_date(text), is, "{text}");
        }
    }

    fn report(text: &str) -> CardLog {
        let format = formats().iter().find(|format| format.name == "crystaldiskmark").unwrap();
        format.read_plausible(&LogText::from_decoded(text)).unwrap().remove(0)
    }

    #[test]
    #[should_panic(expected = "a test comes once in a run")]
    fn repeated_test_in_a_run_breaks_an_invariant() {
        let mut log = report("Sequential Read : 20.0 MB/s\nSequential Write : 9.0 MB/s\n");
        let first = log.runs[0].results[0].clone();
        log.runs[0].results.push(first);
        check_log(&log);
    }

    #[test]
    #[should_panic(expected = "inf")]
    fn infinite_speed_breaks_an_invariant() {
        let mut log = report("Sequential Read : 20.0 MB/s\n");
        log.runs[0].results[0].mb_s = f64::INFINITY;
        check_log(&log);
    }
}
