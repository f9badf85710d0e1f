//! `restore`: restores saved data of an interrupted test, or an image of a card.

use super::execution::with_progress;
use crate::output::{self, OutputOptions};
use cardscope_restore::verb as restore;
use cardscope_restore::verb::RestoreRequest;
use cardscope_session::Result;
use cardscope_verbs::list::VerbDocument;

pub(super) fn run(asked: &RestoreRequest, options: &OutputOptions) -> Result<u8> {
    if asked.file.is_none() {
        return output::print_list(options, "journals", &restore::pending_journals()?, |journals| {
            cardscope_restore::page::list_page(journals)
        });
    }
    let outcome =
        with_progress(options, asked.consent.yes_destroy.clone(), |consent, interrupt, progress| {
            restore::restore(asked, consent, interrupt, progress)
        })?;
    output::print_outcome(options, &outcome, VerbDocument::page)
}
