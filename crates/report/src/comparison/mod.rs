//! `compare` for a terminal: figures beside each other, which differences are real, and what differs besides the card.
//!
//! The tables and sentences are shared with Markdown and the page; what they mean is told in `docs/comparing.md`.

pub mod tables;
pub mod words;

use crate::figure::NONE;
use crate::finding;
use crate::table::Table;
use cardscope_model::comparison::Comparison;
use std::fmt::Write;
use std::ops::Range;
use tables::NOT_PRINTED;
use words::Measure;

/// Entries up to which every pair is listed; beyond it, who is faster than whom stands in one line a test.
const PAIRS_UP_TO: usize = 4;

/// Columns of a terminal for which tables are divided.
const COLUMNS: usize = 110;

/// Characters of a card's name at the head of a column; its number tells it from others.
const NAME: usize = 18;

/// What the table of I/Os a second is called.
pub(crate) const IOPS: &str = "Average of the tests of 4 KiB, I/Os a second";

/// Files and addresses that are named for each entry.
const SOURCES: usize = 4;

/// How a comparison is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    /// The figures as the tools printed them, in the tools' units.
    pub as_printed: bool,
    /// Every run, below the tables.
    pub every_run: bool,
}

/// The comparison as people read it on a terminal.
#[must_use]
pub fn text(comparison: &Comparison, how: How) -> String {
    let mut out = head(comparison);
    if comparison.entries.is_empty() {
        return out;
    }
    section(&mut out, "What differs besides the card", &differences(comparison));
    for measure in Measure::ALL {
        section(&mut out, &heading(measure, how), &figures(comparison, measure, how));
    }
    section(&mut out, IOPS, &iops(comparison));
    if how.as_printed {
        out += &printed_note(comparison);
    }
    section(&mut out, "Fastest first (> faster for sure, = alike, ? not to be told)", &orders(comparison));
    section(&mut out, "Which differences are real", &pairs(comparison));
    section(&mut out, "Runs that jump between two levels", &levels(comparison));
    if how.every_run {
        section(&mut out, "Every run, MB/s, in the order of measuring", &every_run(comparison));
    }
    section(&mut out, "What was noticed", &finding::lines(&comparison.findings));
    section(&mut out, "Where the figures are from", &sources(comparison));
    out
}

pub(crate) fn section(out: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let _ = write!(out, "\n{title}\n{body}");
    }
}

fn head(comparison: &Comparison) -> String {
    let by = comparison.by.as_ref().map(|by| format!(", divided by {}", by.replace('_', " ")));
    let title = match comparison.entries.len() {
        0 => return "There is nothing to compare.\n".to_owned(),
        1 => "One card".to_owned(),
        n => format!("{n} beside each other"),
    };
    let (entries, common) = (tables::entries(comparison), words::common_setting(comparison));
    format!("{title}{}\n\n{entries}   measured by: {common}\n", by.unwrap_or_default())
}

fn heading(measure: Measure, how: How) -> String {
    let (word, meaning) = (measure.word(), measure.meaning());
    match (how.as_printed, measure) {
        (false, _) => format!("{word}, MB/s: {meaning}"),
        (true, Measure::Average) => format!("{word} as the tools print it: the mean of all runs"),
        (true, _) => format!("{word} as the tools print it: {meaning}"),
    }
}

/// Columns divided so that each table fits the terminal; at least one entry a table.
fn divided(entries: usize, table: impl Fn(Range<usize>) -> Table) -> String {
    let fits = |table: &Table| table.to_string().lines().all(|line| line.chars().count() <= COLUMNS);
    let mut out = String::new();
    let mut first = 0;
    while first < entries {
        let mut end = first + 1;
        while end < entries && fits(&table(first..end + 1)) {
            end += 1;
        }
        if first > 0 {
            out.push('\n');
        }
        let part = table(first..end);
        if !part.rows().is_empty() {
            out += &part.to_string();
        }
        first = end;
    }
    out
}

fn figures(comparison: &Comparison, measure: Measure, how: How) -> String {
    divided(comparison.entries.len(), |range| {
        tables::figures(comparison, measure, range, how.as_printed, NAME)
    })
}

fn iops(comparison: &Comparison) -> String {
    divided(comparison.entries.len(), |range| tables::iops(comparison, range, NAME))
}

fn differences(comparison: &Comparison) -> String {
    if comparison.differs.is_empty() {
        return String::new();
    }
    divided(comparison.entries.len(), |range| tables::differs(comparison, range, NAME))
}

/// What a figure is that stands among printed ones without being one.
fn printed_note(comparison: &Comparison) -> String {
    let spreads = comparison.tests.iter().flat_map(|t| t.spreads.iter().flatten());
    let own = if spreads.clone().any(|s| s.as_printed.is_none()) {
        format!(
            "\n{}  no figure of the tool's own is known: MB/s of 10^6 bytes, as measured.\n",
            NOT_PRINTED.trim()
        )
    } else {
        String::new()
    };
    format!(
        "\nA tool's MB/s need not be 10^6 bytes a second; without --as-printed all figures are in true MB/s.\n{own}"
    )
}

fn orders(comparison: &Comparison) -> String {
    let orders = comparison
        .tests
        .iter()
        .map(|test| (words::test(test), words::order(test, |entry| (entry + 1).to_string())));
    let mut table = Table::new(["test", "order"]).to_the_left([1]);
    orders.filter(|(_, order)| !order.is_empty()).for_each(|(test, order)| table.row([test, order]));
    if table.rows().is_empty() { String::new() } else { table.to_string() }
}

/// All pairs of few entries; of many only how the matter stands.
fn pairs(comparison: &Comparison) -> String {
    let Some(counted) = words::counted(comparison) else { return String::new() };
    let mut out = format!("{counted}\n");
    if comparison.entries.len() <= PAIRS_UP_TO {
        let _ = write!(out, "\n{}", tables::pairs(comparison, |_| true));
    }
    out
}

fn levels(comparison: &Comparison) -> String {
    let mut out = String::new();
    for test in &comparison.tests {
        for (entry, spread) in comparison.entries.iter().zip(&test.spreads) {
            if let Some(words) = spread.as_ref().and_then(words::levels) {
                let _ = writeln!(out, "  {} of {}: {words}.", words::test(test), entry.name);
            }
        }
    }
    out
}

fn every_run(comparison: &Comparison) -> String {
    let mut out = String::new();
    for test in &comparison.tests {
        let _ = writeln!(out, "  {}", words::test(test));
        for (number, spread) in test.spreads.iter().enumerate() {
            let Some(spread) = spread else { continue };
            let runs: Vec<String> = spread.runs.iter().map(|mb_s| crate::figure::speed(*mb_s)).collect();
            let runs = if runs.is_empty() { NONE.to_owned() } else { runs.join("  ") };
            let _ = writeln!(out, "    {:>2}  {runs}", number + 1);
        }
    }
    out
}

fn sources(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (number, entry) in comparison.entries.iter().enumerate().filter(|(_, e)| !e.sources.is_empty()) {
        let named: Vec<&str> = entry.sources.iter().take(SOURCES).map(String::as_str).collect();
        let more = entry.sources.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "  {}  {}{more}", number + 1, named.join(", "));
    }
    out
}

#[cfg(test)]
mod tests;
