//! Reads the files of the corpus as they are, whole and truncated.

use super::{Example, check, corpus, fuzz, names};
use cardscope_import::readers::{ImportError, LogText, formats, invariants, read_logs};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use std::time::Duration;

/// Bytes of a long log.
const LONG: usize = 256 << 10;

/// Time for such a log: a hundred times that of a reader with a few passes. Quadratic time would take minutes.
const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// Number of positions at which a file is truncated.
const CUTS: usize = 24;

#[test]
fn corpus_folders_match_the_formats() {
    let mut wanted: Vec<String> = formats().iter().map(|format| format.name.to_owned()).collect();
    wanted.sort();
    assert_eq!(names(&fuzz().join("corpus")), wanted);
}

#[test]
fn every_undamaged_file_is_read_as_its_format() {
    for example in corpus().iter().filter(|example| !example.is_damaged()) {
        let logs = read_logs(&example.bytes).unwrap_or_else(|error| panic!("{}: {error}", example.place()));
        let formats: Vec<&str> = logs.iter().map(|log| log.format.as_str()).collect();
        assert!(formats.iter().all(|name| *name == example.format.name), "{}: {formats:?}", example.place());
    }
}

#[test]
fn every_format_has_an_undamaged_small_file() {
    for format in formats() {
        let of_it = |example: &&Example| example.format.name == format.name;
        let all = corpus();
        assert!(all.iter().filter(of_it).any(|example| !example.is_damaged()), "{}", format.name);
    }
    for example in corpus() {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        assert!(example.name.chars().all(plain) && example.name.len() < 60, "{}", example.place());
        assert!(example.bytes.len() < 16 << 10, "{} is no small file", example.place());
    }
}

#[test]
fn every_reader_keeps_the_invariants_for_every_file() {
    for example in corpus() {
        let text = LogText::decode(&example.bytes);
        formats().iter().for_each(|format| invariants::check_text(format, &text));
        invariants::check_recognised(&example.bytes);
    }
}

#[test]
fn reading_is_deterministic() {
    for example in corpus() {
        assert_eq!(read_logs(&example.bytes), read_logs(&example.bytes), "{}", example.place());
    }
}

#[test]
fn truncated_files_keep_the_invariants() {
    for example in corpus() {
        let length = example.bytes.len();
        let lines =
            example.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let spread = (0..CUTS).map(|cut| (cut * length / CUTS + cut % 7).min(length));
        for end in lines.chain(spread) {
            check(example.format, &example.bytes[..end]);
        }
    }
}

/// Bytes according to speed and to IOPS, and their permitted difference: both are rounded, and the last I/O may be partial.
fn moved(format: &str, figure: &TestFigure) -> Option<(f64, f64, f64)> {
    let block = figure.test.block as f64;
    let by_iops = figure.iops? * block;
    // cdm_fio.sh cuts its speed to whole MiB/s.
    let cut = if format == "cdm_fio" { 1_048_576.0 } else { 0.0 };
    Some((figure.mb_s * 1e6, by_iops, block + cut + by_iops * 0.005))
}

#[test]
fn speed_and_iops_of_a_figure_agree() {
    let mut compared = 0;
    for example in corpus().iter().filter(|example| !example.is_damaged()) {
        let logs = read_logs(&example.bytes).expect("it is read elsewhere");
        for figure in logs.iter().flat_map(|log| &log.runs).flat_map(|run| &run.results) {
            let Some((by_speed, by_iops, most)) = moved(example.format.name, figure) else { continue };
            assert!((by_speed - by_iops).abs() <= most, "{}: {figure:?}", example.place());
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} figures have both");
}

/// File repeated up to a length in bytes.
fn repeated(example: &Example, bytes: usize) -> Vec<u8> {
    example.bytes.iter().copied().cycle().take(bytes).collect()
}

/// Processor time of this thread, which does not depend on other load.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a time since the thread began")
}

fn in_time(
    what: &str,
    bytes: &[u8],
    read: impl FnOnce(&LogText) -> Result<Vec<CardLog>, ImportError>,
) -> Vec<CardLog> {
    let start = worked();
    let logs = read(&LogText::decode(bytes)).unwrap_or_default();
    let taken = worked() - start;
    assert!(taken < LONG_ENOUGH, "{what}: {taken:?} for {} bytes", bytes.len());
    logs
}

#[test]
fn reading_time_is_linear_in_length() {
    for example in corpus() {
        let bytes = repeated(&example, LONG);
        in_time(&example.place(), &bytes, |_| read_logs(&bytes));
    }
}

#[test]
fn many_lines_take_linear_time_and_few_doubts() {
    let lines = |format: &str, line: fn(u32) -> String| {
        let text: String = (1..60_000).map(line).collect();
        let format = formats().iter().find(|known| known.name == format).expect("a format");
        in_time(format.name, text.as_bytes(), |text| format.read(text))
    };
    lines("flashbench", |n| format!("  Cluster {n} out of range (268435455 > 30797). Setting to EOF.\n"));
    let headings = lines("flashbench", |n| format!("==== Linear read speed (hdparm) {n} ====\n"));
    let doubt = &headings[0].doubts[0];
    assert!(doubt.ends_with("(hdparm) 3; and 59996 more"), "{doubt}");
    let copies =
        lines("pibenchmarks", |n| format!("{n} bytes copied, 1.0 s, {n} B/s\nDD   Disk Write   5.5 MB/s\n"));
    assert_eq!(copies[0].runs.len(), 59_999);
    let jobs = lines("fio-text", |n| {
        format!("j{n}: (groupid={n}, jobs=1): err= 5: pid=1\n  read: IOPS=10, BW=40KiB/s\n")
    });
    let doubts = &jobs[0].doubts;
    assert_eq!((doubts.len(), doubts[50].as_str()), (51, "more jobs with such caveats"));
}
