//! Tables of the rates that were measured, and their places in `docs/comparing.md`.

/// A table with a heading for its rows, one for each column, and rows of a name and its cells.
pub(crate) fn table(heading: &str, columns: &[String], rows: &[(String, Vec<String>)]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let with = |first: &str, rest: &[String]| [&[first.to_owned()][..], rest].concat();
    let mut text = line(&with(heading, columns));
    text += &line(&with("---", &vec!["---:".to_owned(); columns.len()]));
    rows.iter().for_each(|(name, cells)| text += &line(&with(name, cells)));
    text
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Writes the table between its marks where `UPDATE_DOCS` is set.
pub(crate) fn keep(name: &str, table: &str) {
    println!("{name}\n{table}");
    if std::env::var_os("UPDATE_DOCS").is_none() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/comparing.md");
    let _one_at_a_time = WRITING.lock().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let (begin, end) = (format!("<!-- comparing: {name} -->"), format!("<!-- comparing: {name} end -->"));
    let (before, rest) = text.split_once(&begin).expect("the mark is there");
    let (_, after) = rest.split_once(&end).expect("the end mark is there");
    std::fs::write(path, format!("{before}{begin}\n\n{table}\n{end}{after}")).unwrap();
}

/// Tests run side by side and write into one file.
static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
