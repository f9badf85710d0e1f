//! `bench`: run a recipe on a target.

use super::arguments::size;
use super::on_card::{Limits, OnCard};
use crate::output::Options;
use cardscope_session::Failure;
use cardscope_session::bench::Request;
use clap::Args;
use std::path::PathBuf;

/// Measure a card with a published recipe
#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    card: OnCard,
    #[command(flatten)]
    limits: Limits,
    /// Recipe by name, or the path of a TOML file
    #[arg(long, default_value = "quick")]
    recipe: String,
    /// How often the whole recipe is run
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Only these tests, e.g. "RND4K Q32T1 read" (repeatable)
    #[arg(long, value_name = "TEST")]
    only: Vec<String>,
    /// Size of the test area, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Save an image of the card to FILE first, and put it back afterwards
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
}

impl Bench {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(self.limits.budget, self.limits.max_write),
            recipe: self.recipe,
            runs: self.runs,
            only: self.only,
            size: self.size,
            backup: self.backup,
        };
        self.card.execute(&request, options, cardscope_report::bench::text)
    }
}
