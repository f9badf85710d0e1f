//! Tables of a comparison, with one layout for terminal, Markdown and HTML: speeds by test and entry, pairs, and differences
//! other than the card.

use super::sentences::{self, RunMeasure};
use crate::page::details;
use cardscope_model::comparison::{
    AreaEffect, ComparedEntry, ComparedPair, ComparedTest, Comparison, EntryLatency, SettingDifference,
    Spread,
};
use cardscope_model::result::ToolPrints;
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::IoOrder;
use cardscope_model::units::{BinarySize, KIB, NO_NUMBER as NONE, three_digits as speed};
use cardscope_page::figure::{format_printed, interval_text, percent, test_with_step, time_us};
use cardscope_page::tree::table::Table;

/// Marks a speed in MB/s if the tool's printed one is wanted, but unknown.
pub(crate) const NOT_PRINTED: &str = " ¹";

/// Table with a column for each entry, headed by its number and name.
pub(super) fn entry_columns(comparison: &Comparison, first: &str) -> Table {
    let heads = comparison.entries.iter().enumerate().map(|(i, entry)| format!("{} {}", i + 1, entry.name));
    Table::new([first.to_owned()].into_iter().chain(heads)).side_by_side()
}

/// A figure of each test for each entry: in MB/s with the interval of the average, or as the tools printed it.
pub fn figure_table(comparison: &Comparison, measure: RunMeasure, as_printed: bool) -> Table {
    if sentences::has_entry_rows(comparison) && !as_printed {
        return rows_by_card(comparison, measure);
    }
    let mut table = entry_columns(comparison, "test");
    for test in comparison.tests.iter().filter(|test| test.spreads.iter().any(Option::is_some)) {
        let cells = test.spreads.iter().map(|spread| figure_cell(spread.as_ref(), measure, as_printed));
        table.add_row([sentences::test_title(test)].into_iter().chain(cells));
    }
    table
}

/// Overall result, best first; empty without a test that all entries have.
pub fn overall_table(comparison: &Comparison) -> Table {
    let table = Table::from_items(
        &comparison.overall,
        &[
            ("card", &|all| all.name.clone()),
            ("of the best", &|all| format!("{:.0} %", 100.0 * all.factor_to_best)),
            ("95 % interval", &|all| match all.ci95 {
                [low, high] if low < high => {
                    interval_text([low, high], |end| format!("{:.0} %", 100.0 * end))
                }
                _ => String::new(),
            }),
            ("fastest in", &|all| format!("{} of {}", all.wins, all.tests)),
            ("best", &|all| percent(all.probability_best)),
        ],
    );
    table.left_aligned(["card"])
}

/// Averages in MB/s with a row for each card, in the order of the overall result.
fn rows_by_card(comparison: &Comparison, measure: RunMeasure) -> Table {
    let tests = comparison.tests.iter().filter(|test| test.spreads.iter().any(Option::is_some));
    let tests: Vec<_> = tests.collect();
    let heads = tests.iter().map(|test| sentences::test_title(test));
    let mut table = Table::new(["card".to_owned()].into_iter().chain(heads));
    let rank = |name: &str| comparison.overall.iter().position(|all| all.name == name);
    let mut order: Vec<usize> = (0..comparison.entries.len()).collect();
    order.sort_by_key(|entry| rank(&comparison.entries[*entry].name).unwrap_or(usize::MAX));
    for entry in order {
        let figure = |spread: &Option<Spread>| match spread {
            Some(spread) if !sentences::has_intervals(comparison) => speed(measure.value_in(spread)),
            spread => figure_cell(spread.as_ref(), measure, false),
        };
        let cells = tests.iter().map(|test| figure(&test.spreads[entry]));
        table.add_row([comparison.entries[entry].name.clone()].into_iter().chain(cells));
    }
    table.left_aligned(["card"]).side_by_side()
}

/// Fastest and slowest card of each test, and their ratio; needs at least three cards.
pub fn range_table(comparison: &Comparison) -> Table {
    let side = |mb_s: f64, name: &str| format!("{} ({name})", speed(mb_s));
    let table = Table::from_items(
        &comparison.apart,
        &[
            ("test", &|apart| test_with_step(apart.test, apart.step.as_deref())),
            ("fastest", &|apart| side(apart.fastest_mb_s, &apart.fastest)),
            ("slowest", &|apart| side(apart.slowest_mb_s, &apart.slowest)),
            ("factor", &|apart| format!("× {}", sentences::fold_text(apart.factor))),
        ],
    );
    table.left_aligned(["fastest", "slowest"])
}

