//! Tables in `docs/` that a test measures: written where `UPDATE_DOCS` is set, between marks of the table's name.

use std::sync::Mutex;

/// Tests run side by side and write into one file.
static WRITING: Mutex<()> = Mutex::new(());

/// Prints the table; writes it into the page between `<!-- NAME -->` and `<!-- NAME end -->` where that is asked for.
pub fn keep(page: &str, name: &str, table: &str) {
    println!("{name}\n{table}");
    if std::env::var_os("UPDATE_DOCS").is_none() {
        return;
    }
    let path = format!("{}/../../docs/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let _one_at_a_time = WRITING.lock().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- {name} end -->"));
    let (before, rest) = text.split_once(&begin).expect("the mark is there");
    let (_, after) = rest.split_once(&end).expect("the end mark is there");
    std::fs::write(path, format!("{before}{begin}\n\n{table}\n{end}{after}")).unwrap();
}
