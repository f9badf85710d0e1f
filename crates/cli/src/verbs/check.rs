//! `check`: the whole visit in a time budget.

use super::on_card::{Limits, OnCard};
use crate::output::{self, Options};
use cardscope_session::Failure;
use cardscope_session::check::Request;
use cardscope_session::output_file::{Mark, OutputFile};
use clap::Args;
use std::path::PathBuf;

/// The whole visit within a time budget: what the card is, whether it is genuine, what it can do, what it is good for
///
/// Everything that is on the card is kept: what is overwritten is saved to a journal on another disk first, and put
/// back and checked afterwards. Ends with one page of verdict.
#[derive(Debug, Args)]
#[command(
    mut_arg("budget", |budget| budget.default_value("3m")),
    mut_arg("max_write", |most| most.conflicts_with("read_only"))
)]
pub(crate) struct Check {
    #[command(flatten)]
    card: OnCard,
    #[command(flatten)]
    limits: Limits,
    /// Write nothing at all: what only writing can show is left out, the capacity among it
    #[arg(long)]
    read_only: bool,
    /// What is on the card may go: nothing is saved and put back, which makes time for more (asks for consent)
    #[arg(long, conflicts_with = "read_only")]
    erase: bool,
    /// What is printed on the card, e.g. "256GB U3 A2 V30 'up to 160 MB/s'"; the page says what is untrue of it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Write the page to FILE as HTML, too: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(self.limits.budget, self.limits.max_write),
            read_only: self.read_only,
            erase: self.erase,
            label: self.label,
        };
        // Three minutes of work must not end in a page that cannot be written; and it must not overwrite the card.
        let mark = Mark::Head(cardscope_report::HTML_HEAD);
        let claim = |file| OutputFile::claim("--html", file, Some(&request.common.target), mark);
        let page = self.html.as_deref().map(claim).transpose()?;
        let outcome = self.card.carry_out(&request, options)?;
        let status = output::outcome(options, &outcome, cardscope_report::check::text)?;
        let page = page.map(|file| file.write(cardscope_report::check::html(&outcome.report)));
        let Some(Err(failure)) = page else {
            return Ok(status);
        };
        output::say(&failure);
        Ok(if status > 1 { status } else { failure.exit_status() })
    }
}
