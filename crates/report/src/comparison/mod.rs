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
    let orders = tables::orders(comparison, tables::number);
    if !orders.rows().is_empty() {
        section(&mut out, "Fastest first (> faster for sure, = alike, ? open)", &orders.to_string());
    }
    section(&mut out, "Which differences are real", &pairs(comparison));
    let jumps: String = words::jumps(comparison).iter().map(|line| format!("  {line}\n")).collect();
    section(&mut out, "Runs that jump between two levels", &jumps);
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

/// All pairs of few entries; of many only how the matter stands.
fn pairs(comparison: &Comparison) -> String {
    let Some(counted) = words::counted(comparison) else { return String::new() };
    let mut out = format!("{counted}\n");
    if comparison.entries.len() <= PAIRS_UP_TO {
        let _ = write!(out, "\n{}", tables::pairs(comparison, |_| true));
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
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn three_cards_stand_beside_each_other_with_what_is_sure_and_what_is_not() {
        insta::assert_snapshot!(text(&sample::comparison(3, 3, 2), How::default()), @r"
        3 beside each other

           card                measured
        1  Alder Swift 64GB    3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
        2  Birch Endure 128GB  3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
        3  Cedar 32GB          3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
           measured by: cdm8-default · 1 GiB · reader reader slot; more differs

        What differs besides the card
                 1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
        cooling             passive                active        active

        Average, MB/s: the mean of all runs, with its 95 % interval
        test                 1 Alder Swift 64GB   2 Birch Endure 128GB           3 Cedar 32GB
        SEQ1M Q8T1 read   57.80 (56.50 … 59.10)  63.37 (60.23 … 66.51)  66.21 (64.40 … 68.02)
        SEQ1M Q8T1 write  31.89 (15.98 … 47.80)  41.51 (41.01 … 42.01)                      –

        Worst, MB/s: the slowest run
        test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
        SEQ1M Q8T1 read                56.82                 60.88         65.28
        SEQ1M Q8T1 write               17.85                 41.08             –

        Best, MB/s: the fastest run
        test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
        SEQ1M Q8T1 read                58.81                 65.68         67.81
        SEQ1M Q8T1 write               39.82                 41.81             –

        Median, MB/s: the run in the middle
        test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
        SEQ1M Q8T1 read                57.78                 63.55         65.55
        SEQ1M Q8T1 write               38.00                 41.65             –

        Fastest first (> faster for sure, = alike, ? open)
        test              fastest first
        SEQ1M Q8T1 read   3 ? 2 ? 1
        SEQ1M Q8T1 write  2 > 1

        Which differences are real
        Of 4 pairs in single tests 2 differ for sure, 0 are alike, 2 cannot be told apart.

        test              pair     second against first      95 % interval  chance alone  what can be said
        SEQ1M Q8T1 read   1 and 2                +9.6 %   +5.2 % … +14.0 %         0.104  these two cannot be told apart; about 8 further runs of each may settle it
        SEQ1M Q8T1 read   1 and 3               +14.5 %  +10.0 % … +19.1 %         0.055  3 is faster
        SEQ1M Q8T1 read   2 and 3                +4.5 %    +0.3 % … +8.7 %         0.155  these two cannot be told apart; about 8 further runs of each may settle it
        SEQ1M Q8T1 write  1 and 2               +30.2 %  +25.0 % … +35.4 %   below 0.001  2 is faster; not by the card alone: cooling

        Runs that jump between two levels
          SEQ1M Q8T1 write of Alder Swift 64GB jumps between 17.66 MB/s (30 % of the runs) and 39.24 MB/s.

        What was noticed
        Hint: Not all cards were cooled alike. (cooling active and passive) Measure them once more under one fan.

        Where the figures are from
          1  logs/card-0.txt
          2  logs/card-1.txt
          3  logs/card-2.txt
        ");
    }

    #[test]
    fn a_card_s_own_tool_s_figures_are_shown_in_its_units_where_asked_for() {
        let mut comparison = sample::comparison(2, 3, 1);
        if let Some(spread) = &mut comparison.tests[0].spreads[0] {
            spread.as_printed = None;
        }
        let page = text(&comparison, How { as_printed: true, every_run: true });
        assert!(page.contains("Average as the tools print it"), "{page}");
        assert!(page.contains("MB/s ¹") && page.contains("no figure of the tool's own is known"), "{page}");
        assert!(page.contains("Every run, MB/s"), "{page}");
    }

    #[test]
    fn twenty_cards_fit_a_terminal_and_none_is_missing() {
        let comparison = sample::comparison(20, 10, 12);
        let page = text(&comparison, How::default());
        let tables = page.split("Which differences").next().unwrap();
        let widest = tables.lines().filter(|l| l.starts_with("SEQ") || l.starts_with("RND"));
        assert!(widest.clone().all(|line| line.chars().count() <= COLUMNS), "{page}");
        for number in 1..=20 {
            assert!(page.contains(&format!("  {number} ")), "{number}\n{page}");
        }
        assert!(page.contains("Of 2261 pairs"), "{page}");
    }

    #[test]
    fn nothing_to_compare_and_a_card_alone_say_so() {
        assert_eq!(text(&sample::comparison(0, 0, 0), How::default()), "There is nothing to compare.\n");
        let alone = text(&sample::comparison(1, 1, 2), How::default());
        assert!(alone.starts_with("One card") && !alone.contains("Which differences"), "{alone}");
    }
}
