//! Plain text tables: the first column and those of words to the left, all others to the right, as wide as their
//! widest cell.

use crate::figure::NONE;
use std::fmt;
use std::ops::Range;

/// A table with a head.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    left: Vec<usize>,
}

/// A column: its head, and what it shows of a thing.
type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

impl Table {
    /// A table with these column heads.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Table { head: head.into_iter().map(Into::into).collect(), rows: Vec::new(), left: vec![0] }
    }

    /// A row for each thing; a column has its head and what it shows of a thing. Columns in which no row has anything
    /// are left out.
    pub fn of<'a, T: 'a>(things: impl IntoIterator<Item = &'a T>, columns: &[Column<'_, T>]) -> Self {
        let mut table = Table::new(columns.iter().map(|(head, _)| *head));
        things.into_iter().for_each(|thing| table.row(columns.iter().map(|(_, show)| show(thing))));
        table.drop_blank_columns();
        table
    }

    /// Columns of words, by their heads: they begin at the left.
    pub fn left_aligned<'a>(mut self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        let column = |head: &str| self.head.iter().position(|known| known == head);
        let columns: Vec<usize> = heads.into_iter().filter_map(column).collect();
        self.left.extend(columns);
        self
    }

    /// Whether a column's cells begin at the left.
    pub fn is_left_aligned(&self, column: usize) -> bool {
        self.left.contains(&column)
    }

    /// Adds a row; missing cells stay blank.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The column heads.
    pub fn head(&self) -> &[String] {
        &self.head
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Takes out columns in which no row has anything.
    pub fn drop_blank_columns(&mut self) {
        let filled = |c: usize| self.rows.iter().any(|r| r.get(c).is_some_and(|cell| !cell.is_empty()));
        let keep: Vec<bool> = (0..self.head.len()).map(|c| c == 0 || filled(c)).collect();
        let moved = |c: &usize| (0..*c).filter(|before| keep[*before]).count();
        self.left = self.left.iter().filter(|c| keep.get(**c) == Some(&true)).map(moved).collect();
        for line in std::iter::once(&mut self.head).chain(&mut self.rows) {
            let mut column = 0;
            line.retain(|_| {
                column += 1;
                keep.get(column - 1).copied().unwrap_or(false)
            });
        }
    }

    /// The same with its heads cut to so many characters, the last of them a sign that some are missing.
    pub(crate) fn with_heads_of(mut self, longest: usize) -> Self {
        for head in self.head.iter_mut().filter(|head| head.chars().count() > longest) {
            let kept: String = head.chars().take(longest.saturating_sub(1)).collect();
            *head = format!("{}…", kept.trim_end());
        }
        self
    }

    /// The first column and those of a range, without the rows in which these have no figure.
    fn part(&self, columns: Range<usize>) -> Table {
        let cells = |row: &Vec<String>| -> Vec<String> {
            let of = columns.clone().filter_map(|column| row.get(column).cloned());
            row.first().cloned().into_iter().chain(of).collect()
        };
        let rows = self.rows.iter().map(cells);
        let rows = rows.filter(|row| row.iter().skip(1).any(|cell| cell != NONE && !cell.is_empty()));
        Table { head: cells(&self.head), rows: rows.collect(), left: vec![0] }
    }

    /// As many tables below each other as it takes for so many characters; each has at least one further column.
    pub(crate) fn divided(&self, characters: usize) -> Vec<Table> {
        let fits = |table: &Table| table.to_string().lines().all(|line| line.chars().count() <= characters);
        let (mut parts, mut first) = (Vec::new(), 1);
        while first < self.head.len() {
            let wider = (first + 2..=self.head.len()).take_while(|end| fits(&self.part(first..*end)));
            let end = wider.last().unwrap_or(first + 1);
            parts.push(self.part(first..end));
            first = end;
        }
        parts
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.head]).filter_map(|r| r.get(column));
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    }

    fn line(&self, cells: &[String], widths: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            match self.is_left_aligned(column) {
                true => text.push_str(&format!("{gap}{cell:<width$}")),
                false => text.push_str(&format!("{gap}{cell:>width$}")),
            }
        }
        writeln!(f, "{}", text.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let columns = lines().map(Vec::len).max().unwrap_or(0);
        // Once for all lines: some tables have 50 000.
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        lines().try_for_each(|line| self.line(line, &widths, f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_under_their_unit_and_blank_columns_go() {
        let mut t = Table::new(["test", "MB/s", "°C", "IOPS"]);
        t.row(["SEQ1M Q8T1 read", "20.4", "", "19"]);
        t.row(["RND4K Q1T1 write", "1.2", "", "293"]);
        t.drop_blank_columns();
        insta::assert_snapshot!(t.to_string(), @r"
        test              MB/s  IOPS
        SEQ1M Q8T1 read   20.4    19
        RND4K Q1T1 write   1.2   293
        ");
    }
}
