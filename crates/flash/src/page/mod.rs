//! Page of `map`: geometry in one sentence, each property with its confidence, evidence and curves, the advice, and
//! the summary table of a review.

pub mod flashbench;

use cardscope_model::answer::Answer;
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_model::card_map::{
    FlashGeometry, MapAdvice, MapReport, MeasuredMap, ProfileLine, SizeCurves, SizePoint, TriedState,
};
use cardscope_model::report::{NewsTone, ReportBody as _};
use cardscope_model::units::three_digits as speed;
use cardscope_model::units::{BinarySize, DecimalSize, ExactCapacity, KIB};
use cardscope_page::chart::Chart;
use cardscope_page::chart::card_map::{TERMINAL_COLUMNS, address_chart};
use cardscope_page::figure::{ANSWER_COLUMNS, percent, time_us, to_sentence};
use cardscope_page::properties::{
    NOT_MEASURABLE, PropertyRow, geometry_rows, property_row, property_row_or, tested_facts,
};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{
    Page, PageBlock, PageFact, fact, failed_io_reason, io_error_list, io_summary, tone_of_figures,
};
use std::collections::BTreeSet;

pub fn page(report: &MapReport) -> Page {
    let (header, body, measured) = (&report.header, &report.body, &report.body.measured);
    let (tested, untested): (Vec<PropertyRow>, Vec<PropertyRow>) =
        property_rows(measured).into_iter().partition(|row| row.confidence.is_some());
    let mut page = Page::new(&header.target, tone_of_figures(body.exit_status()), answer(measured, &tested));
    page.reasons.extend(failed_io_reason(&body.moved));
    page.add_reason(NewsTone::Plain, to_sentence(&io_summary(&body.moved)));
    let chosen = measured.open_blocks.chosen_unit_bytes;
    let chosen = chosen.map(|bytes| format!("Open blocks were searched in units of {}.", BinarySize(bytes)));
    page.add_reasons(NewsTone::Plain, chosen);
    let untimed = measured.count_out_of_time();
    let named = if untimed == 1 { "1 property".to_owned() } else { format!("{untimed} properties") };
    let untimed = (untimed > 0).then(|| format!("{named} not tested: the time or write limit came first."));
    page.add_reasons(NewsTone::Warning, untimed);
    page.add_section("", [PageBlock::Table(property_table(&tested))]);
    page.add_section("Settings that fit", [PageBlock::Facts(setting_facts(&body.advice))]);
    // No format command is suggested while the card's data still has to be restored.
    for command in body.advice.commands.iter().filter(|_| header.next.is_empty()) {
        page.add_step(to_sentence(&command.what), Some(command.command.clone()));
    }
    page.add_detail("Evidence", [PageBlock::Table(evidence_table(&tested))]);
    page.add_detail("Advice", [PageBlock::Lines(body.advice.words.clone())]);
    page.add_detail("Speed by size of an I/O, in MB/s", curve_table(&measured.curves).map(PageBlock::Table));
    let axis = measured.axis.as_ref();
    let axis = axis.and_then(|axis| address_chart(axis, &header.condition, TERMINAL_COLUMNS));
    let charts = axis.into_iter().chain(charts(measured)).map(PageBlock::from_chart);
    page.add_detail("Charts", charts);
    page.add_detail("Not tested", [PageBlock::Lines(group_by_reason(&untested))]);
    let tried = body.advice.tried.iter().map(trial_line).collect();
    page.add_detail("Tried on the card", [PageBlock::Lines(tried)]);
    page.add_detail("In the form of a review", [PageBlock::Table(profile_table(&body.profile))]);
    let tables = flashbench::render_tables(&measured.tables);
    page.add_section("Tables in flashbench's layout", [PageBlock::Verbatim(tables)]);
    page.add_detail("Failed I/Os", [io_error_list(&body.moved.io_errors)]);
    let announced = fact("announced", ExactCapacity(body.announced_bytes));
    let conditions = vec![announced, fact("seed", header.seed), fact("I/O by", &header.io_path)];
    page.add_detail("Conditions", [PageBlock::Facts(conditions)]);
    page.with_frame(header)
}

