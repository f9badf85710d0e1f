//! `format`: the SD Association's layout for a card's capacity.

use super::arguments::size;
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_model::format::Mode;
use cardscope_workbench::Failure;
use cardscope_workbench::format::{self, Outcome, Request};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Format a card as the SD Association lays it out for its capacity
///
/// FAT12, FAT16, FAT32 or exFAT, with the data area on a boundary of the card's allocation units: the layout on which
/// its speed classes hold. Everything on the card is lost. The result is read back and compared.
#[derive(Debug, Args)]
pub(crate) struct Format {
    /// Device, image file, or sim:NAME[?key=value&…]
    target: String,
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
    /// What is true of card and rig, e.g. reader=internal (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of the data that overwrites, and of volume numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
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
            mode: self.mode(),
            target: self.target,
            label: self.label,
            size_adjustment: self.size_adjustment == Switch::On,
            boundary: self.boundary,
            limit_to_real: self.limit_to_real,
            real: self.real,
            backup: self.backup,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        };
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let outcome = format::format(&request, &mut consent, &interrupt, &mut progress);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        output::document(options, &report, cardscope_report::format::text)?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(report.is_bad()),
        })
    }
}
