//! Tables as data. Each column has a head, an alignment and an importance, by which narrow screens drop it.

use cardscope_model::units::NO_NUMBER as NONE;
use serde::Serialize;
use std::ops::Range;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<String>>,
    /// Each cell as a share of the best of its row, 0 to 1, for a heat map. Empty in other tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shares: Vec<Vec<Option<f64>>>,
    /// True if all columns are equally important (cards side by side), so that a narrow screen divides the table.
    beside: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableColumn {
    pub head: String,
    /// True for text, which is left-aligned and may wrap.
    pub words: bool,
    /// Columns of low importance are dropped first, a column of [`NEVER_DROPPED`] never.
    pub importance: u8,
}

/// Importance of a column that is never dropped.
pub const NEVER_DROPPED: u8 = u8::MAX;

/// Columns of lower importance are dropped before any text is wrapped.
pub(crate) const FIRST_DROPPED: u8 = 32;

/// Head of a column, and the function that returns its cell for an item.
type ItemColumn<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

impl Table {
    /// Creates a table with these heads. The first column is always shown; importance decreases to the right.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let column = |(number, head): (usize, S)| TableColumn {
            head: head.into(),
            words: number == 0,
            // The cap keeps default columns above those that are dropped first.
            importance: match number {
                0 => NEVER_DROPPED,
                _ => NEVER_DROPPED - 1 - number.min(200) as u8,
            },
        };
        Table { columns: head.into_iter().enumerate().map(column).collect(), ..Table::default() }
    }

    /// Creates a table with a row for each item, without the columns that are blank in every row.
    pub fn from_items<'a, T: 'a>(
        all: impl IntoIterator<Item = &'a T>,
        columns: &[ItemColumn<'_, T>],
    ) -> Self {
        let mut table = Table::new(columns.iter().map(|(head, _)| *head));
        all.into_iter().for_each(|item| table.add_row(columns.iter().map(|(_, show)| show(item))));
        table.drop_blank_columns();
        table
    }

    /// Makes columns text, by their heads: left-aligned, and wrapped on narrow screens.
    pub fn left_aligned<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, _| column.words = true)
    }

    /// Makes columns the first to be dropped, in this order.
    pub fn least_important<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, order| column.importance = order)
    }

    /// Makes columns permanent.
    pub fn never_dropped<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(heads, |column, _| column.importance = NEVER_DROPPED)
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

    /// Makes all columns equally important, so that a narrow screen divides the table.
    pub fn side_by_side(mut self) -> Self {
        self.beside = true;
        self
    }

    /// Adds a row. Missing cells stay blank.
    pub fn add_row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a row of a heat map. Each share compares a cell with the best of its row.
    pub fn add_heat_row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = (S, Option<f64>)>) {
        let cells = cells.into_iter().map(|(cell, share)| (cell.into(), share));
        let (cells, shares): (Vec<String>, Vec<Option<f64>>) = cells.unzip();
        self.rows.push(cells);
        self.shares.push(shares);
    }

    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Share of a cell in a heat map, 0 to 1.
    pub fn heat_share(&self, row: usize, column: usize) -> Option<f64> {
        self.shares.get(row)?.get(column).copied().flatten()
    }

    pub(crate) fn is_side_by_side(&self) -> bool {
        self.beside
    }

    /// Removes the columns that are blank in every row, except the first.
    pub fn drop_blank_columns(&mut self) {
        let filled = |c: usize| self.rows.iter().any(|r| r.get(c).is_some_and(|cell| !cell.is_empty()));
        let keep: Vec<usize> = (0..self.columns.len()).filter(|c| *c == 0 || filled(*c)).collect();
        *self = self.select_columns(&keep);
    }

    pub(crate) fn select_columns(&self, columns: &[usize]) -> Table {
        fn select_items<T: Clone>(all: &[T], columns: &[usize]) -> Vec<T> {
            columns.iter().filter_map(|c| all.get(*c).cloned()).collect()
        }
        Table {
            columns: select_items(&self.columns, columns),
            rows: self.rows.iter().map(|row| select_items(row, columns)).collect(),
            shares: self.shares.iter().map(|shares| select_items(shares, columns)).collect(),
            beside: self.beside,
        }
    }

    /// The first column and a range of others, without the rows that have no figure in that range.
    pub(crate) fn column_range(&self, columns: Range<usize>) -> Table {
        let columns: Vec<usize> = std::iter::once(0).chain(columns).collect();
        let mut part = Table { shares: Vec::new(), ..self.select_columns(&columns) };
        part.rows.retain(|row| row.iter().skip(1).any(|cell| cell != NONE && !cell.is_empty()));
        part
    }
}
