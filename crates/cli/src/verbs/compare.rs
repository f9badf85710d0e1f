//! `compare`: cards beside each other.

use crate::output::{self, Options};
use cardscope_compare::page::comparison;
use cardscope_compare::page::comparison::How;
use cardscope_compare::verb::compare;
use cardscope_compare::verb::compare::Request;
use cardscope_session::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    request: Request,
    /// Show the figures as the tools printed them
    #[arg(long)]
    as_printed: bool,
    /// Show every run, too
    #[arg(long)]
    every_run: bool,
}

impl Compare {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let how = How { as_printed: self.as_printed, every_run: self.every_run };
        let comparison = compare::compare(&self.request)?;
        output::document(options, &comparison, |comparison| comparison::page(comparison, how))
    }
}
