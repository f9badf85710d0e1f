//! `map`: what is inside a card, and what follows from it.

use super::arguments::{duration, region, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_report::card_map;
use cardscope_workbench::Failure;
use cardscope_workbench::map::{self, Outcome, Part, Region, Request};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Find out what is inside a card: page, erase block, open blocks, cache, queue, the cost of each block size
///
/// It keeps what is on the card: each block is saved to a journal on another disk before it is overwritten, and put
/// back and checked afterwards. Ends with advice for partitions and file systems, ready to paste.
#[derive(Debug, Args)]
pub(crate) struct Map {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    target: String,
    /// End after this time, putting back included, e.g. 90s, 3m; what was left out is named
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Write nothing: only what reads show
    #[arg(long)]
    read_only: bool,
    /// Look at the region at the start of the card too, where partition table and FAT lie (saved and put back)
    #[arg(long)]
    fat: bool,
    /// What stands in this region may go: nothing is saved, and nothing outside of it is written, e.g. 1G+512M
    #[arg(long, value_name = "START+LEN", value_parser = region)]
    region: Option<Region>,
    /// What is on the card may go: nothing is saved, and the cache is written through to its end
    #[arg(long)]
    erase: bool,
    /// Write no more than this, putting back not counted, e.g. 100M [default: 256M in a directory on the disk that holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_write: Option<u64>,
    /// Give up the search for the end of the cache after so many bytes, e.g. 8G [default: 64M where the data is kept]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cache: Option<u64>,
    /// Measure the tables of flashbench (-a, -f, -O, scatter) too, and print them in its layout
    #[arg(long)]
    flashbench: bool,
    /// Only this part (may be given again): boundaries, read-curve, planes, queue, axis, page-writes, open-blocks,
    /// fat, span, write-curve, cache
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
    /// With --erase: make each file system that this machine has on the card and measure small writes on it
    #[arg(long)]
    try_file_systems: bool,
    /// What is true of card and rig, e.g. reader=internal (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of places and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET, for --region and --erase; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
}

impl Map {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            target: self.target,
            budget: self.budget,
            read_only: self.read_only,
            fat: self.fat,
            region: self.region,
            erase: self.erase,
            max_write: self.max_write,
            cache: self.cache,
            flashbench: self.flashbench,
            only: self.only,
            try_file_systems: self.try_file_systems,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        };
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let outcome = map::map(&request, &mut consent, &interrupt, &mut progress);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        output::document(options, &report, card_map::text)?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(report.is_bad()),
        })
    }
}
