//! Removes values that no log can mean, since garbage has digits, too, and adds a doubt about them.
//!
//! The limits are far above any storage, a computer's memory included, and low enough for all sums and products of such
//! figures.

use crate::readers::RunBuilder;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::units::round_measured;
use std::collections::HashSet;

/// I/Os a second: the highest accepted speed, in blocks of a kilobyte.
const MOST_IOPS: f64 = 1e12;

/// Microseconds of an I/O: a year has 3.2e13.
const MOST_US: f64 = 1e14;

/// Bytes of a block, a file or a card: 1 PiB, eight times the limit of the SD standard (SDUC, 128 TiB).
const MOST_BYTES: u64 = 1 << 50;

/// I/Os in flight, and threads: more than any tool offers.
const MOST_AT_ONCE: u32 = 1 << 20;

/// Removes impossible values from a log, and makes each test unique in its run.
pub(crate) fn sanitize_log(log: &mut CardLog) {
    let mut impossible = 0;
    for run in &mut log.runs {
        let before = run.results.len();
        run.results.retain(is_possible);
        impossible += before - run.results.len();
        run.results.iter_mut().for_each(keep_possible_details);
        run.size_bytes = run.size_bytes.filter(|bytes| *bytes <= MOST_BYTES);
    }
    log.doubts.extend((impossible > 0).then(|| format!("left out {impossible} impossible results")));
    if log.card.capacity_bytes.is_some_and(|bytes| bytes > MOST_BYTES) {
        log.card.capacity_bytes = None;
        log.doubts.push("left out an impossible capacity".to_owned());
    }
    if !has_unique_tests(&log.runs) {
        log.runs = split_repeated_tests(std::mem::take(&mut log.runs));
    }
}

/// True for a possible speed of a possible test.
fn is_possible(figure: &TestFigure) -> bool {
    let test = figure.test;
    figure.is_speed()
        && (0.0..=f64::MAX).contains(&figure.printed_or_speed().value)
        && (1..=MOST_BYTES).contains(&test.block)
        && (1..=MOST_AT_ONCE).contains(&test.queue)
        && (1..=MOST_AT_ONCE).contains(&test.threads)
}

/// Removes impossible values next to a possible speed. They are not worth a doubt.
fn keep_possible_details(figure: &mut TestFigure) {
    figure.mb_s = round_measured(figure.mb_s);
    figure.iops = figure.iops.filter(|iops| (0.0..=MOST_IOPS).contains(iops));
    let latencies = [&mut figure.latency_us, &mut figure.max_latency_us];
    for us in latencies.into_iter().chain(figure.percentiles_us.all_mut()) {
        *us = us.filter(|us| (0.0..=MOST_US).contains(us));
    }
}

/// True if runs have rising numbers and each test once.
fn has_unique_tests(runs: &[Run]) -> bool {
    let rising = runs.windows(2).all(|pair| pair[0].run < pair[1].run);
    let once = |run: &Run| {
        let mut seen = HashSet::new();
        run.results.iter().all(|figure| seen.insert((figure.name(), &figure.step)))
    };
    rising && runs.first().is_none_or(|run| run.run > 0) && runs.iter().all(once)
}

/// Splits runs so that a repeated test begins the next run, as in [`RunBuilder`].
fn split_repeated_tests(runs: Vec<Run>) -> Vec<Run> {
    let mut all = RunBuilder::default();
    for mut run in runs {
        let results = std::mem::take(&mut run.results);
        all.begin_run(run);
        results.into_iter().for_each(|figure| all.add_figure(figure));
    }
    all.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::printed_figure;

    fn log(runs: &[(u32, &[f64])]) -> CardLog {
        let mut log = CardLog::new("test");
        let read = "RND4K Q1T1 read".parse().unwrap();
        log.runs = runs
            .iter()
            .map(|(run, speeds)| Run {
                run: *run,
                results: speeds.iter().map(|mb_s| printed_figure(read, *mb_s, "MB/s", 1.0)).collect(),
                ..Run::default()
            })
            .collect();
        log
    }

    fn counts(log: &CardLog) -> Vec<(u32, usize)> {
        log.runs.iter().map(|run| (run.run, run.results.len())).collect()
    }

    #[test]
    fn impossible_speeds_and_capacity_are_removed() {
        let mut log = log(&[(1, &[20.0]), (2, &[1e20]), (3, &[f64::INFINITY])]);
        log.card.capacity_bytes = Some(u64::MAX);
        sanitize_log(&mut log);
        assert_eq!((counts(&log), log.card.capacity_bytes), (vec![(1, 1), (2, 0), (3, 0)], None));
        assert!(log.doubts[0].starts_with("left out 2 impossible"), "{:?}", log.doubts);
    }

    #[test]
    fn impossible_latency_does_not_remove_the_speed() {
        let mut log = log(&[(1, &[20.0])]);
        let figure = &mut log.runs[0].results[0];
        (figure.iops, figure.latency_us, figure.max_latency_us) = (Some(f64::NAN), Some(-1.0), Some(900.0));
        sanitize_log(&mut log);
        let figure = &log.runs[0].results[0];
        assert_eq!((figure.iops, figure.latency_us, figure.max_latency_us), (None, None, Some(900.0)));
        assert_eq!(log.doubts, Vec::<String>::new());
    }

    #[test]
    fn repeated_test_is_split_into_two_runs() {
        let mut log = log(&[(1, &[20.0, 21.0]), (1, &[22.0])]);
        sanitize_log(&mut log);
        assert_eq!(counts(&log), [(1, 1), (2, 1), (3, 1)]);
    }

    #[test]
    fn valid_run_numbers_are_kept() {
        let mut log = log(&[(2, &[20.0]), (5, &[21.0])]);
        let before = log.clone();
        sanitize_log(&mut log);
        assert_eq!(log, before);
    }

    #[test]
    fn test_of_zero_bytes_is_removed() {
        let mut log = log(&[(1, &[20.0])]);
        log.runs[0].results[0].test.block = 0;
        sanitize_log(&mut log);
        assert_eq!(counts(&log), [(1, 0)]);
    }
}
