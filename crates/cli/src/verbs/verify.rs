//! `verify`: is the capacity real, is every block whole.

use super::arguments::{duration, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_model::verify::Method;
use cardscope_workbench::Failure;
use cardscope_workbench::verify::{self, Outcome, Request};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Find out whether a card's capacity is real and its blocks are whole
///
/// Without an option it is quick and keeps what is on the card: each block is saved to a journal on another disk
/// before it is overwritten, and put back and checked afterwards.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Device, directory (with --files), file, or sim:NAME[?key=value&…]
    target: String,
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
    /// End after this time, putting back included, e.g. 90s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Write no more than this, putting back not counted, e.g. 100M [default with --files: 256M on the disk that holds the
    /// running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_write: Option<u64>,
    /// What is printed on the card, e.g. "1TB U3 A2 'up to 95 MB/s'"; the verdict says what is untrue of it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// What is true of card and rig, e.g. reader=internal (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of places and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET, for --full and --erase; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
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
            method: self.method(),
            target: self.target,
            thorough: self.thorough,
            erase: self.erase,
            backup: self.backup,
            read_only: self.read_only,
            resume: self.resume,
            two_passes: self.two_passes,
            keep_files: self.keep_files,
            budget: self.budget,
            max_write: self.max_write,
            label: self.label,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        };
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        let outcome = verify::verify(&request, &mut consent, &interrupt, &mut progress);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        let h2testw = self.h2testw;
        output::document(options, &report, |report| match h2testw {
            true => cardscope_report::h2testw::text(report),
            false => cardscope_report::verify::text(report),
        })?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(report.is_bad()),
        })
    }
}
