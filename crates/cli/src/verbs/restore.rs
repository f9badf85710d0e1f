//! `restore`: put back what an interrupted test had saved, or an image of a card.

use super::page::attended;
use crate::output::{self, Options};
use cardscope_session::Result;
use cardscope_session::options::GivenConsent;
use cardscope_session::restore::{self, Request};
use clap::Args;
use std::path::PathBuf;

/// Put back what an interrupted test had saved, or an image that --backup took
///
/// Nothing is written before it is known that this is the card. Without FILE it lists the journals that wait.
#[derive(Debug, Args)]
#[command(mut_arg("yes_destroy", |consent| consent.help(
    "Consent to lose what is on TARGET, for an image, or for a card that is not known again; must equal TARGET as typed"
)))]
pub(crate) struct Restore {
    /// Journal of an interrupted test, or an image that --backup took
    #[arg(value_name = "JOURNAL|BACKUP")]
    file: Option<PathBuf>,
    /// The card [default: the one that the journal names]
    target: Option<String>,
    /// List the journals that wait
    #[arg(long, conflicts_with = "file")]
    list: bool,
    #[command(flatten)]
    consent: GivenConsent,
}

impl Restore {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let Some(file) = self.file else {
            return output::list(options, "journals", &restore::waiting()?, |journals| {
                cardscope_report::restore::list(journals)
            });
        };
        let request = Request { file, target: self.target };
        let outcome = attended(options, self.consent.yes_destroy, |consent, interrupt, progress| {
            restore::restore(&request, consent, interrupt, progress)
        })?;
        output::outcome(options, &outcome, cardscope_report::restore::text)
    }
}
