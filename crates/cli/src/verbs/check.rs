//! `check`: the whole visit in a time budget.

use super::page::carry_out;
use crate::output::{self, Options};
use cardscope_session::Result;
use cardscope_session::check::Request;
use cardscope_session::output_file::{Mark, OutputFile};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    request: Request,
    /// Write the page to FILE as HTML, too: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        // Three minutes of work must not end in a page that cannot be written; and it must not overwrite the card.
        let mark = Mark::Head(cardscope_report::HTML_HEAD);
        let claim = |file| OutputFile::claim("--html", file, Some(&self.request.common.target), mark);
        let page = self.html.as_deref().map(claim).transpose()?;
        let outcome = carry_out(&self.request, options)?;
        let status = output::outcome(options, &outcome, cardscope_report::check::page)?;
        let page = page.map(|file| {
            file.write(cardscope_report::page::html::document(&cardscope_report::check::page(
                &outcome.report,
            )))
        });
        let Some(Err(failure)) = page else {
            return Ok(status);
        };
        output::say(&failure);
        Ok(if status > 1 { status } else { failure.exit_status() })
    }
}
