//! A card's map as text: what it is made of in one sentence, a line a property with how sure it is and why, the
//! curves, what follows from it, and the block of lines that opens a published review.

mod advice;
pub mod flashbench;
pub(crate) mod properties;
mod tables;

use crate::chart::Chart;
use crate::map;
use crate::page::{Block, Page, fact, moved, troubles};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Evidence, Property, Status};
use cardscope_model::card_map::{MapReport, Measured};
use cardscope_model::units::{BinarySize, Capacity};

/// The report as people read it.
#[must_use]
pub fn text(report: &MapReport) -> String {
    let (header, body, measured) = (&report.header, &report.body, &report.body.measured);
    let mut page = Page::new(&header.target, answer(measured));
    page.add("", [Block::Facts(vec![fact("announced", Capacity(body.announced_bytes))])]);
    page.add("", [Block::Lines(properties::lines(measured))]);
    page.add("Speed by size of an I/O", tables::curves(&measured.curves).map(Block::Table));
    let axis = measured.axis.as_ref().map(map::lines).unwrap_or_default();
    page.add("Speed over the addresses", [Block::Lines(axis)]);
    for chart in charts(measured) {
        page.add("", [Block::Chart(Box::new(chart))]);
    }
    page.add("Tables in flashbench's layout", [Block::Verbatim(flashbench::text(&measured.tables))]);
    page.add_findings(header, std::iter::empty());
    page.add("What follows from it", advice::blocks(&body.advice));
    page.add("In the form of a review", [Block::Lines(tables::profile(&body.profile))]);
    page.add("Failed I/Os", [troubles(&body.moved.troubles)]);
    let cost = format!("{} Seed {}, I/O by {}.", moved(&body.moved), header.seed, header.io_path);
    page.add("", [Block::Words(cost)]);
    page.add_end(header);
    page.text()
}

/// What was found, in one sentence.
fn answer(measured: &Measured) -> String {
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
        (Some(a), Some(b)) if a != b => Some(format!("{a} of them open in order, {b} at random")),
        (Some(a), _) => Some(format!("{a} of them open at a time")),
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

/// Every chart once: page and erase block share theirs.
pub(crate) fn charts(measured: &Measured) -> Vec<Chart> {
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
    for plot in evidence.into_iter().filter_map(|e| e.plot.as_ref()).chain(&m.plots) {
        // The chart of the segment shows all that the chart of page and erase block shows.
        match found.iter_mut().find(|p| p.title == plot.title) {
            Some(known) if plot.series.len() > known.series.len() => *known = plot,
            Some(_) => (),
            None => found.push(plot),
        }
    }
    found.into_iter().map(Chart::from).collect()
}

#[cfg(test)]
mod tests;
