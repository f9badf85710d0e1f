//! `restore`: put back what an interrupted test had saved, or an image of a card.

use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_session::Failure;
use cardscope_session::restore::{self, Outcome, Request};
use clap::Args;
use std::path::PathBuf;

/// Put back what an interrupted test had saved, or an image that --backup took
///
/// Nothing is written before it is known that this is the card. Without FILE it lists the journals that wait.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Journal of an interrupted test, or an image that --backup took
    #[arg(value_name = "JOURNAL|BACKUP")]
    file: Option<PathBuf>,
    /// The card [default: the one that the journal names]
    target: Option<String>,
    /// List the journals that wait
    #[arg(long, conflicts_with = "file")]
    list: bool,
    /// Consent to lose what is on TARGET, for an image, or for a card that is not known again; must equal TARGET as
    /// typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
}

impl Restore {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let Some(file) = self.file else {
            let journals = restore::waiting()?;
            output::list(options, "journals", &journals, |journals| {
                cardscope_report::restore::list(journals)
            })?;
            return Ok(0);
        };
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let request = Request { file, target: self.target };
        let outcome = restore::restore(&request, &mut consent, &interrupt, &mut progress);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        output::document(options, &report, cardscope_report::restore::text)?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(report.is_bad()),
        })
    }
}
