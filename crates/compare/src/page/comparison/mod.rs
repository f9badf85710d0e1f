//! Page of `compare`: speeds side by side, real differences, and differences other than the card. Its parts are also in
//! publications; `docs/comparing.md` explains their meaning.

pub(crate) mod answer;
mod bus;
mod changes;
mod cooling;
mod details;
mod latencies;
pub mod tables;
pub mod words;

use cardscope_model::comparison::{CardRemark, ComparedEntry, Comparison};
use cardscope_model::report::NewsTone;
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};
use cardscope_page::figure::count;
use cardscope_page::tree::{Page, PageBlock, findings};
use tables::NOT_PRINTED;
use words::RunMeasure;

/// Most entries of which every pair is listed; for more, one line a test gives their order.
const MOST_PAIRED_ENTRIES: usize = 4;

/// Heading of the table of IOPS.
pub(crate) const IOPS: &str = "IOPS of the 4 KiB tests";

/// Most sources that are named for each entry.
const MOST_SOURCES: usize = 4;

/// Layout of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparisonLayout {
    /// Speeds as the tools printed them, in the tools' units.
    pub as_printed: bool,
    /// Lists every run below the tables.
    pub every_run: bool,
}

pub fn page(comparison: &Comparison, how: ComparisonLayout) -> Page {
    let mut page = Page::plain(answer::answer(comparison));
    if comparison.entries.is_empty() {
        return page;
    }
    add_reasons(&mut page, comparison);
    add_overall(&mut page, comparison);
    add_figures(&mut page, comparison, how);
    add_differences(&mut page, comparison);
    add_compared(&mut page, comparison);
    page.fold("Runs that jump between two levels", [PageBlock::Lines(words::jumps(comparison))]);
    if how.every_run {
        page.add("Every run, MB/s, in the order of measuring", [PageBlock::Lines(every_run(comparison))]);
    }
    page.fold("Findings", [PageBlock::Remarks(findings::of(&comparison.findings))]);
    page.fold("Sources", [PageBlock::Lines(source_lines(comparison))]);
    page
}

/// Adds the certainty of the whole, and remarkable facts, as reasons.
pub(crate) fn add_reasons(page: &mut Page, comparison: &Comparison) {
    let said = [words::counted(comparison), words::apart(comparison), words::areas(comparison)];
    page.because_all(NewsTone::Plain, said.into_iter().flatten());
    cooling::add(page, comparison);
    changes::add(page, comparison);
}

/// Adds the overall result, and the differences between cards in each test.
pub(crate) fn add_overall(page: &mut Page, comparison: &Comparison) {
    let table = tables::overall(comparison);
    let tests = comparison.overall.first().map_or(0, |all| all.tests);
    let meaning = match tests {
        0 => String::new(),
        n => format!("Geometric mean over {}; \"best\" is the chance to be it.", count(n, "test")),
    };
    page.add("All tests together", [PageBlock::Table(table), PageBlock::Words(meaning)]);
    let said = |remark: &CardRemark| format!("{}: {}.", remark.name, remark.words.join("; "));
    page.add("Remarks", [PageBlock::Lines(comparison.remarks.iter().map(said).collect())]);
    page.fold("How far the cards lie apart", [PageBlock::Table(tables::spread_of_tests(comparison))]);
    page.fold("Small against large test area", [PageBlock::Table(tables::areas(comparison))]);
}

/// Adds the compared entries, and differences other than the card.
pub(crate) fn add_compared(page: &mut Page, comparison: &Comparison) {
    if comparison.entries.is_empty() {
        return;
    }
    let common = format!("Measured by: {}.", words::common_setting(comparison));
    page.add("Compared", [PageBlock::Table(tables::entries(comparison)), PageBlock::Words(common)]);
    page.fold("Also different", [PageBlock::Table(tables::differs(comparison))]);
    page.fold("Known of the cards", [PageBlock::Table(details::table(comparison))]);
}

