//! The one way from the command line to a verb on a card and back: what all of them are asked for, and how each is
//! carried out, shown and ended.

use super::arguments::{duration, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_model::report::{Body, Report};
use cardscope_session::Failure;
use cardscope_session::frame::{self, Common, Outcome, Procedure};
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
    /// What is true of card and rig, e.g. reader=internal (may be given again)
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
        Ok(self.report(procedure, options, text)?.1)
    }

    /// The same, for a verb that does more with its document.
    pub(super) fn report<P: Procedure>(
        self,
        procedure: &P,
        options: &Options,
        text: impl FnOnce(&Report<P::Body>) -> String,
    ) -> Result<(Report<P::Body>, u8), Failure>
    where
        P::Body: Serialize + DeserializeOwned,
    {
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let outcome = frame::execute(procedure, &mut consent, &interrupt, &mut progress)?;
        drop(progress);
        shown(outcome, options, text)
    }
}

/// Prints a document, and why it ended early if it did; gives the exit status.
pub(super) fn shown<B: Body + Serialize + DeserializeOwned>(
    outcome: Outcome<B>,
    options: &Options,
    text: impl FnOnce(&Report<B>) -> String,
) -> Result<(Report<B>, u8), Failure> {
    let Outcome { report, failure } = outcome;
    output::document(options, &report, text)?;
    let status = match failure {
        Some(failure) => {
            output::say(&failure);
            failure.exit_status()
        }
        None => u8::from(report.is_bad()),
    };
    Ok((report, status))
}
