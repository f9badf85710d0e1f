//! Comma-separated tables with a heading (RFC 4180): quoted fields may hold commas, quotes and line ends. Where a
//! spreadsheet's language has decimal commas, it divides cells by semicolons or tabs.

use std::collections::HashMap;

/// A table's heading and rows.
pub(crate) struct Table {
    /// Where each heading stands; of two alike the first.
    head: HashMap<String, usize>,
    rows: Vec<Vec<String>>,
}

/// One row; cells are found by their heading.
pub(crate) struct Row<'a> {
    head: &'a HashMap<String, usize>,
    cells: &'a [String],
}

impl Table {
    /// Reads a table; its first line that is not blank is the heading.
    pub(crate) fn of(text: &str) -> Self {
        let records = records(text, divider(text)).into_iter();
        let mut lines = records.filter(|cells| cells.iter().any(|cell| !cell.is_empty()));
        let mut head = HashMap::new();
        for (name, at) in lines.next().unwrap_or_default().into_iter().zip(0..) {
            head.entry(name).or_insert(at);
        }
        Table { head, rows: lines.collect() }
    }

    /// True where all these headings are there.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.head.contains_key(*name))
    }

    /// Its rows; one that was cut off has fewer cells.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { head: &self.head, cells })
    }
}

impl<'a> Row<'a> {
    /// The cell under a heading; `None` where it is blank or missing.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.cells.get(*self.head.get(name)?).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// The same as a text of its own.
    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

/// What divides the cells: a comma, unless the heading has none and one of the others.
fn divider(text: &str) -> char {
    let head = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    [',', ';', '\t'].into_iter().find(|divider| head.contains(*divider)).unwrap_or(',')
}

/// All records, cells without the blanks around them.
fn records(text: &str, divider: char) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let record = records.last_mut().expect("it begins with one");
        let cell = record.last_mut().expect("each record begins with a cell");
        match c {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            // A quote within a bare cell is a letter: 3.5" disk.
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            // Blanks before a cell are none of it, nor may a quote be sought behind them again and again.
            c if cell.is_empty() && !quoted && c.is_whitespace() && c != divider && c != '\n' => {}
            c if c == divider && !quoted => record.push(String::new()),
            '\n' if !quoted => records.push(vec![String::new()]),
            c => cell.push(c),
        }
    }
    for cell in records.iter_mut().flatten() {
        *cell = cell.trim().to_owned();
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_their_heading() {
        let table = Table::of("\nname,note,size\nA,\"one, \"\"two\"\"\nthree\",4\nB, ,\nC\n");
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
            let table = Table::of(text);
            assert_eq!(table.rows().next().unwrap().get("size"), Some("4,5"), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_cells_come_back(cells in proptest::collection::vec("[a-z,\"]{0,8}", 1..6)) {
            let quoted: Vec<String> = cells.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
            let head: Vec<String> = (0..cells.len()).map(|n| format!("h{n}")).collect();
            let table = Table::of(&format!("{},end\n{},end\n", head.join(","), quoted.join(",")));
            let row = table.rows().next().unwrap();
            for (name, cell) in head.iter().zip(&cells) {
                proptest::prop_assert_eq!(row.get(name).unwrap_or_default(), cell);
            }
        }
    }
}
