//! What a format is asked to do.

use crate::arguments::size;
use crate::frame::Common;
use cardscope_model::format::Mode;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args};
use std::path::PathBuf;

/// Format a card as the SD Association specifies for its capacity
///
/// FAT12, FAT16, FAT32 or exFAT, with the data area on a boundary of the card's allocation units: the layout on which
/// its speed classes hold. Everything on the card is lost. The result is read back and compared.
#[derive(Debug, Clone, Default, Args)]
pub struct Request {
    /// What every verb is asked for.
    #[command(flatten)]
    pub common: Common,
    /// Write only partition table and file system (the default)
    #[arg(long, conflicts_with_all = ["overwrite", "discard"])]
    pub quick: bool,
    /// Write every byte of the card first, with data that cannot be compressed: the state "overwritten"
    #[arg(long, conflicts_with = "discard")]
    pub overwrite: bool,
    /// Tell the card first that nothing on it is of value: the state "trimmed"; says so where the card takes none
    #[arg(long)]
    pub discard: bool,
    /// Name of the volume, up to 11 characters
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// End the partition on a whole cylinder, as SDFormatter's option of that name; few old hosts need it
    #[arg(long, value_name = "on|off", default_value = "off", action = ArgAction::Set,
        value_parser = PossibleValuesParser::new(["on", "off"]).map(|word| word == "on"))]
    pub size_adjustment: bool,
    /// Begin the data on a multiple of this instead of the capacity's boundary unit, e.g. a measured 12M or 24M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub boundary: Option<u64>,
    /// Partition a fake to what it really has, as the last `verify` of this card found, or --real says
    #[arg(long)]
    pub limit_to_real: bool,
    /// What the card really has, in bytes from its start
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "limit_to_real")]
    pub real: Option<u64>,
    /// Save an image of the card to FILE first; `cardscope restore FILE` undoes the format
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

impl Request {
    /// What is done beside the file system.
    pub(super) fn mode(&self) -> Mode {
        match (self.overwrite, self.discard) {
            (true, _) => Mode::Overwrite,
            (_, true) => Mode::Discard,
            _ => Mode::Quick,
        }
    }
}
