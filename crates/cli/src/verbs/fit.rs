//! `fit`: does an image or a size fit a card.

use crate::output::{self, Options};
use cardscope_session::fit::{self, Request};
use cardscope_session::{Failure, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Find out which cards an image or a size fits, by exact bytes
///
/// Without a question it lists what is known. Exit status 1 where it does not fit: the card that is named, the smallest
/// known card of --card, or else any.
#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// An image's file, or a size, e.g. 31393316864, 29.5GiB, 32GB
    #[arg(value_name = "IMAGE|SIZE")]
    asked: Option<String>,
    /// The card it is to fit: a device, an image file or sim:NAME
    #[arg(value_name = "TARGET")]
    card: Option<String>,
    /// The same, also without an image: what this card lacks against its print
    #[arg(long, value_name = "TARGET", conflicts_with = "card")]
    target: Option<String>,
    /// Every card of this nominal capacity, e.g. "32 GB": its bytes across brands, and a partition that fits all
    #[arg(long = "card", value_name = "CAPACITY", id = "nominal")]
    nominal: Option<String>,
    /// Archive whose cards are looked at too: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
}

impl Fit {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            asked: self.asked,
            target: self.target.or(self.card),
            nominal: self.nominal,
            archive: self.archive,
        };
        let report = fit::fit(&request)?;
        output::outcome(options, &Outcome::of(report, None), cardscope_report::fit::text)
    }
}
