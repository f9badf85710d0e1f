//! `check`: the whole visit in a time budget.

use super::arguments::duration;
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use cardscope_workbench::Failure;
use cardscope_workbench::bench::Interrupt;
use cardscope_workbench::check::{self, Outcome, Request};
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
    /// Archive to keep the results in [default: in the XDG data folder]
    #[arg(long, value_name = "FILE", env = "CARDSCOPE_ARCHIVE")]
    archive: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            target: self.target,
            budget: self.budget,
            read_only: self.read_only,
            label: self.label,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        };
        if let Some(file) = &self.html {
            writable(file, &request.target)?;
        }
        let interrupt = Interrupt::default();
        signals::raise_on_signals(&interrupt.flag())?;
        let mut progress = Progress::new(options.quiet);
        let Outcome { report, failure } = check::check(&request, &interrupt, &mut progress)?;
        drop(progress);
        output::document(options, &report, || cardscope_report::check::text(&report))?;
        let page = self.html.map(|file| write_page(&file, &cardscope_report::check::html(&report)));
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

/// Three minutes of work must not end in a page that cannot be written; and it must not overwrite the card.
fn writable(file: &std::path::Path, target: &str) -> Result<(), Failure> {
    use std::os::unix::fs::FileTypeExt;
    let there = std::fs::metadata(file);
    let name = file.display();
    if file.as_os_str() == target
        || there.as_ref().is_ok_and(|m| m.is_dir() || m.file_type().is_block_device())
    {
        return Err(Failure::Refused(format!("--html {name} is no place for a page; name a new file")));
    }
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    match folder.metadata() {
        Ok(about) if about.is_dir() => Ok(()),
        _ => Err(Failure::Refused(format!("--html {name}: there is no folder {}", folder.display()))),
    }
}

fn write_page(file: &std::path::Path, page: &str) -> Result<(), Failure> {
    std::fs::write(file, page)
        .map_err(|e| Failure::Io(format!("the page cannot be written to {}: {e}", file.display())))
}
