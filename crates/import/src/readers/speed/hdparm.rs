//! `hdparm -t` and `-T`, with and without `--direct`.
//!
//! hdparm.c prints MB for 2^20 bytes, and kB/sec below one of these. `-T` reads from the page cache, with `--direct` from
//! caches of the card or its bus, so neither is a speed of the card.

use crate::readers::error::ReaderOutcome;
use crate::readers::notes::new_log;
use crate::readers::numbers::{PrintedAmount, binary_mb_s, parse_amount, sequential_test, step_figure};
use crate::readers::split_reports;
use crate::readers::text::LogText;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestOp;
use cardscope_model::units::MIB;
use serde_json::json;

/// Bytes of one read of hdparm (TIMING_BUF_MB).
const READ_BLOCK: u64 = 2 * MIB;

/// A result line of hdparm.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HdparmTiming<'a> {
    cached: bool,
    direct: bool,
    speed: PrintedAmount<'a>,
    mb_s: f64,
}

pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| parse_timing(line).is_some())
}

/// Reads the text; every timed read is a run, every disk a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    split_reports::read_by_device(text, |line| parse_device(line).map(whole_disk), read_disk)
}

fn read_disk(text: &LogText) -> ReaderOutcome {
    let mut log = new_log("hdparm", None);
    let runs = (1..).zip(timed_reads(text));
    log.runs = runs.map(|(run, figure)| Run { run, results: vec![figure], ..Run::default() }).collect();
    add_cached_reads(text, &mut log);
    Ok(vec![log])
}

/// Timed reads of the card itself.
pub(crate) fn timed_reads(text: &LogText) -> Vec<TestFigure> {
    text.lines()
        .filter_map(parse_timing)
        .filter(|timing| !timing.cached)
        .map(|timing| to_figure(&timing))
        .collect()
}

/// Adds cached reads, which are no speed of the card, and the devices.
pub(crate) fn add_cached_reads(text: &LogText, log: &mut CardLog) {
    let cached: Vec<_> = text
        .lines()
        .filter_map(parse_timing)
        .filter(|timing| timing.cached)
        .map(|t| json!({"direct": t.direct, "mb_s": t.mb_s * t.speed.value, "as_printed": {"value": t.speed.value, "unit": t.speed.unit}}))
        .collect();
    if !cached.is_empty() {
        log.other.insert("hdparm".into(), json!({ "cached_reads": cached, "devices": device_names(text) }));
    }
}

fn to_figure(timing: &HdparmTiming<'_>) -> TestFigure {
    let name = if timing.direct { "hdparm -t --direct" } else { "hdparm -t" };
    step_figure(name, sequential_test(READ_BLOCK, TestOp::Read), timing.speed, timing.mb_s)
}

fn parse_timing(line: &str) -> Option<HdparmTiming<'_>> {
    let (what, rest) = line.trim().strip_prefix("Timing ")?.split_once("reads:")?;
    let (_, printed) = rest.split_once('=')?;
    let speed = parse_amount(printed).filter(|speed| speed.unit.ends_with("/sec"))?;
    Some(HdparmTiming {
        cached: what.contains("cached"),
        direct: what.contains("O_DIRECT"),
        speed,
        mb_s: binary_mb_s(speed.unit)?,
    })
}

fn device_names<'a>(text: &'a LogText<'_>) -> Vec<&'a str> {
    let mut devices: Vec<&str> = text.lines().filter_map(parse_device).collect();
    devices.dedup();
    devices
}

/// Device in a heading such as `/dev/mmcblk0:`.
fn parse_device(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|name| name.starts_with("/dev/") && !name.contains(' '))
}

/// Disk of a partition: `/dev/mmcblk0` of `/dev/mmcblk0p1`, `/dev/sda` of `/dev/sda1`.
fn whole_disk(name: &str) -> &str {
    let without = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = ["mmcblk", "nvme", "loop", "nbd"].iter().any(|kind| name.contains(kind));
    match without.strip_suffix('p') {
        Some(disk) if numbered && disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ if numbered => name,
        _ => without,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_line_is_ignored() {
        let whole = " Timing buffered disk reads:  66 MB in  3.03 seconds =  21.75 MB/sec";
        for cut in 1..whole.len() {
            assert!(!recognise(&LogText::from_decoded(&whole[..cut])), "{}", &whole[..cut]);
        }
        assert!(recognise(&LogText::from_decoded(whole)));
    }
}
