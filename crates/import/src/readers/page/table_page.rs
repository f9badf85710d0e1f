//! Tables of results in pages and posts: Markdown with a line of dashes below the headings. Tests may be in rows or in
//! columns, and so may cards; operation and unit may be in a heading, next to the test or in the cell.
//!
//! A heading of test words only names a test, any other one a card. Headings without a result become a doubt.

use super::described::parse_description;
use super::markdown::{parse_heading, strip_markup};
use super::table_label::{TestLabel, parse_label};
use crate::readers::{LogText, ReaderOutcome, RunBuilder, parse_amount};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use std::collections::BTreeSet;

/// Headings without a result that a doubt names.
const MOST_NAMED: usize = 8;

/// A table with the heading above it.
struct PageTable {
    above: Option<String>,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// True if tables hold two results or more.
pub(crate) fn recognise(text: &LogText) -> bool {
    let figures = |log: &CardLog| log.runs.iter().map(|run| run.results.len()).sum::<usize>();
    let is_table = text.head().lines().any(is_rule);
    is_table && read_tables(text).iter().map(figures).sum::<usize>() >= 2
}

/// Reads the text; each card is a log. A table without card names belongs to the heading above it.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    Ok(read_tables(text))
}

fn read_tables(text: &LogText) -> Vec<CardLog> {
    let mut cards: Vec<(Option<String>, CardLog, RunBuilder)> = Vec::new();
    for table in find_tables(text) {
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for row in &table.rows {
            for (card, figure, heads) in row_results(&table, row) {
                let same = |(name, log, _): &(Option<String>, CardLog, RunBuilder)| {
                    *name == card && (card.is_some() || log.part == table.above)
                };
                let at = cards.iter().position(same).unwrap_or_else(|| {
                    cards.push((card.clone(), card_log(card.as_deref(), &table), RunBuilder::default()));
                    cards.len() - 1
                });
                cards[at].2.add_figure(figure);
                used.extend(heads);
            }
        }
        let all = table.heads.iter().skip(1).chain(table.rows.iter().filter_map(|row| row.first()));
        let unused = all.map(String::as_str).filter(|head| !head.is_empty() && !used.contains(head));
        let unused: Vec<&str> = unused.collect();
        if let Some((_, log, _)) = cards.last_mut().filter(|_| !unused.is_empty() && !used.is_empty()) {
            let more = if unused.len() > MOST_NAMED { " …" } else { "" };
            let named = unused[..unused.len().min(MOST_NAMED)].join("; ");
            log.doubts.push(format!("not understood in a table: {named}{more}"));
        }
    }
    cards.into_iter().map(|(_, log, runs)| CardLog { runs: runs.finish(), ..log }).collect()
}

fn card_log(card: Option<&str>, table: &PageTable) -> CardLog {
    let part = card.map(str::to_owned).or_else(|| table.above.clone());
    let card = card.map(|name| parse_description(name).card).unwrap_or_default();
    let doubt = "MB/s in the table are taken for 10^6 bytes/s, hdparm's for 2^20".to_owned();
    CardLog { card, part, doubts: vec![doubt], ..CardLog::default() }
}

/// Card, if it is named, a result of it, and the headings that describe the result.
type CardResult<'t> = (Option<String>, TestFigure, [&'t str; 2]);

fn row_results<'t>(table: &'t PageTable, row: &'t [String]) -> Vec<CardResult<'t>> {
    let Some(first) = row.first() else { return Vec::new() };
    let corner = table.heads.first().and_then(|head| parse_label(head)).unwrap_or_default();
    let of_row = parse_label(first).filter(|said| !first.is_empty() && *said != TestLabel::default());
    let mut found: Vec<CardResult<'_>> = Vec::new();
    for (head, cell) in table.heads.iter().zip(row).skip(1) {
        let of_column = parse_label(head).filter(|said| *said != TestLabel::default());
        let (card, said) = match (&of_row, of_column) {
            (Some(row), Some(column)) => (None, row.or(&column)),
            (Some(row), None) if !head.is_empty() => (Some(head.clone()), row.clone()),
            (None, Some(column)) if !first.is_empty() => (Some(first.clone()), column),
            _ => continue,
        };
        let cell = cell.trim_start_matches(['~', '≈', ' ']);
        let Some(printed) = parse_amount(cell) else { continue };
        let said = said.or(&corner);
        let Some(test) = said.test_name() else { continue };
        let unit = Some(printed.unit).filter(|u| !u.is_empty()).or(said.unit.as_deref()).unwrap_or_default();
        let is_iops = unit.eq_ignore_ascii_case("iops");
        let same = found.iter_mut().find(|(known, f, _)| is_iops && *known == card && f.name() == test);
        match same {
            // Speed and IOPS of one test are one result.
            Some((_, figure, heads)) => (figure.iops, heads[1]) = (Some(printed.value), head),
            None => {
                let figure = said.to_figure(test, printed.value, unit);
                found.extend(figure.map(|figure| (card, figure, [first.as_str(), head.as_str()])));
            }
        }
    }
    found
}

