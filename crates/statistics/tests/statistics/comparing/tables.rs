//! Tables of error rates in `docs/comparing.md`.

/// Table with a heading for the rows and one for each column.
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

/// Prints the table, and writes it to `docs/comparing.md` if requested.
pub(crate) fn update_docs(name: &str, table: &str) {
    cardscope_testkit::measured_tables::update_table("comparing", &format!("comparing: {name}"), table);
}
