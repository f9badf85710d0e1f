//! `bench`: run a recipe on a target.

use super::arguments::{duration, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_workbench::bench::{self, Request};
use cardscope_workbench::{Failure, bench::Outcome};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Measure a card with a published recipe
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    target: String,
    /// Recipe by name, or the path of a TOML file
    #[arg(long, default_value = "quick")]
    recipe: String,
    /// How often the whole recipe is run
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Only these tests, e.g. "RND4K Q32T1 read" (may be given again)
    #[arg(long, value_name = "TEST")]
    only: Vec<String>,
    /// Size of the test area, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// End after this time, e.g. 90s, 3m, 1h; what is not measured by then is named
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Write no more than this, putting back not counted, e.g. 4G [default: 256M in a directory on the disk that holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_write: Option<u64>,
    /// What is true of card and rig, e.g. cooling=passive (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of the random places and data; the same seed repeats a session
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Save an image of the card to FILE first, and put it back afterwards
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
}

impl Bench {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            target: self.target,
            recipe: self.recipe,
            runs: self.runs,
            only: self.only,
            size: self.size,
            budget: self.budget,
            max_write: self.max_write,
            conditions: self.condition,
            seed: self.seed,
            backup: self.backup,
            archive: self.archive,
        };
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let outcome = bench::bench(&request, &mut consent, &interrupt, &mut progress);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        output::document(options, &report, cardscope_report::bench::text)?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(
                report.header.findings.iter().any(|f| f.weight == cardscope_model::finding::Weight::Bad),
            ),
        })
    }
}
