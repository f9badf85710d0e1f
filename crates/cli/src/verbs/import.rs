//! `import`: logs of other tools into the archive.

use super::page::attended;
use crate::output::{self, Options};
use cardscope_session::Result;
use cardscope_session::import::{self, Request};

pub(super) fn run(asked: Request, options: &Options) -> Result<u8> {
    if asked.list_formats {
        let formats = import::formats();
        return output::list(options, "formats", &serde_json::json!(formats), |_| {
            formats.iter().map(|f| format!("{:<20} {}\n", f.name, f.title)).collect()
        });
    }
    let asked = Request { detailed: options.json, ..asked };
    let outcome =
        attended(options, None, |_, interrupt, progress| import::import(&asked, interrupt, progress))?;
    output::outcome(options, &outcome, |report| cardscope_report::import::text(report, asked.dry_run))
}