/// Erase block, page, open blocks and cache, or the properties that were tested if none of these was.
fn answer(measured: &MeasuredMap, tested: &[PropertyRow]) -> Answer {
    let size = |name, found: &Property<u64>| found.value.map(|n| format!("{name} {}", BinarySize(n)));
    let open = |property: &Property<u32>| match (property.value, property.bound) {
        (Some(n), _) => Some(n.to_string()),
        (None, Some(n)) => Some(format!("at least {n}")),
        _ => None,
    };
    let blocks = &measured.open_blocks;
    let open = open(&blocks.linear).or_else(|| open(&blocks.random)).map(|n| format!("{n} open blocks"));
    let cache = measured.slc_cache_bytes.value.map(|bytes| format!("cache {}", DecimalSize(bytes)));
    let block = size("erase block", &measured.erase_block_bytes);
    let parts = [block, size("page", &measured.page_bytes), open, cache];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let points: usize = measured.curves.all_curves().iter().map(|curve| curve.len()).sum();
    match (parts.is_empty(), tested, points) {
        (false, ..) => to_sentence(&parts.join(", ")).into(),
        (true, [], 0) => Answer::with_verdict("NOT TESTED", ": no property of the flash was tested."),
        (true, [], _) => "Speed by size of an I/O was measured, no property of the flash.".into(),
        (true, [only], _) => to_sentence(&format!("{}: {}", only.name, only.value)).into(),
        (true, rows, _) => properties_that_fit(rows).into(),
    }
}

fn properties_that_fit(rows: &[PropertyRow]) -> String {
    let all: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.name, row.value)).collect();
    let said = |shown: usize| {
        let more = all.len() - shown;
        let more = if more > 0 { format!("; {more} more below") } else { String::new() };
        to_sentence(&format!("{}{more}", all[..shown].join("; ")))
    };
    let fits = |shown: &usize| said(*shown).chars().count() <= ANSWER_COLUMNS;
    said((1..=all.len()).rev().find(fits).unwrap_or(1))
}

/// Charts of all properties, without duplicates: page and erase block have the same one.
pub fn charts(measured: &MeasuredMap) -> Vec<Chart> {
    let evidence = measured.properties().map(|property| property.evidence());
    let mut found: Vec<&Plot> = Vec::new();
    for plot in evidence.into_iter().filter_map(|e| e.plot.as_ref()).chain(&measured.plots) {
        // The chart of the mapping segment includes the curve of page and erase block, so the longer one is used.
        match found.iter_mut().find(|p| p.title == plot.title) {
            Some(known) if plot.series.len() > known.series.len() => *known = plot,
            Some(_) => (),
            None => found.push(plot),
        }
    }
    found.into_iter().map(Chart::from).collect()
}

fn curve_table(curves: &SizeCurves) -> Option<Table> {
    let sizes: BTreeSet<u64> = curves.all_curves().iter().flat_map(|c| c.iter().map(|p| p.bytes)).collect();
    let at = |curve: &[SizePoint], bytes: &u64, show: fn(&SizePoint) -> String| {
        curve.iter().find(|p| p.bytes == *bytes).map_or(String::new(), show)
    };
    let mb_s = |p: &SizePoint| speed(p.mb_s);
    let iops = |p: &SizePoint| speed(p.iops);
    let table = Table::from_items(
        &sizes,
        &[
            ("I/O size", &|bytes| BinarySize(*bytes).to_string()),
            ("read", &|bytes| at(&curves.sequential_read, bytes, mb_s)),
            ("random read", &|bytes| at(&curves.random_read, bytes, mb_s)),
            ("read IOPS", &|bytes| at(&curves.random_read, bytes, iops)),
            ("write", &|bytes| at(&curves.sequential_write, bytes, mb_s)),
            ("random write", &|bytes| at(&curves.random_write, bytes, mb_s)),
            ("write IOPS", &|bytes| at(&curves.random_write, bytes, iops)),
        ],
    );
    (!sizes.is_empty()).then_some(table)
}

fn profile_table(lines: &[ProfileLine]) -> Table {
    Table::from_items(
        lines,
        &[("property", &|l| l.what.clone()), ("value", &|l| l.value.clone()), ("how", &|l| l.how.clone())],
    )
    .left_aligned(["how"])
    .never_dropped(["value", "how"])
}

