//! `check`: the whole visit in a time budget.

use super::arguments::{duration, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::AtTerminal;
use cardscope_workbench::Failure;
use cardscope_workbench::check::{self, Outcome, Request};
use cardscope_workbench::output_file::{Mark, OutputFile};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The whole visit within a time budget: what the card is, whether it is genuine, what it can do, what it is good for
///
/// Everything that is on the card is kept: what is overwritten is saved to a journal on another disk first, and put
/// back and checked afterwards. Ends with one page of verdict.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    target: String,
    /// Time for all of it, e.g. 90s, 3m, 1h; about half of it goes to the question whether the card is genuine
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "3m")]
    budget: Duration,
    /// Write nothing at all: what only writing can show is left out, the capacity among it
    #[arg(long)]
    read_only: bool,
    /// What is on the card may go: nothing is saved and put back, which makes time for more (asks for consent)
    #[arg(long, conflicts_with = "read_only")]
    erase: bool,
    /// Consent to lose what is on TARGET, for --erase; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
    /// Write no more than this, putting back not counted, e.g. 4G [default: 256M in a directory on the disk that holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "read_only")]
    max_write: Option<u64>,
    /// What is printed on the card, e.g. "256GB U3 A2 V30 'up to 160 MB/s'"; the page says what is untrue of it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Write the page to FILE as HTML, too: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// What is true of card and rig, e.g. reader=internal (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of places and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            target: self.target,
            budget: self.budget,
            read_only: self.read_only,
            erase: self.erase,
            max_write: self.max_write,
            label: self.label,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        };
        // Three minutes of work must not end in a page that cannot be written; and it must not overwrite the card.
        let mark = Mark::Head(cardscope_report::check::HEAD);
        let claim = |file| OutputFile::claim("--html", file, Some(&request.target), mark);
        let page = self.html.as_deref().map(claim).transpose()?;
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy, interrupt: interrupt.clone() };
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } =
            check::check(&request, &mut consent, &interrupt, &mut progress).map_err(ended)?;
        drop(progress);
        output::document(options, &report, cardscope_report::check::text)?;
        let page = page.map(|file| file.write(cardscope_report::check::html(&report)));
        if let Some(Err(failure)) = &page {
            output::say(failure);
        }
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None if matches!(page, Some(Err(_))) => 3,
            None => u8::from(report.is_bad()),
        })
    }
}
