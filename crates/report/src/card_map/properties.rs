//! One line a property: its value with unit, how sure, and the first numbers that it rests on.

use crate::figure::{duration, rate, speed, time_us};
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::{Number, Property, Status};
use cardscope_model::units::BinarySize;

/// Numbers of the evidence that fit beside the value; all of them are in the document.
const NUMBERS: usize = 2;

/// A property as it is shown.
struct Row {
    name: &'static str,
    /// The value, or why there is none.
    found: String,
    /// 0 to 1; `None` where it was not tested.
    sure: Option<f64>,
    /// Numbers and cost.
    rest: String,
}

/// All properties, each in a line.
pub(super) fn lines(measured: &Measured) -> Vec<String> {
    let line = |Row { name, found, sure, rest }: Row| match sure {
        None => format!("{name:<23} {found}"),
        Some(sure) => format!("{name:<23} {found:<16} {:>6}  {rest}", format!("{:.1} %", sure * 100.0)),
    };
    rows(measured).into_iter().map(line).collect()
}

/// What was tested, each with its value and how sure that is.
pub(crate) fn known(measured: &Measured) -> Vec<(String, String)> {
    let tested = rows(measured).into_iter().filter_map(|row| Some((row.sure?, row)));
    tested
        .map(|(sure, row)| (row.name.to_owned(), format!("{} ({:.0} %)", row.found, sure * 100.0)))
        .collect()
}

fn rows(m: &Measured) -> Vec<Row> {
    let size = |bytes: &u64| BinarySize(*bytes).to_string();
    let count = |n: &u32| n.to_string();
    let mb_s = |v: &f64| format!("{} MB/s", speed(*v));
    vec![
        row("page", &m.page_bytes, size),
        row("read unit", &m.read_unit_bytes, size),
        row("erase block", &m.erase_block_bytes, size),
        row("mapping segment", &m.map_segment_bytes, size),
        row("planes", &m.plane_bytes, size),
        row("never written", &m.unmapped_share, |share| format!("{:.1} %", share * 100.0)),
        row("open blocks, in order", &m.open_blocks.linear, count),
        row("open blocks, at random", &m.open_blocks.random, count),
        row("closing a block copies", &m.merge, Clone::clone),
        row("speed of copying", &m.copy_mb_s, mb_s),
        row("FAT region", &m.fat_region_bytes, size),
        row("small-write log up to", &m.small_write_log_bytes, size),
        row("random writes within", &m.random_write_span_bytes, size),
        row("cache", &m.slc_cache_bytes, size),
        row("after the cache", &m.after_cache_mb_s, mb_s),
        row("queue, reads", &m.queue_depth_effective, |q| format!("{q:.1} at a time")),
        row("queue, writes at 32", &m.write_queue_gain, |gain| format!("{gain:.2} times")),
    ]
}

fn row<T>(name: &'static str, property: &Property<T>, show: impl Fn(&T) -> String) -> Row {
    let found = match (property.status, &property.value, &property.bound) {
        (Status::Measured, Some(value), _) => show(value),
        (Status::AtLeast, _, Some(bound)) => format!("at least {}", show(bound)),
        (Status::None, ..) => "none seen".to_owned(),
        _ => {
            let why = property.reason.as_deref().unwrap_or("no reason is known");
            return Row { name, found: format!("not tested: {why}"), sure: None, rest: String::new() };
        }
    };
    let numbers: Vec<String> = property.evidence.numbers.iter().take(NUMBERS).map(number).collect();
    let cost = property.evidence.cost;
    let cost = match cost.written_bytes {
        _ if cost.seconds == 0.0 => String::new(),
        0 => format!(" ({})", duration(cost.seconds)),
        bytes => format!(" ({}, {:.1} MB written)", duration(cost.seconds), bytes as f64 / 1e6),
    };
    let rest = format!("{}{cost}", numbers.join(", "));
    Row { name, found, sure: Some(property.confidence), rest }
}

/// A number of the evidence with its unit.
fn number(number: &Number) -> String {
    let value = number.value;
    let shown = match number.unit.as_str() {
        "bytes" if value >= 0.0 => BinarySize(value as u64).to_string(),
        "µs" if value >= 0.0 => time_us(value),
        "s" if value >= 0.0 => duration(value),
        "MB/s" => format!("{} MB/s", speed(value)),
        "IOPS" => format!("{} IOPS", rate(value)),
        "" if value.fract() == 0.0 => format!("{value:.0}"),
        "" => format!("{value:.2}"),
        unit => format!("{value:.2} {unit}"),
    };
    format!("{} {shown}", number.what)
}
