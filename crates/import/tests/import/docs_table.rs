//! The table of formats in the book. `UPDATE_DOCS=1 cargo test -p cardscope-import docs_table` writes a new format's row.

use cardscope_import::readers::{LogFormat, formats};
use cardscope_testkit::measured_tables::{Column, compare, table};

#[test]
fn formats_of_import_are_listed() {
    let columns: &[Column<LogFormat>] = &[
        ("format", &|format| format!("`{}`", format.name)),
        ("tool", &|format| format.title.to_owned()),
        ("layouts", &|format| format.layouts.to_owned()),
        ("units", &|format| format.units.to_owned()),
        ("checked with", &|format| format.checked_with.to_owned()),
    ];
    compare("import", "formats", &table(formats(), columns));
}
