//! Text tables within a given width: first words are wrapped, then the least important columns are dropped, and what
//! still does not fit is stacked. No word is cut.

use super::table::{FIRST_DROPPED, NEVER_DROPPED, Table};
use crate::figure::{unbreakable_words, wrap_text};
use unicode_width::UnicodeWidthStr;

#[derive(Default)]
pub(crate) struct TableLines {
    /// The first `heads` lines are the head.
    pub(crate) lines: Vec<String>,
    pub(crate) heads: usize,
    /// Heads of the columns that were dropped.
    pub(crate) dropped_heads: Vec<String>,
}

/// Blanks between two columns.
const COLUMN_GAP: usize = 2;

/// Least width of a text column that is wrapped to make room for another column.
const MIN_TEXT_COLUMN: usize = 16;

/// Columns that a text takes on a terminal.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Pads a text with blanks, after it or before it.
pub(crate) fn pad_text(text: &str, columns: usize, behind: bool) -> String {
    let blanks = " ".repeat(columns.saturating_sub(display_width(text)));
    if behind { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
}

/// Lays out a table. Side-by-side tables are divided into several if they are too wide.
pub(crate) fn lay_out_table_parts(table: &Table, columns: usize) -> Vec<TableLines> {
    if table.is_side_by_side() { divide_table(table, columns) } else { vec![lay_out_table(table, columns)] }
}

fn lay_out_table(table: &Table, columns: usize) -> TableLines {
    let mut shown: Vec<usize> = (0..table.columns().len()).collect();
    let mut left_out: Vec<usize> = Vec::new();
    loop {
        let part = table.select_columns(&shown);
        let importance = |c: &usize| table.columns()[*c].importance;
        let least = shown.iter().copied().filter(|c| importance(c) < NEVER_DROPPED).min_by_key(importance);
        // Text is wrapped to keep important columns, but not to keep those that are dropped first.
        let spare = least.filter(|c| importance(c) < FIRST_DROPPED && !fits(&part, columns));
        let widths = if spare.is_some() { None } else { fitting_widths(&part, columns) };
        if let Some(widths) = widths {
            left_out.sort_unstable();
            let left_out = left_out.iter().map(|c| table.columns()[*c].head.clone()).collect();
            return TableLines { dropped_heads: left_out, ..lay_out_rows(&part, &widths) };
        }
        let Some(least) = least else {
            return stack_rows(&part, columns);
        };
        shown.retain(|c| *c != least);
        left_out.push(least);
    }
}

/// True if the table fits without wrapping.
fn fits(table: &Table, columns: usize) -> bool {
    fitting_widths(table, columns).is_some_and(|widths| {
        let cells = |c: usize| table.rows().iter().filter_map(move |row| row.get(c));
        widths.iter().enumerate().all(|(c, room)| cells(c).all(|cell| display_width(cell) <= *room))
    })
}

/// Divides a side-by-side table into tables of at least one column besides the first.
fn divide_table(table: &Table, columns: usize) -> Vec<TableLines> {
    let (mut parts, mut first, all) = (Vec::new(), 1, table.columns().len());
    while first < all {
        let fits = |end: &usize| fitting_widths(&table.column_range(first..*end), columns).is_some();
        let end = (first + 2..=all).take_while(fits).last().unwrap_or(first + 1);
        let part = table.column_range(first..end);
        let widths = fitting_widths(&part, columns);
        parts.push(widths.map_or_else(|| stack_rows(&part, columns), |widths| lay_out_rows(&part, &widths)));
        first = end;
    }
    parts
}

/// Column widths within the limit, or None. The widest text columns are narrowed first.
fn fitting_widths(table: &Table, columns: usize) -> Option<Vec<usize>> {
    let head = |c: usize| table.columns().get(c).map_or("", |column| column.head.as_str());
    let cells = |c: usize| table.rows().iter().filter_map(move |row| row.get(c)).map(String::as_str);
    let longest = |text: &str| unbreakable_words(text).iter().map(|w| display_width(w)).max().unwrap_or(0);
    let widest = |c: usize| {
        // The heads of a side-by-side table may wrap.
        let head = match table.is_side_by_side() {
            true => longest(head(c)).max(MIN_TEXT_COLUMN.min(display_width(head(c)))),
            false => display_width(head(c)),
        };
        cells(c).map(display_width).fold(head, usize::max)
    };
    let longest_word = |c: usize| cells(c).map(longest).fold(longest(head(c)), usize::max);
    let mut widths: Vec<usize> = (0..table.columns().len()).map(widest).collect();
    let gaps = COLUMN_GAP * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
    let mut text: Vec<usize> = (0..widths.len()).filter(|c| table.columns()[*c].words).collect();
    text.sort_by_key(|c| std::cmp::Reverse(widths[*c]));
    for c in text {
        let least = longest_word(c).max(MIN_TEXT_COLUMN.min(widths[c]));
        let take = over.min(widths[c].saturating_sub(least));
        widths[c] -= take;
        over -= take;
    }
    (over == 0).then_some(widths)
}

fn lay_out_rows(table: &Table, widths: &[usize]) -> TableLines {
    let head: Vec<String> = table.columns().iter().map(|column| column.head.clone()).collect();
    let mut lines = row_lines(table, &head, widths);
    let heads = lines.len();
    lines.extend(table.rows().iter().flat_map(|cells| row_lines(table, cells, widths)));
    TableLines { lines, heads, ..TableLines::default() }
}

/// Lines of a row, several if a cell wraps.
fn row_lines(table: &Table, cells: &[String], widths: &[usize]) -> Vec<String> {
    let parts = |(cell, width): (&String, &usize)| match display_width(cell) > *width {
        true => wrap_text(cell, *width),
        false => vec![cell.clone()],
    };
    let cells: Vec<Vec<String>> = cells.iter().zip(widths).map(parts).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    let line = |n: usize| {
        let cell = |(c, parts): (usize, &Vec<String>)| {
            let words = table.columns().get(c).is_some_and(|column| column.words);
            pad_text(parts.get(n).map_or("", String::as_str), widths[c], words)
        };
        let line = cells.iter().enumerate().map(cell).collect::<Vec<_>>().join(&" ".repeat(COLUMN_GAP));
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// Each row as a block of heads and values, for tables that are too wide even without the optional columns.
fn stack_rows(table: &Table, columns: usize) -> TableLines {
    let (mut lines, indent) = (Vec::new(), " ".repeat(COLUMN_GAP));
    for cells in table.rows() {
        lines.extend(cells.iter().take(1).flat_map(|name| wrap_text(name, columns)));
        let named = table.columns().iter().zip(cells).skip(1).filter(|(_, cell)| !cell.is_empty());
        let texts = named.map(|(column, cell)| format!("{}: {cell}", column.head));
        let wrapped = texts.flat_map(|text| wrap_text(&text, columns - COLUMN_GAP));
        lines.extend(wrapped.map(|line| format!("{indent}{line}")));
    }
    TableLines { lines, ..TableLines::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> Table {
        let mut table = Table::new(["test", "MB/s", "IOPS", "longest", "what can be said"])
            .left_aligned(["what can be said"])
            .least_important(["longest"])
            .never_dropped(["MB/s"]);
        table.add_row([
            "SEQ1M Q8T1 read",
            "20.4",
            "19.5",
            "1.20 ms",
            "the first card is faster than the second",
        ]);
        table.add_row(["RND4K Q1T1 write", "1.20", "293", "210 ms", "even"]);
        table
    }

    fn at(columns: usize) -> String {
        let laid = lay_out_table(&table(), columns);
        format!("{}\nleft out: {}", laid.lines.join("\n"), laid.dropped_heads.join(", "))
    }

    #[test]
    fn narrow_tables_wrap_then_drop_columns_then_stack() {
        insta::assert_snapshot!(at(90), @r#"
        test              MB/s  IOPS  longest  what can be said
        SEQ1M Q8T1 read   20.4  19.5  1.20 ms  the first card is faster than the second
        RND4K Q1T1 write  1.20   293   210 ms  even
        left out:
        "#);
        insta::assert_snapshot!(at(60), @r#"
        test              MB/s  IOPS  what can be said
        SEQ1M Q8T1 read   20.4  19.5  the first card is faster than
                                      the second
        RND4K Q1T1 write  1.20   293  even
        left out: longest
        "#);
        insta::assert_snapshot!(at(45), @r#"
        test              MB/s  IOPS
        SEQ1M Q8T1 read   20.4  19.5
        RND4K Q1T1 write  1.20   293
        left out: longest, what can be said
        "#);
        insta::assert_snapshot!(at(22), @r#"
        test              MB/s
        SEQ1M Q8T1 read   20.4
        RND4K Q1T1 write  1.20
        left out: IOPS, longest, what can be said
        "#);
    }

    proptest! {
        #[test]
        fn lines_fit_the_screen_unless_a_word_does_not(
            rows in proptest::collection::vec(proptest::collection::vec("[a-z0-9 µ°日]{0,30}", 1..9), 1..6),
            columns in 30usize..160,
            beside: bool,
        ) {
            let mut table = Table::new((0..8).map(|n| format!("head {n}"))).left_aligned(["head 2", "head 5"]);
            rows.iter().for_each(|row| table.add_row(row.clone()));
            let table = if beside { table.side_by_side() } else { table };
            for laid in lay_out_table_parts(&table, columns) {
                for line in &laid.lines {
                    prop_assert!(display_width(line) <= columns.max(45), "{line:?} in {columns}");
                }
            }
        }
    }
}
