//! The one path from the command line to a verb on a card and back to the page.

use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_session::Result;
use cardscope_session::bench::Interrupt;
use cardscope_session::frame::{self, Outcome, Procedure, Report};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Carries a verb out and prints its document; gives the exit status.
pub(super) fn page<P: Procedure>(
    asked: &P,
    options: &Options,
    text: impl FnOnce(&Report<P::Body>) -> String,
) -> Result<u8>
where
    P::Body: Serialize + DeserializeOwned,
{
    output::outcome(options, &carry_out(asked, options)?, text)
}

/// Only carries it out, for a verb that does more with its document.
pub(super) fn carry_out<P: Procedure>(asked: &P, options: &Options) -> Result<Outcome<Report<P::Body>>> {
    attended(options, asked.common().consent.yes_destroy.clone(), |consent, interrupt, progress| {
        frame::execute(asked, consent, interrupt, progress)
    })
}

/// Does what takes its time: with progress on stderr, an end on Ctrl-C, and somebody to ask unless consent was given.
pub(super) fn attended<T>(
    options: &Options,
    given: Option<String>,
    verb: impl FnOnce(&mut AtTerminal, &Interrupt, &mut Progress) -> T,
) -> T {
    let interrupt = signals::interrupt();
    let mut consent = AtTerminal { given, interrupt: interrupt.clone() };
    verb(&mut consent, &interrupt, &mut Progress::new(options.quiet, &interrupt))
}
