//! `archive`: what was measured before, the cards it was measured of, and both as files.

use crate::output::{self, Options};
use cardscope_model::outside;
use cardscope_session::archive::{self, Edit, Shown};
use cardscope_session::options::ArchiveAt;
use cardscope_session::{Failure, Result};
use clap::{Args, Subcommand};
use std::path::PathBuf;

mod text;

/// Look at what was measured before, correct what is known of cards, take both out and in as files
#[derive(Debug, Args)]
#[command(mut_arg("archive", |archive| {
    archive.global(true).help("Archive: a file, or postgres://... [default: in the XDG data folder]")
}))]
pub(crate) struct Archive {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    archive: ArchiveAt,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List everything that was measured
    List,
    /// List the cards
    Cards,
    /// Show a session as it was printed (of one that did not finish, what was measured), or a card with all that is known
    Show {
        /// A session's name as `list` shows it, or a card
        what: String,
    },
    /// Correct what is known of a card, note what happened to it, attach pictures
    Edit(Box<Edit>),
    /// Make one card of two: everything of FROM goes to INTO
    Merge {
        /// The card that goes
        from: String,
        /// The card that stays
        into: String,
    },
    /// Remove a session for good
    Remove {
        /// Its name as `list` shows it
        session: String,
        /// Consent: the session's name once more
        #[arg(long, value_name = "SESSION")]
        yes_remove: String,
    },
    /// Write sessions as files, one each (docs/result-file.schema.json)
    Export {
        /// Sessions or cards; without any, everything
        what: Vec<String>,
        /// Folder to write them into
        #[arg(short = 'o', long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Take in files that `export` wrote; logs of other tools are read by `cardscope import`
    Import {
        /// Files, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

impl Archive {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let path = self.archive.named();
        match self.what {
            What::List => {
                output::list(options, "sessions", &archive::list(path)?, |sessions| text::sessions(sessions))
            }
            What::Cards => output::list(options, "cards", &archive::cards(path)?, |cards| text::cards(cards)),
            What::Show { what } => self::show(options, path, &what),
            What::Edit(edit) => output::document(options, &archive::edit(path, &edit)?, text::card),
            What::Merge { from, into } => {
                output::document(options, &archive::merge(path, &from, &into)?, text::card)
            }
            What::Remove { session, yes_remove } => {
                if session != yes_remove {
                    return Err(Failure::refused(
                        "--yes-remove does not name the same session; nothing was removed",
                    ));
                }
                archive::remove(path, &session)?;
                output::list(options, "removed", &session, |session| format!("removed {session}"))
            }
            What::Export { what, output: folder } => {
                let files = archive::export(path, &what, &folder)?;
                let folder = folder.display().to_string();
                output::list(options, "files", &files, |files| {
                    format!("{} sessions in {}", files.len(), outside::line(&folder))
                })
            }
            What::Import { files } => {
                let taken = archive::take(path, &files)?;
                output::list(options, "files", &taken, |taken| text::taken(taken))?;
                Ok(u8::from(taken.iter().any(|t| t.error.is_some())))
            }
        }
    }
}

/// A session where the text is one's name, else a card.
fn show(options: &Options, path: Option<&std::path::Path>, what: &str) -> Result<u8> {
    if !archive::is_session(what) {
        return output::document(options, &archive::card(path, what)?, text::card);
    }
    match archive::show(path, what)? {
        Shown::Bench(report) => output::document(options, &*report, cardscope_report::bench::text),
        Shown::Log(log) => output::document(options, &*log, cardscope_report::import::log),
        Shown::Record { kind, document } => {
            output::document(options, &document, |document| text::record(&kind, document))
        }
    }
}
