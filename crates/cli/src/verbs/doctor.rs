//! `doctor`: is this computer fit to measure?

use crate::output::{self, Options};
use cardscope_session::{Failure, Outcome, doctor};
use clap::Args;
use std::path::PathBuf;

/// Find out whether this computer is fit to measure, and what to do where it is not
///
/// Exit status 1 where a point fails; warnings leave it 0.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// A card or reader as `list` shows it, or a directory on it [default: all that are present]
    target: Option<String>,
    /// Read this copy of a machine's /sys tree instead of this machine
    #[arg(long, value_name = "DIR")]
    sysfs: Option<PathBuf>,
}

impl Doctor {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let report = doctor::doctor(self.target.as_deref(), self.sysfs.as_deref())?;
        output::outcome(options, &Outcome::of(report, None), cardscope_report::doctor::text)
    }
}
