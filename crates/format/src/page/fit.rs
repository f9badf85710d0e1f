//! Page of `fit`: the cards that an image or a size fits, in exact bytes.

use cardscope_model::capacity::fit::{CardFit, CardSize, FitReport, NominalCapacity, PrintFit};
use cardscope_model::report::NewsTone;
use cardscope_model::units::{DecimalSize, ExactCapacity, group_digits};
use cardscope_page::figure::{pluralize, without_trailing_zeros};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact, findings};

pub fn page(report: &FitReport) -> Page {
    let (tone, answer) = answer(report);
    let mut page = Page::new(report.asked.as_deref().unwrap_or_default(), tone, answer);
    page.add_reasons(NewsTone::Plain, report.print.as_ref().map(compare_with_print));
    page.add_reasons(NewsTone::Warning, report.target.as_ref().and_then(truncation_advice));
    let image = report.asked_bytes.map(|bytes| fact("size", ExactCapacity(bytes)));
    let used = report.in_use_bytes.map(|used| fact("in use up to", format!("byte {}", group_digits(used))));
    let end = report.partitions_end_bytes;
    let end = end.map(|end| fact("last partition ends at", format!("byte {}", group_digits(end))));
    let card = report.target.as_ref().map(|target| fact("card", ExactCapacity(target.card.bytes)));
    let left = report.target.as_ref().and_then(|target| target.spare_bytes).map(|spare| {
        fact(if spare < 0 { "too large by" } else { "left" }, ExactCapacity(spare.unsigned_abs()))
    });
    page.add_section("", [PageBlock::Facts([image, used, end, card, left].into_iter().flatten().collect())]);
    let sold = [PageBlock::Table(nominal_table(&report.nominal, report.asked_bytes))];
    match &report.target {
        Some(_) => page.add_detail("Cards by printed capacity", sold),
        None => {
            page.add_section("", sold);
            page.add_detail("Known cards", [PageBlock::Table(card_table(&report.cards))]);
        }
    }
    page.add_detail("Findings", [PageBlock::Remarks(findings::merge_findings(&report.findings))]);
    page
}

fn answer(report: &FitReport) -> (NewsTone, String) {
    if let Some(target) = &report.target {
        let (name, size) = (&target.card.card, DecimalSize(target.card.bytes));
        let spare = DecimalSize(target.spare_bytes.unwrap_or_default().unsigned_abs());
        return match target.fits {
            Some(true) => (NewsTone::Good, format!("Fits {name} ({size}), {spare} left.")),
            Some(false) => (NewsTone::Bad, format!("Does not fit {name} ({size}): {spare} too large.")),
            None => (NewsTone::Plain, format!("{name} announces {size}.")),
        };
    }
    let fitting = report.nominal.iter().find(|nominal| nominal.fits == Some(true));
    match (report.asked_bytes, fitting) {
        (Some(bytes), Some(nominal)) => {
            let (size, nominal) = (DecimalSize(bytes), &nominal.nominal);
            (NewsTone::Good, format!("{size} fits every known card of {nominal} and more."))
        }
        (Some(bytes), None) if report.nominal.iter().any(|nominal| nominal.fits.is_some()) => {
            (NewsTone::Warning, format!("{} does not fit every card of any capacity.", DecimalSize(bytes)))
        }
        _ => {
            let cards: u64 = report.nominal.iter().map(|nominal| nominal.known as u64).sum();
            let known = pluralize(cards, "known card");
            (NewsTone::Plain, format!("Sizes of {known} by what they are sold as."))
        }
    }
}

fn truncation_advice(target: &CardFit) -> Option<String> {
    let bytes = group_digits(target.card.bytes);
    (target.fits == Some(false) && target.fits_if_cut)
        .then(|| format!("What is in use fits: cut the image to {bytes} bytes."))
}

fn compare_with_print(print: &PrintFit) -> String {
    let side = |percent: f64| if percent < 0.0 { "more" } else { "less" };
    let share = |percent: f64| without_trailing_zeros(percent.abs(), 2);
    let (low, high) = print.usual_percent;
    let from = if side(low) == side(high) { String::new() } else { format!(" % {}", side(low)) };
    let usual = if print.usual { "which is normal" } else { "which is unusual" };
    let (lacks, more, nominal) = (share(print.lacks_percent), side(print.lacks_percent), &print.nominal);
    let usual_share = format!("{}{from} to {} % {}", share(low), share(high), side(high));
    format!(
        "The card holds {lacks} % {more} than its label ({nominal}), {usual}: known cards hold {usual_share}."
    )
}

fn cards_that_fit(nominal: &NominalCapacity, asked: Option<u64>) -> &'static str {
    let some = nominal.largest.as_ref().is_some_and(|card| asked.is_some_and(|asked| card.bytes >= asked));
    match nominal.fits {
        None => "",
        Some(true) => "every card",
        Some(false) if some => "some",
        Some(false) => "none",
    }
}

fn nominal_table(all: &[NominalCapacity], asked: Option<u64>) -> Table {
    let bytes = |card: &Option<CardSize>| card.as_ref().map_or(String::new(), |c| group_digits(c.bytes));
    Table::from_items(
        all,
        &[
            ("sold as", &|n| n.nominal.clone()),
            ("known", &|n| n.known.to_string()),
            ("smallest, bytes", &|n| bytes(&n.smallest)),
            ("largest, bytes", &|n| bytes(&n.largest)),
            ("spread, MB", &|n| format!("{:.1}", n.spread_bytes as f64 / 1e6)),
            ("safe partition end, bytes", &|n| group_digits(n.safe_partition_bytes)),
            ("fits", &|n| cards_that_fit(n, asked).to_owned()),
        ],
    )
    .left_aligned(["fits"])
    .least_important(["spread, MB", "known", "largest, bytes"])
}

fn card_table(all: &[CardFit]) -> Table {
    let left = |spare: i64| {
        let sign = if spare < 0 { "-" } else { "" };
        format!("{sign}{}", group_digits(spare.unsigned_abs()))
    };
    let fits = |card: &CardFit| match (card.fits, card.fits_if_cut) {
        (Some(true), _) => "yes",
        (Some(false), true) => "if cut",
        (Some(false), false) => "no",
        (None, _) => "",
    };
    Table::from_items(
        all,
        &[
            ("card", &|c| c.card.card.clone()),
            ("bytes", &|c| group_digits(c.card.bytes)),
            ("sold as", &|c| c.nominal.clone().unwrap_or_default()),
            ("fits", &|c| fits(c).to_owned()),
            ("left, bytes", &|c| c.spare_bytes.map(left).unwrap_or_default()),
            ("source", &|c| c.card.source.clone()),
        ],
    )
    .left_aligned(["sold as", "source"])
    .never_dropped(["bytes"])
}
