//! What `format` did, as text; and how what stands on a card is laid out, for `info` too.

use crate::bench::findings;
use crate::figure::duration;
use cardscope_model::format::{FormatReport, Mode};
use cardscope_model::present_layout::{Partition, PresentLayout};
use cardscope_model::units::{BinarySize, Capacity, grouped};
use cardscope_sd::layout::{Layout, SECTOR, Scheme};
use std::fmt::Write;

/// The document as text.
#[must_use]
pub fn text(report: &FormatReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", headline(report));
    layout_lines(&mut out, &report.body.layout);
    let done = match report.body.mode {
        Mode::Quick => "quick: only partition table and file system",
        Mode::Overwrite => "every byte was overwritten first",
        Mode::Discard => "discard first",
    };
    line(&mut out, "done", done);
    line(&mut out, "made by", &report.body.tool);
    let moved = format!(
        "{} bytes written, {} bytes read, {}",
        grouped(report.body.moved.bytes_written),
        grouped(report.body.moved.bytes_read),
        duration(report.body.moved.seconds)
    );
    line(&mut out, "moved", &moved);
    if report.body.size_adjustment {
        line(&mut out, "size adjustment", "on: the partition ends on a whole cylinder");
    }
    if let Some(state) = &report.body.state {
        line(&mut out, "state", &format!("{state}; later runs on this card name it as their condition"));
    }
    if let Some(file) = &report.body.backup {
        line(&mut out, "backup", &format!("`cardscope restore {file} {}` undoes this", report.header.target));
    }
    let said = findings(&report.header.findings);
    if !said.is_empty() {
        let _ = write!(out, "\n{said}");
    }
    out
}

fn headline(report: &FormatReport) -> String {
    let name = report.body.label.as_ref().map(|label| format!(" {label:?}")).unwrap_or_default();
    let layout = &report.body.layout;
    match &report.header.error {
        Some(error) => format!("{}: not formatted ({error})", report.header.target),
        None if report.body.checked => {
            format!(
                "{}: formatted as {}{name}, read back and compared",
                report.header.target, layout.file_system
            )
        }
        None => {
            format!(
                "{}: written as {}{name}, but it does not read back",
                report.header.target, layout.file_system
            )
        }
    }
}

fn line(out: &mut String, label: &str, value: &str) {
    let _ = writeln!(out, "  {label:<18}{value}");
}

fn layout_lines(out: &mut String, layout: &Layout) {
    let table = match layout.scheme {
        Scheme::Mbr => format!("MBR, type {:02X}", layout.partition_type),
        Scheme::Gpt => "GPT".to_owned(),
    };
    let sectors = |n: u64| format!("sector {} ({})", grouped(n), BinarySize(n * SECTOR));
    line(out, "partition table", &table);
    line(
        out,
        "partition",
        &format!("{}, {}", sectors(layout.partition_start), Capacity(layout.partition_sectors * SECTOR)),
    );
    line(
        out,
        "files from",
        &format!("{}, boundary {}", sectors(layout.data_start), BinarySize(layout.boundary_sectors * SECTOR)),
    );
    let cluster = BinarySize(layout.cluster_sectors * SECTOR);
    line(out, "clusters", &format!("{} of {cluster}", grouped(layout.clusters)));
}

/// How what stands on a card is laid out: labels and values.
#[must_use]
pub fn present_lines(present: &PresentLayout) -> Vec<(String, String)> {
    let table = present.table.as_ref().map_or_else(|| "none".to_owned(), |table| table.to_uppercase());
    let mut lines = vec![("partition table".to_owned(), table)];
    lines.extend(present.partitions.iter().map(|p| (p.name(), partition(p))));
    lines.push((
        "files should begin on".to_owned(),
        format!("{}: {}", BinarySize(present.unit_bytes), present.unit_source),
    ));
    lines
}

fn partition(p: &Partition) -> String {
    let what = p.volume.as_ref().map_or_else(
        || "file system not understood".to_owned(),
        |v| format!("{}, clusters of {}", v.file_system, BinarySize(v.cluster_bytes)),
    );
    let place = if p.aligned { "on the unit" } else { "off the unit" };
    format!(
        "{what}; begins at byte {}, its files at byte {} ({place})",
        grouped(p.start_bytes),
        grouped(p.data_start_bytes)
    )
}
