//! What fits what, as text.

use crate::figure::count;
use crate::page::table::Table;
use crate::page::{Block, Page, Tone, fact, findings};
use cardscope_model::capacity::fit::{CardFit, CardSize, FitReport, Nominal, PrintFit};
use cardscope_model::units::{Capacity, Size, grouped};

/// The page.
pub fn page(report: &FitReport) -> Page {
    let (tone, answer) = answer(report);
    let mut page = Page::new(report.asked.as_deref().unwrap_or_default(), tone, answer);
    let used = report.in_use_bytes.map(|used| fact("in use up to", format!("byte {}", grouped(used))));
    let end = report.partitions_end_bytes;
    let end = end.map(|end| fact("last partition ends at", format!("byte {}", grouped(end))));
    let size = report.asked_bytes.map(|bytes| fact("size", Capacity(bytes)));
    page.add("", [Block::Facts([size, used, end].into_iter().flatten().collect())]);
    let lines = [report.target.as_ref().map(of_target), report.print.as_ref().map(fit)];
    page.add("", [Block::Lines(lines.into_iter().flatten().collect())]);
    page.add("", [Block::Table(nominals(&report.nominal))]);
    if report.target.is_none() {
        page.fold("Known cards", [Block::Table(cards(&report.cards))]);
    }
    page.fold("Findings", [Block::Remarks(findings::of(&report.findings))]);
    page
}

fn answer(report: &FitReport) -> (Tone, String) {
    if let Some(target) = &report.target {
        let size = Size(target.card.bytes);
        return match target.fits {
            Some(true) => (Tone::Good, format!("Fits on {} ({size}).", target.card.card)),
            Some(false) if target.fits_if_cut => {
                (Tone::Warning, format!("Fits on {} ({size}) only if the image is cut.", target.card.card))
            }
            Some(false) => (Tone::Bad, format!("Does not fit on {} ({size}).", target.card.card)),
            None => (Tone::Plain, format!("{} holds {size}.", target.card.card)),
        };
    }
    let fitting = report.nominal.iter().find(|nominal| nominal.fits == Some(true));
    match (report.asked_bytes, fitting) {
        (Some(bytes), Some(nominal)) => {
            (Tone::Good, format!("{} fits every known card of {} and more.", Size(bytes), nominal.nominal))
        }
        (Some(bytes), None) if report.nominal.iter().any(|nominal| nominal.fits.is_some()) => {
            (Tone::Warning, format!("{} fits no size of card in full.", Size(bytes)))
        }
        _ => {
            let cards: u64 = report.nominal.iter().map(|nominal| nominal.known as u64).sum();
            (Tone::Plain, format!("Sizes of {} by what they are sold as.", count(cards, "known card")))
        }
    }
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
    .least(["spread, MB", "known", "largest, bytes"])
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
    .left_aligned(["sold as", "source"])
    .always(["bytes"])
}
