//! `restore`: restores saved data of an interrupted test, or an image of a card.

use super::page::attended;
use crate::output::{self, OutputOptions};
use cardscope_restore::verb as restore;
use cardscope_restore::verb::RestoreRequest;
use cardscope_session::Result;
use cardscope_verbs::list::VerbDocument;

pub(super) fn run(asked: &RestoreRequest, options: &OutputOptions) -> Result<u8> {
    if asked.file.is_none() {
        return output::list(options, "journals", &restore::waiting()?, |journals| {
            cardscope_restore::page::list(journals)
        });
    }
    let outcome = attended(options, asked.consent.yes_destroy.clone(), |consent, interrupt, progress| {
        restore::restore(asked, consent, interrupt, progress)
    })?;
    output::outcome(options, &outcome, VerbDocument::page)
}
