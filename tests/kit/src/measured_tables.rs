//! Tables in `docs/` that tests write, between marks of the table's name.

use std::sync::Mutex;

/// Tests run in parallel and write to the same file.
static WRITING: Mutex<()> = Mutex::new(());

/// Prints a measured table, and writes it into the page where `UPDATE_DOCS` is set.
pub fn update_table(page: &str, name: &str, table: &str) {
    println!("{name}\n{table}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        replace(page, name, table);
    }
}

/// Compares a table with the one in the page, or writes it where `UPDATE_DOCS` is set.
pub fn compare(page: &str, name: &str, table: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return replace(page, name, table);
    }
    let (text, expected) = with_table(page, name, table);
    assert!(text == expected, "docs/{page}.md is out of date: run UPDATE_DOCS=1 with this test");
}

/// Title of a column, and its cell of a row.
pub type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// A Markdown table: each column has a head and the cell of a row.
pub fn table<T>(rows: &[T], columns: &[Column<T>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(columns.iter().map(|(head, _)| (*head).to_owned()).collect());
    let rule = line(columns.iter().map(|_| "---".to_owned()).collect());
    let cells = |row: &T| columns.iter().map(|(_, cell)| cell(row).replace('|', "\\|")).collect();
    let rows: String = rows.iter().map(|row| line(cells(row))).collect();
    head + &rule + &rows
}

fn replace(page: &str, name: &str, table: &str) {
    let _one_at_a_time = WRITING.lock().unwrap();
    let (_, expected) = with_table(page, name, table);
    std::fs::write(path(page), expected).unwrap();
}

fn path(page: &str) -> String {
    format!("{}/../../docs/{page}.md", env!("CARGO_MANIFEST_DIR"))
}

/// The page, and the page with this table between `<!-- NAME -->` and `<!-- NAME end -->`.
fn with_table(page: &str, name: &str, table: &str) -> (String, String) {
    let text = std::fs::read_to_string(path(page)).unwrap();
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- {name} end -->"));
    let (before, rest) = text.split_once(&begin).expect("the mark is there");
    let (_, after) = rest.split_once(&end).expect("the end mark is there");
    let expected = format!("{before}{begin}\n\n{table}\n{end}{after}");
    (text, expected)
}
