//! Inserts and looks up many rows with few statements.

use super::database::Connection;
use super::value::{SqlResult, SqlRow, SqlValue, dynamic_statement};
use std::fmt::Write;

/// Parameters in one statement: below SQLite's 32 766 (SQLITE_MAX_VARIABLE_NUMBER,
/// <https://www.sqlite.org/limits.html>) and PostgreSQL's 65 535 (a 16-bit count in its protocol). More is no faster.
const MAX_PARAMETERS: usize = 2000;

/// Rows for one table, inserted together.
pub(crate) struct RowBatch {
    /// `INSERT INTO table (columns)`, without the values.
    head: &'static str,
    /// Text after the values: `ON CONFLICT …`.
    tail: &'static str,
    columns: usize,
    values: Vec<SqlValue>,
}

impl RowBatch {
    /// `head` lists the columns in brackets; `tail` follows the values.
    pub(crate) fn new(head: &'static str, tail: &'static str) -> Self {
        let columns = head.matches(',').count() + 1;
        RowBatch { head, tail, columns, values: Vec::new() }
    }

    /// Adds a row with one value for each column.
    pub(crate) fn push<const N: usize>(&mut self, row: [SqlValue; N]) {
        debug_assert_eq!(N, self.columns, "{}", self.head);
        self.values.extend(row);
    }

    /// Writes and clears the rows.
    pub(crate) async fn write(&mut self, c: &mut Connection) -> SqlResult<()> {
        let at_once = (MAX_PARAMETERS / self.columns).max(1) * self.columns;
        let mut values = std::mem::take(&mut self.values).into_iter();
        while values.len() > 0 {
            let some: Vec<SqlValue> = values.by_ref().take(at_once).collect();
            let text =
                self.insert_text(some.len() / self.columns, |first, count| c.placeholders_from(first, count));
            c.execute(dynamic_statement(text).bind_all(some)).await?;
        }
        Ok(())
    }

    fn insert_text(&self, rows: usize, places: impl Fn(usize, usize) -> String) -> String {
        let mut text = format!("{} VALUES ", self.head);
        for row in 0..rows {
            let separator = if row == 0 { "" } else { ", " };
            let places = places(row * self.columns + 1, self.columns);
            let _ = write!(text, "{separator}({places})");
        }
        text.push(' ');
        text.push_str(self.tail);
        text
    }
}

impl Connection {
    /// Placeholders of a statement: `$1, $2, $3`.
    pub(crate) fn placeholders(&self, count: usize) -> String {
        self.placeholders_from(1, count)
    }

    /// Selects the rows of all keys in as many statements as needed; `head` ends before `IN`.
    pub(crate) async fn fetch_for_keys<K: Clone + Into<SqlValue>, T: Send + Unpin>(
        &mut self,
        head: &str,
        keys: &[K],
        mut read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> SqlResult<Vec<T>> {
        let mut all = Vec::new();
        for some in keys.chunks(MAX_PARAMETERS) {
            let asked = dynamic_statement(format!("{head} IN ({})", self.placeholders(some.len())));
            all.extend(self.fetch_all(asked.bind_all(some.iter().cloned()), &mut read).await?);
        }
        Ok(all)
    }

    /// Placeholders from number `first` on.
    ///
    /// SQLite searches a name among all names of a statement, which for thousands takes longer than everything else, so
    /// there they are unnamed.
    fn placeholders_from(&self, first: usize, count: usize) -> String {
        match self {
            Connection::Sqlite(_) => join_with_commas(std::iter::repeat_n("?", count)),
            Connection::Postgres(_) => {
                join_with_commas((first..first + count).map(|place| format!("${place}")))
            }
        }
    }
}

fn join_with_commas(places: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for place in places {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(place.as_ref());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_one_statement_with_numbered_placeholders() {
        let rows = RowBatch::new("INSERT INTO rig (hash, words)", "ON CONFLICT (hash) DO NOTHING");
        let numbered =
            |first, count| join_with_commas((first..first + count).map(|place| format!("${place}")));
        assert_eq!(
            rows.insert_text(2, numbered),
            "INSERT INTO rig (hash, words) VALUES ($1, $2), ($3, $4) ON CONFLICT (hash) DO NOTHING"
        );
    }
}
