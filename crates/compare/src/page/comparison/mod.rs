//! Page of `compare`: speeds side by side, real differences, and differences other than the card. Its parts are also in
//! publications; `docs/comparing.md` explains their meaning.

pub(crate) mod answer;
mod changes;
pub mod sentences;
pub mod tables;

use cardscope_model::comparison::{CardRemark, ComparedEntry, Comparison};
use cardscope_model::report::NewsTone;
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock, findings};
use sentences::RunMeasure;
use tables::NOT_PRINTED;

/// Most entries of which every pair is listed; for more, one line a test gives their order.
const MOST_PAIRED_ENTRIES: usize = 4;

/// Heading of the table of IOPS.
pub(crate) const IOPS_HEADING: &str = "IOPS of the 4 KiB tests";

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

pub fn comparison_page(comparison: &Comparison, how: ComparisonLayout) -> Page {
    let mut page = Page::from_answer(answer::comparison_answer(comparison));
    if comparison.entries.is_empty() {
        return page;
    }
    add_reasons(&mut page, comparison);
    add_overall(&mut page, comparison);
    add_figures(&mut page, comparison, how);
    add_differences(&mut page, comparison);
    add_compared(&mut page, comparison);
    add_levels(&mut page, comparison);
    if how.every_run {
        let runs = PageBlock::Lines(run_lines(comparison));
        page.add_section("Every run, MB/s, in the order of measuring", [runs]);
    }
    page.add_detail("Findings", [PageBlock::Remarks(findings::merge_findings(&comparison.findings))]);
    page.add_detail("Sources", [PageBlock::Lines(source_lines(comparison))]);
    page
}

/// Adds the certainty of the whole, and remarkable facts, as reasons.
pub(crate) fn add_reasons(page: &mut Page, comparison: &Comparison) {
    let said = [
        sentences::count_pairs(comparison),
        sentences::widest_test(comparison),
        sentences::area_effect_sentence(comparison),
    ];
    page.add_reasons(NewsTone::Plain, said.into_iter().flatten());
    changes::add_cooling(page, comparison);
    changes::add_changes(page, comparison);
}

/// Adds the overall result, and the differences between cards in each test.
pub(crate) fn add_overall(page: &mut Page, comparison: &Comparison) {
    let table = tables::overall_table(comparison);
    let tests = comparison.overall.first().map_or(0, |all| all.tests);
    let meaning = match tests {
        0 => String::new(),
        n => format!("Geometric mean over {}; \"best\" is the chance to be it.", pluralize(n, "test")),
    };
    page.add_section("All tests together", [PageBlock::Table(table), PageBlock::Words(meaning)]);
    let said = |remark: &CardRemark| format!("{}: {}.", remark.name, remark.words.join("; "));
    page.add_section("Remarks", [PageBlock::Lines(comparison.remarks.iter().map(said).collect())]);
    page.add_detail("How far the cards lie apart", [PageBlock::Table(tables::range_table(comparison))]);
    page.add_detail("Small against large test area", [PageBlock::Table(tables::area_table(comparison))]);
}

pub(crate) fn add_levels(page: &mut Page, comparison: &Comparison) {
    let sentences = PageBlock::Lines(sentences::two_level_sentences(comparison));
    page.add_detail("Runs that jump between two levels", [sentences]);
}

/// Adds the compared entries, and differences other than the card.
pub(crate) fn add_compared(page: &mut Page, comparison: &Comparison) {
    if comparison.entries.is_empty() {
        return;
    }
    let common = format!("Measured by: {}.", sentences::common_setting(comparison));
    let entries = PageBlock::Table(tables::entry_table(comparison));
    page.add_section("Compared", [entries, PageBlock::Words(common)]);
    page.add_detail("Also different", [PageBlock::Table(tables::difference_table(comparison))]);
    page.add_detail("Known of the cards", [PageBlock::Table(tables::details_table(comparison))]);
}

