//! `import`: logs of other tools into the archive.

use super::page::attended;
use crate::output::{self, Options};
use cardscope_import::verb as import;
use cardscope_import::verb::Request;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Block, Page};
use cardscope_session::Result;

pub(super) fn run(asked: Request, options: &Options) -> Result<u8> {
    if asked.list_formats {
        let formats = import::formats();
        return output::list(options, "formats", &serde_json::json!(formats), |_| {
            let mut page = Page::plain(format!("{} formats are understood.", formats.len()));
            let table = Table::of(
                &formats,
                &[("format", &|f| f.name.to_owned()), ("logs of", &|f| f.title.to_owned())],
            );
            page.add("", [Block::Table(table.left_aligned(["logs of"]))]);
            page
        });
    }
    let asked = Request { detailed: options.json || options.details, ..asked };
    let outcome =
        attended(options, None, |_, interrupt, progress| import::import(&asked, interrupt, progress))?;
    output::outcome(options, &outcome, cardscope_import::page::page)
}
