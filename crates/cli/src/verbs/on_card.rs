//! The one way from the command line to a verb on a card and back: what all of them are asked for, and how each is
//! carried out, shown and ended.

use super::arguments::{duration, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_session::Failure;
use cardscope_session::bench::Interrupt;
use cardscope_session::frame::{self, Common, Outcome, Procedure, Report};
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::Duration;

/// What every verb on a card is asked for.
#[derive(Debug, Args)]
pub(crate) struct OnCard {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    pub(super) target: String,
    /// What is true of card and rig, e.g. reader=internal (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of places, orders and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET, where something may be lost; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
}

/// What a verb may spend.
#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// End after this time, putting back included, e.g. 90s, 3m, 1h; what was left out is named
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) budget: Option<Duration>,
    /// Write no more than this, putting back not counted, e.g. 4G [default: 256M in a directory on the disk that holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_write: Option<u64>,
}

impl OnCard {
    /// The request's common part.
    pub(super) fn common(&self, budget: Option<Duration>, max_write: Option<u64>) -> Common {
        Common {
            target: self.target.clone(),
            conditions: self.condition.clone(),
            seed: self.seed,
            archive: self.archive.clone(),
            budget,
            max_write,
        }
    }

    /// Carries a verb out and prints its document; gives the exit status.
    pub(super) fn execute<P: Procedure>(
        self,
        procedure: &P,
        options: &Options,
        text: impl FnOnce(&Report<P::Body>) -> String,
    ) -> Result<u8, Failure>
    where
        P::Body: Serialize + DeserializeOwned,
    {
        output::outcome(options, &self.carry_out(procedure, options)?, text)
    }

    /// Only carries it out, for a verb that does more with its document.
    pub(super) fn carry_out<P: Procedure>(
        self,
        procedure: &P,
        options: &Options,
    ) -> Result<Outcome<Report<P::Body>>, Failure> {
        attended(options, self.yes_destroy, |consent, interrupt, progress| {
            frame::execute(procedure, consent, interrupt, progress)
        })
    }
}

/// Does what takes its time: with progress on stderr, an end on Ctrl-C, and somebody to ask unless consent was given.
pub(super) fn attended<T>(
    options: &Options,
    given: Option<String>,
    verb: impl FnOnce(&mut AtTerminal, &Interrupt, &mut Progress) -> T,
) -> T {
    let interrupt = signals::interrupt();
    let mut consent = AtTerminal { given, interrupt: interrupt.clone() };
    verb(&mut consent, &interrupt, &mut Progress::new(options.quiet))
}
