//! What fits what, as text.

use crate::page::{Block, Page};
use crate::table::Table;
use cardscope_model::capacity::fit::{CardFit, CardSize, FitReport, Nominal, PrintFit};
use cardscope_model::units::{Capacity, grouped};

/// The document as text.
pub fn text(report: &FitReport) -> String {
    let size = report.asked_bytes.map_or_else(String::new, |bytes| Capacity(bytes).to_string());
    let mut page = Page::new(report.asked.as_deref().unwrap_or_default(), size);
    let used = report.in_use_bytes.map(|used| format!("in use up to byte {}", grouped(used)));
    let end = report.partitions_end_bytes;
    let end = end.map(|end| format!("its last partition ends at byte {}", grouped(end)));
    let lines = [used, end, report.target.as_ref().map(of_target), report.print.as_ref().map(fit)];
    page.add("", [Block::Lines(lines.into_iter().flatten().collect())]);
    page.add("", [Block::Table(nominals(&report.nominal))]);
    if report.target.is_none() {
        page.add("", [Block::Table(cards(&report.cards))]);
    }
    page.add("Findings", [Block::Findings(report.findings.clone())]);
    page.text()
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

fn fit(print: &PrintFit) -> String {
    let (word, bytes) =
        if print.lacks_bytes < 0 { ("more", -print.lacks_bytes) } else { ("less", print.lacks_bytes) };
    let usual = if print.usual { "usual" } else { "more than any known card lacks" };
    format!(
        "{} bytes ({:.2} %) {word} than the {} on its label; {usual}: known cards lack {:.2} % to {:.2} %",
        grouped(bytes.unsigned_abs()),
        print.lacks_percent.abs(),
        print.nominal,
        print.usual_percent.0,
        print.usual_percent.1
    )
}

fn nominals(all: &[Nominal]) -> Table {
    let bytes = |card: &Option<CardSize>| card.as_ref().map(|card| grouped(card.bytes)).unwrap_or_default();
    let fits = |fits| if fits { "all" } else { "not all" }.to_owned();
    Table::of(
        all,
        &[
            ("sold as", &|n| n.nominal.clone()),
            ("known", &|n| n.known.to_string()),
            ("smallest, bytes", &|n| bytes(&n.smallest)),
            ("largest, bytes", &|n| bytes(&n.largest)),
            ("spread, MB", &|n| format!("{:.1}", n.spread_bytes as f64 / 1e6)),
            ("safe partition end, bytes", &|n| grouped(n.safe_partition_bytes)),
            ("fits", &|n| n.fits.map(fits).unwrap_or_default()),
        ],
    )
}

fn cards(all: &[CardFit]) -> Table {
    let left = |spare: i64| {
        let sign = if spare < 0 { "-" } else { "" };
        format!("{sign}{}", grouped(spare.unsigned_abs()))
    };
    let fits = |card: &CardFit| match (card.fits, card.fits_if_cut) {
        (Some(true), _) => "yes",
        (Some(false), true) => "if cut",
        (Some(false), false) => "no",
        (None, _) => "",
    };
    Table::of(
        all,
        &[
            ("card", &|c| c.card.card.clone()),
            ("bytes", &|c| grouped(c.card.bytes)),
            ("sold as", &|c| c.nominal.clone().unwrap_or_default()),
            ("fits", &|c| fits(c).to_owned()),
            ("left, bytes", &|c| c.spare_bytes.map(left).unwrap_or_default()),
            ("source", &|c| c.card.source.clone()),
        ],
    )
}
