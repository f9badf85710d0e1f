//! What fits what, as text.

use crate::bench::findings;
use crate::table::Table;
use cardscope_model::capacity::fit::{AgainstPrint, CardFit, FitReport, Nominal};
use cardscope_model::units::{Capacity, grouped};
use std::fmt::Write;

/// The document as text.
#[must_use]
pub fn text(report: &FitReport) -> String {
    let mut out = asked(report);
    if let Some(target) = &report.target {
        let _ = writeln!(out, "{}", of_target(target));
    }
    if let Some(print) = &report.print {
        let _ = writeln!(out, "{}", against(print));
    }
    let _ = write!(out, "\n{}", nominals(&report.nominal));
    if report.target.is_none() {
        let _ = write!(out, "\n{}", cards(&report.cards));
    }
    let said = findings(&report.findings);
    if !said.is_empty() {
        let _ = write!(out, "\n{said}");
    }
    out
}

fn asked(report: &FitReport) -> String {
    let (Some(asked), Some(bytes)) = (&report.asked, report.asked_bytes) else { return String::new() };
    let mut out = format!("{asked}: {}\n", Capacity(bytes));
    if let Some(used) = report.in_use_bytes {
        let _ = writeln!(out, "  in use up to byte {}", grouped(used));
    }
    if let Some(end) = report.partitions_end_bytes {
        let _ = writeln!(out, "  its last partition ends at byte {}", grouped(end));
    }
    out
}

fn of_target(target: &CardFit) -> String {
    let size = Capacity(target.card.bytes);
    let name = &target.card.card;
    match (target.fits, target.spare_bytes) {
        (Some(true), Some(spare)) => {
            format!("{name}: {size}: fits, {} bytes are left", grouped(spare.unsigned_abs()))
        }
        (Some(false), Some(spare)) => {
            let missing = grouped(spare.unsigned_abs());
            let cut = if target.fits_if_cut {
                format!("; what is in use would fit: cut the image to {} bytes", grouped(target.card.bytes))
            } else {
                String::new()
            };
            format!("{name}: {size}: does not fit, {missing} bytes are missing{cut}")
        }
        _ => format!("{name}: {size}"),
    }
}

fn against(print: &AgainstPrint) -> String {
    let (word, bytes) =
        if print.lacks_bytes < 0 { ("more", -print.lacks_bytes) } else { ("less", print.lacks_bytes) };
    let usual = if print.usual { "usual" } else { "more than any known card lacks" };
    format!(
        "  {} bytes ({:.2} %) {word} than the {} on its label; {usual}: known cards lack {:.2} % to {:.2} %",
        grouped(bytes.unsigned_abs()),
        print.lacks_percent.abs(),
        print.nominal,
        print.usual_percent.0,
        print.usual_percent.1
    )
}

fn nominals(all: &[Nominal]) -> String {
    let mut table = Table::new([
        "sold as",
        "known",
        "smallest, bytes",
        "largest, bytes",
        "spread, MB",
        "safe partition end, bytes",
        "fits",
    ]);
    for n in all {
        let bytes = |card: &Option<cardscope_model::capacity::fit::CardSize>| {
            card.as_ref().map(|card| grouped(card.bytes)).unwrap_or_default()
        };
        table.row([
            n.nominal.clone(),
            n.known.to_string(),
            bytes(&n.smallest),
            bytes(&n.largest),
            format!("{:.1}", n.spread_bytes as f64 / 1e6),
            grouped(n.safe_partition_bytes),
            n.fits.map(|fits| if fits { "all" } else { "not all" }.to_owned()).unwrap_or_default(),
        ]);
    }
    table.drop_blank_columns();
    table.to_string()
}

fn cards(all: &[CardFit]) -> String {
    let mut table = Table::new(["card", "bytes", "sold as", "fits", "left, bytes", "source"]);
    for card in all {
        let left = card.spare_bytes.map(|spare| {
            let sign = if spare < 0 { "-" } else { "" };
            format!("{sign}{}", grouped(spare.unsigned_abs()))
        });
        let fits = match (card.fits, card.fits_if_cut) {
            (Some(true), _) => "yes",
            (Some(false), true) => "if cut",
            (Some(false), false) => "no",
            (None, _) => "",
        };
        table.row([
            card.card.card.clone(),
            grouped(card.card.bytes),
            card.nominal.clone().unwrap_or_default(),
            fits.to_owned(),
            left.unwrap_or_default(),
            card.card.source.clone(),
        ]);
    }
    table.drop_blank_columns();
    table.to_string()
}
