//! `verify`: is the capacity real, is every block whole.

use super::on_card::{Limits, OnCard};
use crate::output::Options;
use cardscope_model::verify::Method;
use cardscope_session::Failure;
use cardscope_session::verify::Request;
use clap::Args;
use std::path::PathBuf;

/// Find out whether a card's capacity is real and its blocks are whole
///
/// Without an option it is quick and keeps what is on the card: each block is saved to a journal on another disk
/// before it is overwritten, and put back and checked afterwards.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    card: OnCard,
    #[command(flatten)]
    limits: Limits,
    /// Write and read back every block; what is on the card is lost, or saved first with --backup
    #[arg(long, conflicts_with = "files")]
    full: bool,
    /// Fill the free space of a mounted card with files as f3write and h2testw do, and read them back
    #[arg(long)]
    files: bool,
    /// Quick: also find out caches of up to 2 GiB (512 MiB otherwise); writes up to four times as much
    #[arg(long, conflicts_with_all = ["full", "files"])]
    thorough: bool,
    /// Quick: what is on the card may go; nothing is saved and put back, which halves the time
    #[arg(long, conflicts_with_all = ["full", "files"])]
    erase: bool,
    /// Save an image of the card to FILE first, and put it back afterwards
    #[arg(long, value_name = "FILE", requires = "full")]
    backup: Option<PathBuf>,
    /// Write nothing: read again what an earlier --full or --files wrote
    #[arg(long)]
    read_only: bool,
    /// Full: go on where an earlier pass on this card stopped
    #[arg(long, requires = "full")]
    resume: bool,
    /// Full: write everything before reading it back, instead of reading each stretch soon after
    #[arg(long, requires = "full")]
    two_passes: bool,
    /// Files: leave the files there, for a later --read-only
    #[arg(long, requires = "files")]
    keep_files: bool,
    /// Files: end with a summary in the words of h2testw
    #[arg(long, requires = "files")]
    h2testw: bool,
    /// What is printed on the card, e.g. "1TB U3 A2 'up to 95 MB/s'"; the verdict says what is untrue of it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
}

impl Verify {
    fn method(&self) -> Method {
        match (self.full, self.files) {
            (true, _) => Method::Full,
            (_, true) => Method::Files,
            _ => Method::Quick,
        }
    }

    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(self.limits.budget, self.limits.max_write),
            method: self.method(),
            thorough: self.thorough,
            erase: self.erase,
            backup: self.backup,
            read_only: self.read_only,
            resume: self.resume,
            two_passes: self.two_passes,
            keep_files: self.keep_files,
            label: self.label,
        };
        let h2testw = self.h2testw;
        self.card.execute(&request, options, |report| match h2testw {
            true => cardscope_report::h2testw::text(report),
            false => cardscope_report::verify::text(report),
        })
    }
}
