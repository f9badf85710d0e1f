//! Runs a verb on a card and prints its page.

use crate::output::{self, OutputOptions};
use crate::progress::ProgressDisplay;
use crate::signals;
use crate::terminal::TerminalPrompt;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_model::report::{ExitStatus, Report};
use cardscope_page::tree::{Page, html};
use cardscope_session::Result;
use cardscope_session::frame::{self, Procedure, VerbOutcome};
use cardscope_session::output_file::{FileMark, OutputFile};
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

// A verb on a card whose page can be kept as a file. (A doc comment would take the place of the verb's own description.)
#[derive(Debug, Args)]
pub(crate) struct PageCommand<R: Args> {
    #[command(flatten)]
    pub(super) request: R,
    /// Write the page to FILE as HTML, too: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl<R: Args + Procedure> PageCommand<R>
where
    R::Body: Serialize + DeserializeOwned,
{
    /// Runs the verb, prints its document, and writes the page if requested; returns the exit status.
    pub(super) fn run(&self, options: &OutputOptions, page: impl Fn(&Report<R::Body>) -> Page) -> Result<u8> {
        // The file is claimed first: minutes of work must not end in an unwritable page, and the page must not overwrite the card.
        let mark = FileMark::BeginsWith(cardscope_page::HTML_HEAD);
        let target = &self.request.common().target;
        let claim = |file| OutputFile::claim("--html", file, Some(target), mark);
        let file = self.html.as_deref().map(claim).transpose()?;
        let outcome = execute_verb(&self.request, options)?;
        let status = output::print_outcome(options, &outcome, &page)?;
        let written = file.map(|file| file.write_content(html::render_document(&page(&outcome.report))));
        match written {
            Some(Err(failure)) => {
                output::print_failure_reason(&failure);
                // The verb's own failure outweighs that of the page.
                Ok(ExitStatus::from_code(status).map_or(status, |_| failure.exit_status()))
            }
            _ => Ok(status),
        }
    }
}

/// Runs a verb and prints its document; returns the exit status.
pub(super) fn run_and_print<P: Procedure>(
    asked: &P,
    options: &OutputOptions,
    page: impl FnOnce(&Report<P::Body>) -> Page,
) -> Result<u8>
where
    P::Body: Serialize + DeserializeOwned,
{
    output::print_outcome(options, &execute_verb(asked, options)?, page)
}

/// Runs a verb without printing its document.
fn execute_verb<P: Procedure>(asked: &P, options: &OutputOptions) -> Result<VerbOutcome<Report<P::Body>>> {
    with_progress(options, asked.common().consent.yes_destroy.clone(), |consent, interrupt, progress| {
        frame::execute_verb(asked, consent, interrupt, progress)
    })
}

/// Runs work with progress on stderr, an end on Ctrl-C, and questions on the terminal unless consent was given.
pub(super) fn with_progress<T>(
    options: &OutputOptions,
    given: Option<String>,
    verb: impl FnOnce(&mut TerminalPrompt, &InterruptFlag, &mut ProgressDisplay) -> T,
) -> T {
    let interrupt = signals::shared_interrupt();
    let mut consent = TerminalPrompt { given_consent: given, interrupt: interrupt.clone() };
    verb(&mut consent, &interrupt, &mut ProgressDisplay::new(options, &interrupt))
}
