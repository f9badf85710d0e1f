//! `format`: the SD Association's layout for a card's capacity.

use super::arguments::size;
use super::on_card::OnCard;
use crate::output::Options;
use cardscope_model::format::Mode;
use cardscope_session::Failure;
use cardscope_session::format::Request;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Format a card as the SD Association lays it out for its capacity
///
/// FAT12, FAT16, FAT32 or exFAT, with the data area on a boundary of the card's allocation units: the layout on which
/// its speed classes hold. Everything on the card is lost. The result is read back and compared.
#[derive(Debug, Args)]
pub(crate) struct Format {
    #[command(flatten)]
    card: OnCard,
    /// Write only partition table and file system (the default)
    #[arg(long, conflicts_with_all = ["overwrite", "discard"])]
    quick: bool,
    /// Write every byte of the card first, with data that cannot be compressed: the state "overwritten"
    #[arg(long, conflicts_with = "discard")]
    overwrite: bool,
    /// Tell the card first that nothing on it is of value: the state "trimmed"; says so where the card takes none
    #[arg(long)]
    discard: bool,
    /// Name of the volume, up to 11 characters
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// End the partition on a whole cylinder, as SDFormatter's option of that name; few old hosts need it
    #[arg(long, value_enum, value_name = "on|off", default_value = "off")]
    size_adjustment: Switch,
    /// Begin the data on a multiple of this instead of the capacity's boundary unit, e.g. a measured 12M or 24M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    boundary: Option<u64>,
    /// Partition a fake to what it really has, as the last `verify` of this card found, or --real says
    #[arg(long)]
    limit_to_real: bool,
    /// What the card really has, in bytes from its start
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "limit_to_real")]
    real: Option<u64>,
    /// Save an image of the card to FILE first; `cardscope restore FILE` undoes the format
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Format {
    fn mode(&self) -> Mode {
        match (self.overwrite, self.discard) {
            (true, _) => Mode::Overwrite,
            (_, true) => Mode::Discard,
            _ => Mode::Quick,
        }
    }

    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(None, None),
            mode: self.mode(),
            label: self.label,
            size_adjustment: self.size_adjustment == Switch::On,
            boundary: self.boundary,
            limit_to_real: self.limit_to_real,
            real: self.real,
            backup: self.backup,
        };
        self.card.execute(&request, options, cardscope_report::format::text)
    }
}
