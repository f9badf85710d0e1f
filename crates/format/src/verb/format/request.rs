//! Options of `format`.

use cardscope_model::format::FormatMode;
use cardscope_session::arguments::parse_size_argument;
use cardscope_session::frame::CommonOptions;
use cardscope_session::option_json;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Format a card as the SD Association specifies for its capacity
///
/// FAT12, FAT16, FAT32 or exFAT, aligned to the card's allocation units, as its speed classes require. All
/// data on the card is lost. The result is read back and compared.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct FormatRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Write only partition table and file system (default)
    #[arg(long, conflicts_with_all = ["overwrite", "discard"])]
    pub quick: bool,
    /// Overwrite every byte of the card first, with incompressible data (state "overwritten")
    #[arg(long, conflicts_with = "discard")]
    pub overwrite: bool,
    /// Discard all blocks of the card first (state "trimmed"); reports if the card does not support it
    #[arg(long)]
    pub discard: bool,
    /// Volume name, up to 11 characters
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// End the partition on a whole cylinder, like SDFormatter's option of that name; a few old hosts need it
    #[arg(long, value_name = "on|off", default_value = "off", action = ArgAction::Set,
        value_parser = PossibleValuesParser::new(["on", "off"]).map(|word| word == "on"))]
    pub size_adjustment: bool,
    /// Align the data area to this instead of the capacity's boundary unit, e.g. a measured 12M or 24M
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub boundary: Option<u64>,
    /// Partition only the real capacity of a fake, as the last `verify` of this card found, or --real states
    #[arg(long)]
    pub limit_to_real: bool,
    /// Real capacity of the card, from its start
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument, requires = "limit_to_real")]
    #[serde(with = "option_json")]
    pub real: Option<u64>,
    /// Save an image of the card to FILE first; `cardscope restore FILE` undoes the format
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub backup: Option<PathBuf>,
}

impl FormatRequest {
    pub(super) fn mode(&self) -> FormatMode {
        match (self.overwrite, self.discard) {
            (true, _) => FormatMode::Overwrite,
            (_, true) => FormatMode::Discard,
            _ => FormatMode::Quick,
        }
    }
}
