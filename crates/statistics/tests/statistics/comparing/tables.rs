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

/// Prints the table, and keeps it in `docs/comparing.md` where that is asked for.
pub(crate) fn keep(name: &str, table: &str) {
    cardscope_testkit::written_docs::keep("comparing", &format!("comparing: {name}"), table);
}
