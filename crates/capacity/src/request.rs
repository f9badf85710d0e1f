//! Options of `verify`.

use cardscope_model::verify::TestMethod;
use cardscope_sd::label::{self, CardLabel};
use cardscope_session::after_verdict::TestOptions;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, SpendLimits};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Test whether the capacity is real and every block holds data
///
/// The default is a quick test that preserves the data on the card: each block is saved to a journal on
/// another disk before it is overwritten, then restored and checked.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct VerifyRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Overwrite and read back every block. All data on the card is lost, unless --backup saves it
    #[arg(long, conflicts_with = "files")]
    pub full: bool,
    /// Fill the free space of a mounted card with files, as f3write and h2testw do, and read them back
    #[arg(long)]
    #[serde(skip)]
    pub files: bool,
    /// Quick test: look behind caches of up to 2 GiB (512 MiB otherwise); writes up to four times as much
    #[arg(long, conflicts_with_all = ["full", "files"])]
    pub thorough: bool,
    /// Quick test: overwrite the card without saving its data, in half the time. All data on it is lost
    #[arg(long, conflicts_with_all = ["full", "files"])]
    pub erase: bool,
    /// Save an image of the card to FILE first, and restore it afterwards
    #[arg(long, value_name = "FILE", requires = "full")]
    #[serde(skip)]
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
    #[serde(skip)]
    pub keep_files: bool,
    /// With --files: end with a summary in the format of h2testw
    #[arg(long, requires = "files")]
    #[serde(skip)]
    pub h2testw: bool,
    /// Text printed on the card, to be checked, e.g. "1TB U3 A2 'up to 95 MB/s'"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}

impl VerifyRequest {
    pub(super) fn method(&self) -> TestMethod {
        match (self.full, self.files) {
            (true, _) => TestMethod::Full,
            (_, true) => TestMethod::Files,
            _ => TestMethod::Quick,
        }
    }

    /// Options that repeat this test, without `--erase`, which overwrites data without saving it.
    pub(super) fn repeat_options(&self) -> TestOptions<'_> {
        TestOptions {
            full: self.full,
            files: self.files,
            thorough: self.thorough,
            read_only: self.read_only,
            resume: self.resume,
            two_passes: self.two_passes,
            keep_files: self.keep_files,
            backup: self.backup.as_deref(),
        }
    }

    pub(super) fn printed_label(&self) -> Result<Option<CardLabel>> {
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)
    }
}
