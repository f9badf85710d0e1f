//! `map`: what is inside a card, and what follows from it.

use super::arguments::{region, size};
use super::on_card::{Limits, OnCard};
use crate::output::Options;
use cardscope_session::Failure;
use cardscope_session::map::{Part, Region, Request};
use clap::Args;

/// Find out what is inside a card: page, erase block, open blocks, cache, queue, the cost of each block size
///
/// It keeps what is on the card: each block is saved to a journal on another disk before it is overwritten, and put
/// back and checked afterwards. Ends with advice for partitions and file systems, ready to paste.
#[derive(Debug, Args)]
pub(crate) struct Map {
    #[command(flatten)]
    card: OnCard,
    #[command(flatten)]
    limits: Limits,
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
    /// Give up the search for the end of the cache after so many bytes, e.g. 8G [default: 64M where the data is kept]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cache: Option<u64>,
    /// Measure the tables of flashbench (-a, -f, -O, scatter) too, and print them in its layout
    #[arg(long)]
    flashbench: bool,
    /// Only this part (repeatable): boundaries, read-curve, planes, queue, axis, page-writes, open-blocks,
    /// fat, span, write-curve, cache
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
    /// With --erase: make each file system that this machine has on the card and measure small writes on it
    #[arg(long)]
    try_file_systems: bool,
}

impl Map {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(self.limits.budget, self.limits.max_write),
            read_only: self.read_only,
            fat: self.fat,
            region: self.region,
            erase: self.erase,
            cache: self.cache,
            flashbench: self.flashbench,
            only: self.only,
            try_file_systems: self.try_file_systems,
        };
        self.card.execute(&request, options, cardscope_report::card_map::text)
    }
}
