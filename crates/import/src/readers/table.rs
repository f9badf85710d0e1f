//! Comma-separated tables with a heading (RFC 4180). Spreadsheets in languages with decimal commas separate cells by
//! semicolons or tabs.

use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::HashMap;

pub(crate) struct TextTable {
    /// Column of each heading; of two equal ones the first.
    head: HashMap<String, usize>,
    rows: Vec<StringRecord>,
}

/// Row, whose cells are accessed by their heading.
pub(crate) struct TableRow<'a> {
    head: &'a HashMap<String, usize>,
    cells: &'a StringRecord,
}

impl TextTable {
    /// Parses a table. Its first line that is not blank is the heading.
    pub(crate) fn parse(text: &str) -> Self {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(cell_separator(text))
            .from_reader(text.as_bytes());
        let mut rows = reader.records().flatten().filter(|cells| cells.iter().any(|cell| !cell.is_empty()));
        let mut head = HashMap::new();
        for (at, name) in rows.next().iter().flatten().enumerate() {
            head.entry(name.to_owned()).or_insert(at);
        }
        TextTable { head, rows: rows.collect() }
    }

    pub(crate) fn has_heading(&self, name: &str) -> bool {
        self.head.contains_key(name)
    }

    /// All rows; one that is cut off has fewer cells.
    pub(crate) fn rows(&self) -> impl Iterator<Item = TableRow<'_>> {
        self.rows.iter().map(|cells| TableRow { head: &self.head, cells })
    }
}

impl<'a> TableRow<'a> {
    /// Cell under a heading; `None` if it is blank or missing.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.cells.get(*self.head.get(name)?).filter(|cell| !cell.is_empty())
    }

    pub(crate) fn get_owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

/// Separator of the cells: a comma, or another one if the heading has no comma.
fn cell_separator(text: &str) -> u8 {
    let head = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|divider| head.as_bytes().contains(divider)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_by_heading() {
        let table = TextTable::parse("\nname,note,size\nA,\"one, \"\"two\"\"\nthree\",4\nB, ,\nC\n");
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
        assert!(table.has_heading("size") && table.has_heading("name") && !table.has_heading("price"));
    }

    #[test]
    fn semicolons_and_tabs_separate_cells() {
        for text in ["name;size\nA;4,5\n", "name\tsize\nA\t4,5\n", "name,size\nA;B,\"4,5\"\n"] {
            let table = TextTable::parse(text);
            assert_eq!(table.rows().next().unwrap().get("size"), Some("4,5"), "{text}");
        }
    }
}
