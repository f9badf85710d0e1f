//! What a verification is asked to do.

use cardscope_model::shell::quoted_path;
use cardscope_model::verify::Method;
use cardscope_sd::label::{self, Label};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{Common, Limits};
use clap::Args;
use std::path::PathBuf;

/// Test whether the capacity is real and every block holds data
///
/// The default is a quick test that preserves the data on the card: each block is saved to a journal on
/// another disk before it is overwritten, then restored and checked.
#[derive(Debug, Clone, Default, Args)]
pub struct Request {
    /// What every verb is asked for.
    #[command(flatten)]
    pub common: Common,
    /// What it may spend.
    #[command(flatten)]
    pub limits: Limits,
    /// Overwrite and read back every block. All data on the card is lost, unless --backup saves it
    #[arg(long, conflicts_with = "files")]
    pub full: bool,
    /// Fill the free space of a mounted card with files, as f3write and h2testw do, and read them back
    #[arg(long)]
    pub files: bool,
    /// Quick test: look behind caches of up to 2 GiB (512 MiB otherwise); writes up to four times as much
    #[arg(long, conflicts_with_all = ["full", "files"])]
    pub thorough: bool,
    /// Quick test: overwrite the card without saving its data, in half the time. All data on it is lost
    #[arg(long, conflicts_with_all = ["full", "files"])]
    pub erase: bool,
    /// Save an image of the card to FILE first, and restore it afterwards
    #[arg(long, value_name = "FILE", requires = "full")]
    pub backup: Option<PathBuf>,
    /// Write nothing; reread what an earlier --full or --files wrote
    #[arg(long)]
    pub read_only: bool,
    /// With --full: continue where an earlier pass on this card stopped
    #[arg(long, requires = "full")]
    pub resume: bool,
    /// With --full: write everything before reading it back, instead of range by range
    #[arg(long, requires = "full")]
    pub two_passes: bool,
    /// With --files: leave the files on the card, for a later --read-only
    #[arg(long, requires = "files")]
    pub keep_files: bool,
    /// With --files: end with a summary in the format of h2testw
    #[arg(long, requires = "files")]
    pub h2testw: bool,
    /// Text printed on the card, to be checked, e.g. "1TB U3 A2 'up to 95 MB/s'"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}

impl Request {
    /// Quick, full or by files.
    pub(super) fn method(&self) -> Method {
        match (self.full, self.files) {
            (true, _) => Method::Full,
            (_, true) => Method::Files,
            _ => Method::Quick,
        }
    }

    /// The options that ask for the same test again, each behind a space, as a shell takes them. One that overwrites
    /// without saving is not suggested, but for the test of every block.
    pub(super) fn way(&self) -> String {
        let given = [
            (self.full, " --full"),
            (self.files, " --files"),
            (self.thorough, " --thorough"),
            (self.read_only, " --read-only"),
            (self.resume, " --resume"),
            (self.two_passes, " --two-passes"),
            (self.keep_files, " --keep-files"),
        ];
        let backup = self.backup.iter().map(|file| format!(" --backup {}", quoted_path(file)));
        let options = given.into_iter().filter(|(given, _)| *given).map(|(_, option)| option.to_owned());
        options.chain(backup).collect()
    }

    /// What is printed on the card, as the user says.
    pub(super) fn printed(&self) -> Result<Option<Label>> {
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)
    }
}