fn find_tables(text: &LogText) -> Vec<PageTable> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut tables = Vec::new();
    let mut above = None;
    for (at, line) in lines.iter().enumerate() {
        above = parse_heading(line).map(|(_, title)| strip_markup(title)).or(above);
        if !is_rule(line) || at == 0 || !lines[at - 1].contains('|') {
            continue;
        }
        let rows = lines[at + 1..].iter().take_while(|line| line.contains('|') && !is_rule(line));
        tables.push(PageTable {
            above: above.clone(),
            heads: split_cells(lines[at - 1]),
            rows: rows.map(|row| split_cells(row)).collect(),
        });
    }
    tables
}

/// `| --- | :---: |`
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.contains('|') && line.trim().chars().all(|c| "|-: \t".contains(c))
}

fn split_cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(strip_markup).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(text: &str) -> Vec<(String, Vec<String>)> {
        let words = |figure: &TestFigure| {
            let iops = figure.iops.map(|iops| format!(" {iops} IOPS")).unwrap_or_default();
            format!("{} {:.2}{iops}", figure.name(), figure.mb_s)
        };
        let of = |log: &CardLog| {
            let figures = log.runs.iter().flat_map(|run| &run.results).map(words).collect();
            (log.part.clone().unwrap_or_default(), figures)
        };
        read_tables(&LogText::from_decoded(text)).iter().map(of).collect()
    }

    #[test]
    fn tests_in_rows_and_operations_in_columns() {
        let found = read_of(
            "## Swift 64GB\n| Test | Read (MB/s) | Write |\n|---|---:|:-:|\n| SEQ1M Q8T1 | **92.9** | 61.3 MB/s |\n| Random 4KiB (QD=32) | 8.5 | - |\n",
        );
        let results = ["SEQ1M Q8T1 read 92.90", "SEQ1M Q8T1 write 61.30", "RND4K Q32T1 read 8.50"];
        assert_eq!(found, [("Swift 64GB".to_owned(), results.map(str::to_owned).to_vec())]);
    }

    #[test]
    fn cards_in_rows_and_tests_in_columns() {
        let text = "Card | hdparm buffered | 4K rand read | Price\n--- | --- | --- | ---\n[Acme Swift 32GB](http://x) | 40.0 MB/s | 8.5 MB/s | $7\n| Other Go 64GB | 41.0 MB/s | 2300 IOPS | $9 |\n";
        let found = read_of(text);
        let acme = ["SEQ2M Q1T1 read 41.94", "RND4K Q1T1 read 8.50"].map(str::to_owned).to_vec();
        let other = ["SEQ2M Q1T1 read 42.99", "RND4K Q1T1 read 9.42 2300 IOPS"].map(str::to_owned).to_vec();
        assert_eq!(found, [("Acme Swift 32GB".to_owned(), acme), ("Other Go 64GB".to_owned(), other)]);
        let logs = read_tables(&LogText::from_decoded(text));
        assert_eq!(logs[0].card.brand.as_deref(), Some("Acme"));
        assert!(logs[1].doubts.iter().any(|doubt| doubt.ends_with("table: Price")), "{:?}", logs[1].doubts);
    }

    #[test]
    fn cards_in_columns_and_other_headings_are_named() {
        let text = "|  | Acme Swift | Acme Go |\n|---|---|---|\n| SEQ1M Q8T1 read (MB/s) | 92,9 | 95.1 |\n| RND4K Q1T1 write (IOPS) | 2500 | n/a |\n| fun | 3 | 4 |\n";
        let found = read_of(text);
        assert_eq!(found[0].1, ["SEQ1M Q8T1 read 92.90", "RND4K Q1T1 write 10.24 2500 IOPS"]);
        assert_eq!(found[1].1, ["SEQ1M Q8T1 read 95.10"]);
        assert!(
            read_tables(&LogText::from_decoded(text))[1]
                .doubts
                .iter()
                .any(|doubt| doubt.ends_with("table: fun"))
        );
    }

    #[test]
    fn speed_and_iops_of_one_test_are_one_result() {
        let found = read_of("| test | MB/s | IOPS |\n|---|---|---|\n| RND4K Q1T1 read | 9.42 | 2300 |\n");
        assert_eq!(found[0].1, ["RND4K Q1T1 read 9.42 2300 IOPS"]);
    }

    #[test]
    fn tables_without_tests_have_no_results() {
        for text in [
            "| Board | RAM |\n|---|---|\n| Pi 4 | 1 GB |\n| Pi 5 | 8 GB |\n",
            "| read | write |\n|---|---|\n| 5 | 6 |\n",
            "| test | Acme |\n|---|---|\n| SEQ1M Q8T1 read | 93 |\n",
            "a | b\n--|--\n",
        ] {
            assert!(read_of(text).iter().all(|(_, figures)| figures.is_empty()), "{text}");
            assert!(!recognise(&LogText::from_decoded(text)), "{text}");
        }
    }
}
