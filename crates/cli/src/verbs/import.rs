//! `import`: imports logs of other tools into the archive.

use super::execution::with_progress;
use crate::output::{self, OutputOptions};
use cardscope_import::verb as import;
use cardscope_import::verb::ImportRequest;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::Result;

pub(super) fn run(asked: ImportRequest, options: &OutputOptions) -> Result<u8> {
    if asked.list_formats {
        let formats = import::supported_formats();
        return output::print_list(options, "formats", &serde_json::json!(formats), |_| {
            let mut page = Page::from_answer(format!("{} formats are understood.", formats.len()));
            let table = Table::from_items(
                &formats,
                &[("format", &|f| f.name.to_owned()), ("logs of", &|f| f.title.to_owned())],
            );
            page.add_section("", [PageBlock::Table(table.left_aligned(["logs of"]))]);
            page
        });
    }
    let asked = ImportRequest { detailed: options.json || options.details, ..asked };
    let outcome = with_progress(options, None, |_, interrupt, progress| {
        import::run_import(&asked, interrupt, progress)
    })?;
    output::print_outcome(options, &outcome, cardscope_import::page::import_page)
}
