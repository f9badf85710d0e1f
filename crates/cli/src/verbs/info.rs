//! `info`: everything a card says of itself, decoded and held against itself.

use crate::output::{self, Options};
use cardscope_session::{Failure, identify};
use clap::Args;
use std::path::PathBuf;

/// Decode what a card says of itself, its bus and its limits
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Device as `list` shows it, or sim:NAME
    target: String,
    /// Read this copy of a machine's /sys tree instead of this machine
    #[arg(long, value_name = "DIR")]
    sysfs: Option<PathBuf>,
}

impl Info {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let identity = identify::info(&self.target, self.sysfs.as_deref())?;
        output::document(options, &identity, cardscope_report::identity::text)
    }
}
