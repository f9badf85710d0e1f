//! Comma-separated tables with a heading (RFC 4180). Where a spreadsheet's language has decimal commas, it divides cells by
//! semicolons or tabs.

use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::HashMap;

/// A table's heading and rows.
pub(crate) struct TextTable {
    /// Where each heading stands; of two alike the first.
    head: HashMap<String, usize>,
    rows: Vec<StringRecord>,
}

/// One row; cells are found by their heading.
pub(crate) struct TableRow<'a> {
    head: &'a HashMap<String, usize>,
    cells: &'a StringRecord,
}

impl TextTable {
    /// Reads a table; its first line that is not blank is the heading. A row may be cut off.
    pub(crate) fn of(text: &str) -> Self {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(divider(text))
            .from_reader(text.as_bytes());
        let mut rows = reader.records().flatten().filter(|cells| cells.iter().any(|cell| !cell.is_empty()));
        let mut head = HashMap::new();
        for (at, name) in rows.next().iter().flatten().enumerate() {
            head.entry(name.to_owned()).or_insert(at);
        }
        TextTable { head, rows: rows.collect() }
    }

    /// True where all these headings are there.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.head.contains_key(*name))
    }

    /// Its rows; one that was cut off has fewer cells.
    pub(crate) fn rows(&self) -> impl Iterator<Item = TableRow<'_>> {
        self.rows.iter().map(|cells| TableRow { head: &self.head, cells })
    }
}

impl<'a> TableRow<'a> {
    /// The cell under a heading; `None` where it is blank or missing.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.cells.get(*self.head.get(name)?).filter(|cell| !cell.is_empty())
    }

    /// The same as a text of its own.
    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

/// What divides the cells: a comma, unless the heading has none and one of the others.
fn divider(text: &str) -> u8 {
    let head = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|divider| head.as_bytes().contains(divider)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_their_heading() {
        let table = TextTable::of("\nname,note,size\nA,\"one, \"\"two\"\"\nthree\",4\nB, ,\nC\n");
        let notes: Vec<_> =
            table.rows().map(|row| (row.get("name"), row.get("note"), row.get("size"))).collect();
        assert_eq!(
            notes,
            [
                (Some("A"), Some("one, \"two\"\nthree"), Some("4")),
                (Some("B"), None, None),
                (Some("C"), None, None),
            ]
        );
        assert!(table.has(&["size", "name"]) && !table.has(&["price"]));
    }

    #[test]
    fn a_spreadsheet_with_decimal_commas_divides_by_semicolons() {
        for text in ["name;size\nA;4,5\n", "name\tsize\nA\t4,5\n", "name,size\nA;B,\"4,5\"\n"] {
            let table = TextTable::of(text);
            assert_eq!(table.rows().next().unwrap().get("size"), Some("4,5"), "{text}");
        }
    }
}