/// Adds the four figures of each test, and IOPS.
pub(crate) fn add_figures(page: &mut Page, comparison: &Comparison, how: ComparisonLayout) {
    for (number, measure) in RunMeasure::ALL.into_iter().enumerate() {
        let head = match how.as_printed {
            false => format!("{}, MB/s", measure.word()),
            true => format!("{} as the tools print it", measure.word()),
        };
        // Rows of many cards have no room for intervals, and printed figures have none.
        let has_intervals = number == 0 && !how.as_printed && words::with_intervals(comparison);
        let interval = if has_intervals { ", with its 95 % interval" } else { "" };
        let meaning = PageBlock::Words(format!("Figures: {}{interval}.", measure.meaning()));
        let table = tables::figures(comparison, measure, how.as_printed);
        match (table.rows().is_empty(), number) {
            (true, _) => {}
            // With one run each, the worst is the best.
            (false, 1..) if !has_several_runs(comparison) => {}
            (false, 0) => page.add(&head, [PageBlock::Table(table), meaning]),
            (false, _) => page.fold(&head, [PageBlock::Table(table), meaning]),
        }
    }
    page.fold(bus::HEAD, [PageBlock::Table(bus::table(comparison))]);
    page.fold(IOPS, [PageBlock::Table(tables::iops(comparison))]);
    page.fold(latencies::HEAD, [PageBlock::Table(latencies::table(comparison))]);
    if how.as_printed {
        let true_ones = "A tool's MB/s need not be 10^6 bytes a second; without --as-printed all figures are in true MB/s.";
        let unknown = comparison.tests.iter().flat_map(|t| t.spreads.iter().flatten());
        let own = unknown.into_iter().any(|spread| spread.as_printed.is_none()).then(|| {
            format!(
                "{}  no figure of the tool's own is known: MB/s of 10^6 bytes, as measured.",
                NOT_PRINTED.trim()
            )
        });
        page.add("", [true_ones.to_owned()].into_iter().chain(own).map(PageBlock::Words));
    }
}

/// True if any test of any entry was run more than once.
fn has_several_runs(comparison: &Comparison) -> bool {
    comparison.tests.iter().flat_map(|test| test.spreads.iter().flatten()).any(|spread| spread.n > 1)
}

/// Adds the order of the entries in each test, and the pairs.
pub(crate) fn add_differences(page: &mut Page, comparison: &Comparison) {
    let orders = tables::orders(comparison, tables::number);
    page.fold("Fastest first (> at least likely, = equal, ? open)", [PageBlock::Table(orders)]);
    if comparison.entries.len() <= MOST_PAIRED_ENTRIES {
        page.fold("Pair by pair", [PageBlock::Table(tables::pairs(comparison, |_| true))]);
    }
}

fn every_run(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for test in &comparison.tests {
        lines.push(words::test(test));
        for (number, spread) in test.spreads.iter().enumerate() {
            let Some(spread) = spread else { continue };
            let runs: Vec<String> = spread.runs.iter().map(|mb_s| speed(*mb_s)).collect();
            let runs = if runs.is_empty() { NONE.to_owned() } else { runs.join("  ") };
            lines.push(format!("  {:>2}  {runs}", number + 1));
        }
    }
    lines
}

fn source_lines(comparison: &Comparison) -> Vec<String> {
    let known = comparison.entries.iter().filter(|entry| !entry.sources.is_empty());
    let line = |entry: &ComparedEntry| {
        let named: Vec<&str> = entry.sources.iter().take(MOST_SOURCES).map(String::as_str).collect();
        let more = entry.sources.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}: {}{more}", entry.name, named.join(", "))
    };
    known.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples as sample;

    #[test]
    fn page_of_three_cards_matches_the_sample() {
        sample::same("compared.txt", &page(&sample::comparison(3, 3, 2), ComparisonLayout::default()).text());
    }

    #[test]
    fn printed_figures_are_shown_in_the_tools_units() {
        let mut comparison = sample::comparison(2, 3, 1);
        if let Some(spread) = &mut comparison.tests[0].spreads[0] {
            spread.as_printed = None;
        }
        let page = page(&comparison, ComparisonLayout { as_printed: true, every_run: true }).text();
        assert!(page.contains("Average as the tools print it"), "{page}");
        assert!(page.contains("MB/s ¹") && page.contains("no figure of the tool's own is known"), "{page}");
        assert!(page.contains("Every run, MB/s"), "{page}");
    }

    #[test]
    fn page_of_twenty_cards_fits_80_columns() {
        let comparison = sample::comparison(20, 10, 12);
        let page = page(&comparison, ComparisonLayout::default()).text();
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        for number in 1..=20 {
            assert!(page.contains(&format!("  {number} ")), "{number}\n{page}");
        }
        assert!(page.contains("2261 comparisons of two cards"), "{page}");
    }

    #[test]
    fn six_entries_have_rows_with_intervals() {
        let table = tables::figures(&sample::comparison(6, 3, 2), RunMeasure::Average, false);
        assert_eq!(table.rows().len(), 6);
        let page = page(&sample::comparison(6, 3, 2), ComparisonLayout::default()).text();
        assert!(page.contains("with its 95 % interval") && page.contains(" … "), "{page}");
    }

    #[test]
    fn empty_and_single_comparisons_are_explained() {
        assert_eq!(
            page(&sample::comparison(0, 0, 0), ComparisonLayout::default()).text(),
            "Nothing to compare.\n"
        );
        let alone = page(&sample::comparison(1, 1, 2), ComparisonLayout::default()).text();
        assert!(alone.starts_with("One card") && !alone.contains("Pair by pair"), "{alone}");
    }
}