/// Effect of a large test area on each card, in percent of the speed over the small one.
pub fn area_table(comparison: &Comparison) -> Table {
    let test = |effect: &AreaEffect| test_with_step(effect.test, effect.step.as_deref());
    let tests = distinct_values(comparison.areas.iter().map(test));
    let mut table =
        Table::new(["card".to_owned(), "area".to_owned()].into_iter().chain(tests.iter().cloned()));
    for own in comparison.areas.chunk_by(|a, b| a.name == b.name) {
        let [small, large] = own[0].bytes.map(BinarySize);
        let cell = |wanted: &String| {
            let found = own.iter().find(|effect| test(effect) == *wanted);
            found.map_or(NONE.to_owned(), |effect| match 100.0 * (effect.large_area_share() - 1.0) {
                percent if percent.abs() < 0.5 => "0 %".to_owned(),
                percent => format!("{percent:+.0} %"),
            })
        };
        let head = [own[0].name.clone(), format!("{small}, {large}")];
        table.add_row(head.into_iter().chain(tests.iter().map(cell)));
    }
    table.left_aligned(["card", "area"]).side_by_side()
}

/// Means as shares of the best in each test, as a heat map; empty if nothing can be compared.
pub fn relative_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    for test in &comparison.tests {
        let mean =
            |spread: &Option<Spread>| spread.as_ref().map(|s| s.mean).filter(|m| m.is_finite() && *m > 0.0);
        let means: Vec<Option<f64>> = test.spreads.iter().map(mean).collect();
        let best = means.iter().flatten().copied().fold(0.0, f64::max);
        if means.iter().flatten().count() > 1 {
            let cell = |mean: &Option<f64>| match mean {
                Some(mean) => (format!("{:.0} %", mean / best * 100.0), Some(mean / best)),
                None => (NONE.to_owned(), None),
            };
            let head = (sentences::test_title(test), None);
            table.add_heat_row([head].into_iter().chain(means.iter().map(cell)));
        }
    }
    table
}

fn figure_cell(spread: Option<&Spread>, measure: RunMeasure, as_printed: bool) -> String {
    let Some(spread) = spread else { return NONE.to_owned() };
    if as_printed {
        return match &spread.as_printed {
            Some(own) => printed_text(measure.printed_in(own)),
            None => format!("{} MB/s{NOT_PRINTED}", speed(measure.value_in(spread))),
        };
    }
    let figure = speed(measure.value_in(spread));
    match (measure, spread.ci95) {
        (RunMeasure::Average, Some(ends)) => format!("{figure} ({})", interval_text(ends, speed)),
        _ => figure,
    }
}

/// IOPS at the mean of the 4 KiB tests, whose results are usually given so.
pub fn iops_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    for test in comparison.tests.iter().filter(|test| test.test.pattern.block == 4 * KIB) {
        let cell = |spread: &Option<Spread>| spread.as_ref()?.iops.map(speed);
        let cells: Vec<Option<String>> = test.spreads.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
            table.add_row([sentences::test_title(test)].into_iter().chain(cells));
        }
    }
    table
}

fn printed_text(prints: &ToolPrints) -> String {
    format!("{} {}", format_printed(prints.value), prints.unit).trim_end().to_owned()
}

/// Entries of each test, fastest first, by these names.
pub fn order_table(comparison: &Comparison, name: impl Fn(usize) -> String) -> Table {
    let mut table = Table::new(["test", "fastest first"]).left_aligned(["fastest first"]);
    for test in &comparison.tests {
        let order = sentences::order_with_signs(test, &name);
        if !order.is_empty() {
            table.add_row([sentences::test_title(test), order]);
        }
    }
    table
}

/// Number that stands for an entry where its name does not fit.
pub fn entry_number(entry: usize) -> String {
    (entry + 1).to_string()
}

/// Pairs of entries for each test: speed of the second relative to the first, certainty, and result.
pub fn pair_table(comparison: &Comparison, wanted: impl Fn(&ComparedPair) -> bool) -> Table {
    let head = ["test", "pair", "second vs first", "95 % interval", "p", "result"];
    let mut table = Table::new(head).left_aligned(["pair", "result"]).least_important(["p", "95 % interval"]);
    for test in &comparison.tests {
        for pair in test.pairs.iter().filter(|pair| wanted(pair)) {
            table.add_row([
                sentences::test_title(test),
                format!("{} and {}", pair.first + 1, pair.second + 1),
                sentences::relative_speed(pair),
                sentences::percent_interval(pair),
                pair.p.map(sentences::p_value_text).unwrap_or_default(),
                sentences::pair_result(pair, entry_number),
            ]);
        }
    }
    table.drop_blank_columns();
    table
}

/// Differences between the entries other than the card.
pub fn difference_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "");
    for SettingDifference { what, values } in &comparison.differs {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        table.add_row([what.replace('_', " ")].into_iter().chain(values.iter().map(value)));
    }
    table
}

/// Entries with their names and the amount of measurements.
pub fn entry_table(comparison: &Comparison) -> Table {
    let mut table = Table::new(["", "card", "measured"]).left_aligned(["card", "measured"]);
    for (number, entry) in comparison.entries.iter().enumerate() {
        table.add_row([(number + 1).to_string(), entry.name.clone(), sentences::measured_amount(entry)]);
    }
    table
}

