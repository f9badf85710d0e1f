//! `hdparm -t` and `-T`, with and without `--direct`.
//!
//! hdparm.c prints MB for 2^20 bytes, and kB/sec below one of these. `-T` reads from the page cache, with `--direct` from
//! caches of the card or its bus, so neither is a speed of the card.

use crate::readers::{
    LogText, PrintedAmount, ReaderOutcome, RunBuilder, add_other, binary_mb_s, new_log, parse_amount,
    read_by_device, sequential_test, step_figure,
};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
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
    read_by_device(text, |line| parse_device(line).map(whole_disk), read_disk)
}

fn read_disk(text: &LogText) -> ReaderOutcome {
    let mut log = new_log("hdparm", None);
    log.runs = RunBuilder::separate_figures(timed_reads(text.lines()).into_iter());
    add_cached_reads(text, &mut log);
    Ok(vec![log])
}

/// Timed reads of the card itself.
pub(crate) fn timed_reads<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<TestFigure> {
    let figure = |timing: HdparmTiming<'_>| {
        let name = if timing.direct { "hdparm -t --direct" } else { "hdparm -t" };
        step_figure(name, sequential_test(READ_BLOCK, TestOp::Read), timing.speed, timing.mb_s)
    };
    lines.filter_map(parse_timing).filter(|timing| !timing.cached).map(figure).collect()
}

/// Adds cached reads, which are no speed of the card, and the devices.
pub(crate) fn add_cached_reads(text: &LogText, log: &mut CardLog) {
    let read = |HdparmTiming { direct, speed: PrintedAmount { value, unit }, mb_s, .. }| json!({"direct": direct, "mb_s": mb_s * value, "as_printed": {"value": value, "unit": unit}});
    let cached = text.lines().filter_map(parse_timing).filter(|timing| timing.cached);
    let cached: Vec<_> = cached.map(read).collect();
    if !cached.is_empty() {
        let mut devices: Vec<&str> = text.lines().filter_map(parse_device).collect();
        devices.dedup();
        add_other(log, "hdparm", json!({ "cached_reads": cached, "devices": devices }));
    }
}

fn parse_timing(line: &str) -> Option<HdparmTiming<'_>> {
    let (what, rest) = line.trim().strip_prefix("Timing ")?.split_once("reads:")?;
    let (_, printed) = rest.split_once('=')?;
    let speed = parse_amount(printed).filter(|speed| speed.unit.ends_with("/sec"))?;
    let (cached, direct) = (what.contains("cached"), what.contains("O_DIRECT"));
    Some(HdparmTiming { cached, direct, speed, mb_s: binary_mb_s(speed.unit)? })
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
