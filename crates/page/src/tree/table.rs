//! Tables as data: columns with a head, a side, and an importance by which a narrow screen leaves them out.

use cardscope_model::units::NO_NUMBER as NONE;
use serde::Serialize;
use std::ops::Range;

/// A table with a head.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<String>>,
    /// How good each cell is beside the best of its row, 0 to 1, for a heat map; empty where the table is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shares: Vec<Vec<Option<f64>>>,
    /// Whether its columns are things beside each other, of which none is less important: a narrow screen divides it.
    beside: bool,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableColumn {
    /// Its head.
    pub head: String,
    /// Whether its cells are words, which begin at the left and may take several lines.
    pub words: bool,
    /// The least important column is left out first; a column of [`ALWAYS`] never.
    pub importance: u8,
}

/// The importance of a column that is never left out.
pub const ALWAYS: u8 = u8::MAX;

/// Columns of less importance than this are the first to go, before words are broken into lines.
pub(crate) const FIRST_TO_GO: u8 = 32;

/// A column's head, and what it shows of a thing.
type ItemColumn<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

impl Table {
    /// A table with these column heads. The first is always shown, the others the less important the further right.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let column = |(number, head): (usize, S)| TableColumn {
            head: head.into(),
            words: number == 0,
            importance: if number == 0 { ALWAYS } else { (ALWAYS - 1).saturating_sub(number.min(200) as u8) },
        };
        Table { columns: head.into_iter().enumerate().map(column).collect(), ..Table::default() }
    }

    /// A row for each thing. Columns in which no row has anything are left out.
    pub fn of<'a, T: 'a>(things: impl IntoIterator<Item = &'a T>, columns: &[ItemColumn<'_, T>]) -> Self {
        let mut table = Table::new(columns.iter().map(|(head, _)| *head));
        things.into_iter().for_each(|thing| table.row(columns.iter().map(|(_, show)| show(thing))));
        table.drop_blank_columns();
        table
    }

    /// Columns of words, by their heads: they begin at the left, and a narrow screen breaks them into lines.
    pub fn left_aligned<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, _| column.words = true)
    }

    /// Columns that a narrow screen leaves out first, in this order.
    pub fn least<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, order| column.importance = order)
    }

    /// Columns that are never left out.
    pub fn always<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, _| column.importance = ALWAYS)
    }

    fn with<'a>(
        mut self,
        heads: impl IntoIterator<Item = &'a str>,
        change: impl Fn(&mut TableColumn, u8),
    ) -> Self {
        for (order, head) in (0..).zip(heads) {
            self.columns.iter_mut().filter(|c| c.head == head).for_each(|column| change(column, order));
        }
        self
    }

    /// A table whose columns are things beside each other: a narrow screen divides it.
    pub fn beside(mut self) -> Self {
        self.beside = true;
        self
    }

    /// Adds a row; missing cells stay blank.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a row of a heat map; a share is how good a cell is beside the best of its row.
    pub fn heat<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = (S, Option<f64>)>) {
        let (cells, shares): (Vec<String>, Vec<Option<f64>>) =
            cells.into_iter().map(|(cell, share)| (cell.into(), share)).unzip();
        self.rows.push(cells);
        self.shares.push(shares);
    }

    /// The columns.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// A cell's share of the best of its row, 0 to 1, in a heat map.
    pub fn share(&self, row: usize, column: usize) -> Option<f64> {
        self.shares.get(row)?.get(column).copied().flatten()
    }

    /// Whether its columns are things beside each other.
    pub(crate) fn is_beside(&self) -> bool {
        self.beside
    }

    /// Takes out columns in which no row has anything.
    pub fn drop_blank_columns(&mut self) {
        let filled = |c: usize| self.rows.iter().any(|r| r.get(c).is_some_and(|cell| !cell.is_empty()));
        let keep: Vec<usize> = (0..self.columns.len()).filter(|c| *c == 0 || filled(*c)).collect();
        *self = self.only(&keep);
    }

    /// The same with these columns only.
    pub(crate) fn only(&self, columns: &[usize]) -> Table {
        fn of<T: Clone>(all: &[T], columns: &[usize]) -> Vec<T> {
            columns.iter().filter_map(|c| all.get(*c).cloned()).collect()
        }
        Table {
            columns: of(&self.columns, columns),
            rows: self.rows.iter().map(|row| of(row, columns)).collect(),
            shares: self.shares.iter().map(|shares| of(shares, columns)).collect(),
            beside: self.beside,
        }
    }

    /// The first column and those of a range, without the rows in which these have no figure.
    pub(crate) fn part(&self, columns: Range<usize>) -> Table {
        let columns: Vec<usize> = std::iter::once(0).chain(columns).collect();
        let mut part = Table { shares: Vec::new(), ..self.only(&columns) };
        part.rows.retain(|row| row.iter().skip(1).any(|cell| cell != NONE && !cell.is_empty()));
        part
    }
}