/// Heading of [`table`].
pub(super) const LATENCY_HEADING: &str = "Latency: mean / 99 % / longest";

/// Table with a row for each test that has latencies.
pub(super) fn latency_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    for test in &comparison.latencies {
        let cells = test.entries.iter().map(|e| e.as_ref().map_or_else(|| NONE.to_owned(), latency_cell));
        table.add_row([test_with_step(test.test, test.step.as_deref())].into_iter().chain(cells));
    }
    table
}

fn latency_cell(latency: &EntryLatency) -> String {
    let known = |us: Option<f64>| us.map_or_else(|| NONE.to_owned(), time_us);
    [Some(latency.mean_us), latency.percentiles_us.p99, latency.max_us].map(known).join(" / ")
}

/// Heading of [`table`].
pub(super) const BUS_HEADING: &str = "Share of the bus in sequential tests";

/// Limit of each bus, then a row for each sequential test; empty if no bus is known.
pub(super) fn bus_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    let ceilings: Vec<Option<f64>> = comparison.entries.iter().map(ComparedEntry::bus_ceiling_mb_s).collect();
    let shown = |value: Option<String>| value.unwrap_or_else(|| NONE.to_owned());
    let sequential = comparison.tests.iter().filter(|test| test.test.pattern.order == IoOrder::Sequential);
    let share =
        |(s, c): (&Option<Spread>, &Option<f64>)| Some(format!("{:.0} %", 100.0 * s.as_ref()?.mean / (*c)?));
    let shares = |test: &ComparedTest| test.spreads.iter().zip(&ceilings).map(share).collect();
    let rows: Vec<Vec<Option<String>>> = sequential.clone().map(shares).collect();
    if rows.iter().flatten().all(Option::is_none) {
        return table;
    }
    let carries = ceilings.iter().map(|ceiling| shown(ceiling.map(|mb_s| format!("{} MB/s", speed(mb_s)))));
    table.add_row(["bus".to_owned()].into_iter().chain(carries));
    for (test, row) in sequential.zip(rows).filter(|(_, row)| row.iter().any(Option::is_some)) {
        table.add_row([sentences::test_title(test)].into_iter().chain(row.into_iter().map(shown)));
    }
    table
}

fn entry_facts(comparison: &Comparison, entry: &ComparedEntry) -> Vec<(String, String)> {
    let firmware = entry.card.firmware.clone().map(|firmware| ("firmware".to_owned(), firmware));
    let details = comparison.details.get(&entry.card_id).into_iter();
    let known = details.flat_map(|d| details::detail_facts(d).into_iter().chain(details::heat_facts(d)));
    firmware.into_iter().chain(known).collect()
}

/// Table with a row for each detail of any card; the columns of one card repeat its details.
pub(super) fn details_table(comparison: &Comparison) -> Table {
    let known = comparison.entries.iter().map(|entry| entry_facts(comparison, entry));
    let known: Vec<Vec<(String, String)>> = known.collect();
    let mut table = entry_columns(comparison, "");
    for name in distinct_values(known.iter().flatten().map(|(name, _)| name)) {
        let of = |facts: &Vec<(String, String)>| {
            let value = facts.iter().find(|(known, _)| known == name);
            value.map_or(NONE.to_owned(), |(_, value)| value.clone())
        };
        table.add_row([name.clone()].into_iter().chain(known.iter().map(of)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::ConditionOrigin;
    use cardscope_testkit::samples as sample;

    #[test]
    fn bus_share_needs_a_known_bus() {
        let mut two = sample::comparison(2, 3, 12);
        for (entry, mode) in two.entries.iter_mut().zip(["PCIe 3.0 x1", "unknown"]) {
            entry
                .settings
                .iter_mut()
                .for_each(|s| s.condition.set("bus_mode", mode, ConditionOrigin::Stated));
        }
        let sequential = |test: &&mut cardscope_model::comparison::ComparedTest| {
            test.test.pattern.order == IoOrder::Sequential
        };
        let first = two.tests.iter_mut().find(sequential).unwrap();
        first.spreads[0].as_mut().unwrap().mean = 778.0;
        let name = sentences::test_title(first);
        let table = bus_table(&two);
        let row = |of: &str| table.rows().iter().find(|row| row[0] == of).cloned().unwrap();
        assert_eq!(row("bus")[1..], ["985 MB/s", NONE]);
        assert_eq!(row(&name)[1..], ["79 %", NONE]);
        assert!(table.rows().iter().all(|row| !row[0].starts_with("RND")), "random tests never fill a bus");
    }

    #[test]
    fn mixed_buses_have_no_share() {
        let mut two = sample::comparison(2, 3, 12);
        for entry in &mut two.entries {
            let mut other = entry.settings[0].clone();
            entry.settings[0].condition.set("bus_mode", "SDR50", ConditionOrigin::Stated);
            other.condition.set("bus_mode", "SDR104", ConditionOrigin::Stated);
            entry.settings.push(other);
        }
        assert!(bus_table(&two).rows().is_empty());
    }
}