/// Adds the four figures of each test, and IOPS.
pub(crate) fn add_figures(page: &mut Page, comparison: &Comparison, how: ComparisonLayout) {
    for (number, measure) in RunMeasure::ALL.into_iter().enumerate() {
        let head = match how.as_printed {
            false => format!("{}, MB/s", measure.word()),
            true => format!("{} as the tools print it", measure.word()),
        };
        // Rows of many cards have no room for intervals, and printed figures have none.
        let has_intervals = number == 0 && !how.as_printed && sentences::has_intervals(comparison);
        let interval = if has_intervals { ", with its 95 % interval" } else { "" };
        let meaning = PageBlock::Words(format!("Figures: {}{interval}.", measure.meaning()));
        let table = tables::figure_table(comparison, measure, how.as_printed);
        match (table.rows().is_empty(), number) {
            (true, _) => {}
            // With one run each, the worst is the best.
            (false, 1..) if !has_several_runs(comparison) => {}
            (false, 0) => page.add_section(&head, [PageBlock::Table(table), meaning]),
            (false, _) => page.add_detail(&head, [PageBlock::Table(table), meaning]),
        }
    }
    page.add_detail(tables::BUS_HEADING, [PageBlock::Table(tables::bus_table(comparison))]);
    page.add_detail(IOPS_HEADING, [PageBlock::Table(tables::iops_table(comparison))]);
    page.add_detail(tables::LATENCY_HEADING, [PageBlock::Table(tables::latency_table(comparison))]);
    if how.as_printed {
        let true_ones = "A tool's MB/s need not be 10^6 bytes a second; without --as-printed all figures are in true MB/s.";
        let unknown = comparison.tests.iter().flat_map(|t| t.spreads.iter().flatten());
        let mark = NOT_PRINTED.trim();
        let own =
            || format!("{mark}  no figure of the tool's own is known: MB/s of 10^6 bytes, as measured.");
        let own = unknown.into_iter().any(|spread| spread.as_printed.is_none()).then(own);
        page.add_section("", [true_ones.to_owned()].into_iter().chain(own).map(PageBlock::Words));
    }
}

/// True if any test of any entry was run more than once.
fn has_several_runs(comparison: &Comparison) -> bool {
    comparison.tests.iter().flat_map(|test| test.spreads.iter().flatten()).any(|spread| spread.n > 1)
}

/// Adds the order of the entries in each test, and the pairs.
pub(crate) fn add_differences(page: &mut Page, comparison: &Comparison) {
    let orders = tables::order_table(comparison, tables::entry_number);
    page.add_detail("Fastest first (> at least likely, = equal, ? open)", [PageBlock::Table(orders)]);
    if comparison.entries.len() <= MOST_PAIRED_ENTRIES {
        page.add_detail("Pair by pair", [PageBlock::Table(tables::pair_table(comparison, |_| true))]);
    }
}

fn run_lines(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for test in &comparison.tests {
        lines.push(sentences::test_title(test));
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
        sample::assert_same_sample(
            "compared.txt",
            &comparison_page(&sample::comparison(3, 3, 2), ComparisonLayout::default()).to_text(),
        );
    }

    #[test]
    fn printed_figures_are_shown_in_the_tools_units() {
        let mut comparison = sample::comparison(2, 3, 1);
        if let Some(spread) = &mut comparison.tests[0].spreads[0] {
            spread.as_printed = None;
        }
        let page =
            comparison_page(&comparison, ComparisonLayout { as_printed: true, every_run: true }).to_text();
        assert!(page.contains("Average as the tools print it"), "{page}");
        assert!(page.contains("MB/s ¹") && page.contains("no figure of the tool's own is known"), "{page}");
        assert!(page.contains("Every run, MB/s"), "{page}");
    }

    #[test]
    fn page_of_twenty_cards_fits_80_columns() {
        let comparison = sample::comparison(20, 10, 12);
        let page = comparison_page(&comparison, ComparisonLayout::default()).to_text();
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        for number in 1..=20 {
            assert!(page.contains(&format!("  {number} ")), "{number}\n{page}");
        }
        assert!(page.contains("2261 comparisons of two cards"), "{page}");
    }

    #[test]
    fn six_entries_have_rows_with_intervals() {
        let table = tables::figure_table(&sample::comparison(6, 3, 2), RunMeasure::Average, false);
        assert_eq!(table.rows().len(), 6);
        let page = comparison_page(&sample::comparison(6, 3, 2), ComparisonLayout::default()).to_text();
        assert!(page.contains("with its 95 % interval") && page.contains(" … "), "{page}");
    }

    #[test]
    fn empty_and_single_comparisons_are_explained() {
        assert_eq!(
            comparison_page(&sample::comparison(0, 0, 0), ComparisonLayout::default()).to_text(),
            "Nothing to compare.\n"
        );
        let alone = comparison_page(&sample::comparison(1, 1, 2), ComparisonLayout::default()).to_text();
        assert!(alone.starts_with("One card") && !alone.contains("Pair by pair"), "{alone}");
    }
}