fn setting_facts(advice: &MapAdvice) -> Vec<PageFact> {
    let blocks = |n: u64| match n {
        1 => "1 block of 4 KiB".to_owned(),
        n => format!("{n} blocks of 4 KiB ({})", BinarySize(n * 4 * KIB)),
    };
    let options = (!advice.mount_options.is_empty()).then(|| advice.mount_options.join(","));
    let all = [
        ("partition start", advice.partition_start_bytes.map(|b| BinarySize(b).to_string())),
        ("ext4 stride", advice.ext4_stride.map(blocks)),
        ("ext4 stripe width", advice.ext4_stripe_width.map(blocks)),
        ("F2FS section", advice.f2fs_segments_per_section.map(|n| format!("{n} segments of 2 MiB"))),
        ("exFAT cluster", advice.exfat_cluster_bytes.map(|b| BinarySize(b).to_string())),
        ("slow below", advice.slow_below_bytes.map(|b| format!("{} per write", BinarySize(b)))),
        ("mount options", options),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

fn trial_line(tried: &TriedState) -> String {
    let Some(iops) = tried.iops else {
        let why = tried.reason.as_deref().unwrap_or("no figure");
        return format!("{}: not done, {why}", tried.what);
    };
    let interval = |(low, high)| format!(" (95 % interval {} to {} IOPS)", speed(low), speed(high));
    let interval = tried.ci95.map(interval).unwrap_or_default();
    let longest = tried.longest_s.map(|s| format!(", the longest took {}", time_us(s * 1e6)));
    let longest = longest.unwrap_or_default();
    format!("{}: {} random 4 KiB writes a second{interval}{longest}", tried.what, speed(iops))
}

#[cfg(test)]
mod tests;

fn evidence_table(rows: &[PropertyRow]) -> Table {
    Table::from_items(rows, &[("property", &|r| r.name.to_owned()), ("measured", &|r| r.evidence.clone())])
        .left_aligned(["measured"])
}

fn property_table(rows: &[PropertyRow]) -> Table {
    let sure = |row: &PropertyRow| row.confidence.filter(|_| row.value != NOT_MEASURABLE).map(percent);
    Table::from_items(
        rows,
        &[
            ("property", &|row| row.name.to_owned()),
            ("found", &|row| row.value.clone()),
            ("sure", &|row| sure(row).unwrap_or_default()),
        ],
    )
    .left_aligned(["found"])
}

/// Reasons why properties were not tested, with the properties of each.
fn group_by_reason(rows: &[PropertyRow]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        match reasons.iter_mut().find(|(reason, _)| *reason == row.value) {
            Some((_, names)) => names.push(row.name),
            None => reasons.push((&row.value, vec![row.name])),
        }
    }
    reasons.iter().map(|(reason, names)| to_sentence(&format!("{}: {reason}", names.join(", ")))).collect()
}

/// Tested properties, with value and confidence as text.
pub fn tested_properties(measured: &MeasuredMap) -> Vec<(String, String)> {
    tested_facts(property_rows(measured))
}

fn property_rows(m: &MeasuredMap) -> Vec<PropertyRow> {
    let size = |bytes: &u64| BinarySize(*bytes).to_string();
    let mb_s = |v: &f64| format!("{} MB/s", speed(*v));
    let [page, erase_block, linear, random] = geometry_rows(&FlashGeometry::from(m));
    vec![
        page,
        property_row("read unit", &m.read_unit_bytes, size),
        erase_block,
        property_row("mapping segment", &m.map_segment_bytes, size),
        property_row("planes", &m.plane_bytes, size),
        property_row("never written", &m.unmapped_share, |share| format!("{:.1} %", share * 100.0)),
        linear,
        random,
        property_row("closing a block copies", &m.merge, |part| copy_extent(part).to_owned()),
        property_row("speed of copying", &m.copy_mb_s, mb_s),
        property_row("FAT region", &m.fat_region_bytes, size),
        property_row("small-write log", &m.small_write_log_bytes, size),
        property_row("random writes within", &m.random_write_span_bytes, size),
        cache_row(&m.slc_cache_bytes),
        property_row_or("no drop", "after the cache", &m.after_cache_mb_s, mb_s),
        property_row("read queue", &m.queue_depth_effective, |q| format!("{q:.1} at a time")),
        property_row("write queue of 32", &m.write_queue_gain, |gain| queue_gain(*gain)),
    ]
}

/// Row of the cache; without an end, it states the bytes that were written without a drop.
fn cache_row(property: &Property<u64>) -> PropertyRow {
    let size = |bytes: &u64| DecimalSize(*bytes).to_string();
    let written = property.evidence.numbers.iter().find(|number| number.what == "written");
    let none = written.map_or(String::new(), |n| format!(", no drop over {}", DecimalSize(n.value as u64)));
    let row = property_row_or(&format!("none{none}"), "cache", property, size);
    match (property.status, property.bound) {
        (PropertyStatus::AtLeast, Some(bound)) => {
            PropertyRow { value: format!("no drop over {}", DecimalSize(bound)), ..row }
        }
        _ => row,
    }
}

fn copy_extent(part: &str) -> &str {
    match part {
        "rest" => "the unwritten rest",
        "all" => "the whole block",
        "written" => "what was written",
        other => other,
    }
}

fn queue_gain(gain: f64) -> String {
    match gain {
        gain if (gain - 1.0).abs() < GAIN_TOLERANCE => "no gain".to_owned(),
        gain if gain > 1.0 => format!("{} × faster", speed(gain)),
        gain => format!("{} × slower", speed(1.0 / gain)),
    }
}

const GAIN_TOLERANCE: f64 = 0.05;
