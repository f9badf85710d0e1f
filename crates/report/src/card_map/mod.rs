//! A card's map as text: what it is made of in one sentence, a line a property with how sure it is and why, the
//! curves, what follows from it, and the block of lines that opens seed 004.

mod advice;
pub mod flashbench;
pub(crate) mod properties;
mod tables;

use crate::figure::duration;
use crate::{bench, map, plot};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Evidence, Property, Status};
use cardscope_model::card_map::{MapReport, Measured};
use cardscope_model::units::{BinarySize, Capacity};
use std::fmt::Write;

/// So many failed I/Os are listed; the others are counted.
const LISTED: usize = 5;

/// The report as people read it.
#[must_use]
pub fn text(report: &MapReport) -> String {
    let measured = &report.body.measured;
    let mut out = format!("{}: {}\n", report.header.target, headline(measured));
    let _ = writeln!(out, "{}\n", Capacity(report.body.announced_bytes));
    out += &properties::lines(measured);
    section(&mut out, "Speed by size of an I/O", &tables::curves(&measured.curves));
    section(&mut out, "Speed over the addresses", &measured.axis.as_ref().map_or(String::new(), map::text));
    for picture in plots(measured) {
        section(&mut out, "", &plot::text(picture));
    }
    if !measured.tables.is_empty() {
        section(&mut out, "Tables in flashbench's layout", &flashbench::text(&measured.tables));
    }
    let findings = bench::findings(&report.header.findings);
    section(&mut out, "Findings", &findings);
    section(&mut out, "What follows from it", &advice::text(&report.body.advice));
    section(&mut out, "In the form of a review", &tables::profile(&report.body.profile));
    section(&mut out, "", &cost(report));
    out
}

fn section(out: &mut String, title: &str, body: &str) {
    if body.is_empty() {
        return;
    }
    out.push('\n');
    if !title.is_empty() {
        let _ = writeln!(out, "{title}");
    }
    out.push_str(body);
}

/// What was found, in one sentence.
fn headline(measured: &Measured) -> String {
    let size = |name: &str, property: &Property<u64>| {
        property.value.map(|bytes| format!("{name} of {}", BinarySize(bytes)))
    };
    let open = |property: &Property<u32>| match (property.value, property.bound) {
        (Some(n), _) => Some(n.to_string()),
        (None, Some(n)) => Some(format!("at least {n}")),
        _ => None,
    };
    let blocks = &measured.open_blocks;
    let open = match (open(&blocks.linear), open(&blocks.random)) {
        (Some(a), Some(b)) if a == b => Some(format!("{a} of them open at a time")),
        (Some(a), Some(b)) => Some(format!("{a} of them open in order, {b} at random")),
        (Some(a), None) => Some(format!("{a} of them open at a time")),
        _ => None,
    };
    let queue = match measured.queue_depth_effective.status {
        Status::None => Some("one read at a time".to_owned()),
        _ => measured.queue_depth_effective.value.map(|q| format!("about {q:.1} reads at a time")),
    };
    let parts = [
        size("pages", &measured.page_bytes),
        size("erase blocks", &measured.erase_block_bytes),
        open,
        size("a cache", &measured.slc_cache_bytes),
        queue,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing shows of what is inside".to_owned() } else { parts.join(", ") }
}

/// Every picture once: page and erase block share theirs.
pub(crate) fn plots(measured: &Measured) -> Vec<&Plot> {
    let m = measured;
    let evidence: [&Evidence; 13] = [
        &m.page_bytes.evidence,
        &m.erase_block_bytes.evidence,
        &m.map_segment_bytes.evidence,
        &m.read_unit_bytes.evidence,
        &m.plane_bytes.evidence,
        &m.open_blocks.linear.evidence,
        &m.open_blocks.random.evidence,
        &m.fat_region_bytes.evidence,
        &m.small_write_log_bytes.evidence,
        &m.random_write_span_bytes.evidence,
        &m.slc_cache_bytes.evidence,
        &m.queue_depth_effective.evidence,
        &m.write_queue_gain.evidence,
    ];
    let mut found: Vec<&Plot> = Vec::new();
    for picture in evidence.into_iter().filter_map(|e| e.plot.as_ref()).chain(&m.plots) {
        // The picture of the segment shows all that the picture of page and erase block shows.
        match found.iter_mut().find(|p| p.title == picture.title) {
            Some(known) if picture.series.len() > known.series.len() => *known = picture,
            Some(_) => (),
            None => found.push(picture),
        }
    }
    found
}

fn cost(report: &MapReport) -> String {
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let kept = if report.body.moved.data_kept { "is as it was" } else { "is not what it was before" };
    let mut out = format!(
        "{} written, {} put back, {} read in {}; what was on it {kept}. Seed {}, I/O by {}.\n",
        megabytes(report.body.moved.bytes_written),
        megabytes(report.body.moved.bytes_restored),
        megabytes(report.body.moved.bytes_read),
        duration(report.body.moved.seconds),
        report.header.seed,
        report.header.io_path,
    );
    for trouble in report.body.moved.troubles.iter().take(LISTED) {
        let _ = writeln!(
            out,
            "Failed: {} of {} bytes at byte {}: {}.",
            trouble.operation,
            trouble.len,
            cardscope_model::units::grouped(trouble.offset),
            trouble.reason
        );
    }
    if report.body.moved.troubles.len() > LISTED {
        let _ =
            writeln!(out, "… and {} more in the JSON document.", report.body.moved.troubles.len() - LISTED);
    }
    for caveat in &report.header.caveats {
        let _ = writeln!(out, "Note: {caveat}.");
    }
    if let Some(session) = &report.header.session {
        let _ = writeln!(out, "Kept as session {session}.");
    }
    if let Some(error) = &report.header.error {
        let _ = writeln!(out, "Ended early: {error}");
    }
    out
}

#[cfg(test)]
mod tests;
