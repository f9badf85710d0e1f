//! `compare`: compares cards.

use crate::output::{self, OutputOptions};
use cardscope_compare::page::comparison;
use cardscope_compare::page::comparison::ComparisonLayout;
use cardscope_compare::verb::compare;
use cardscope_compare::verb::compare::CompareRequest;
use cardscope_session::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CompareCommand {
    #[command(flatten)]
    request: CompareRequest,
    /// Show the figures as the tools printed them
    #[arg(long)]
    as_printed: bool,
    /// Show every run, too
    #[arg(long)]
    every_run: bool,
}

impl CompareCommand {
    pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
        let how = ComparisonLayout { as_printed: self.as_printed, every_run: self.every_run };
        let comparison = compare::compare_cards(&self.request)?;
        output::print_document(options, &comparison, |comparison| {
            comparison::comparison_page(comparison, how)
        })
    }
}
