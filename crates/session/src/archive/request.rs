//! What is asked of an archive.

use super::Edit;
use crate::options::ArchiveAt;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Show earlier results, edit the facts of a card, export and import sessions
#[derive(Debug, Clone, Args)]
#[command(mut_arg("archive", |archive| {
    archive.global(true).help("Archive: a file, or postgres://... [default: in the XDG data folder]")
}))]
pub struct Request {
    /// What is done with it.
    #[command(subcommand)]
    pub what: What,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveAt,
}

/// What is done with an archive.
#[derive(Debug, Clone, Subcommand)]
pub enum What {
    /// List all sessions
    List,
    /// List the cards
    Cards,
    /// Show a session as it was printed, or a card with all its facts
    Show {
        /// Session name as `list` shows it, or a card
        what: String,
    },
    /// Edit the facts of a card, add events, attach pictures
    Edit(Box<Edit>),
    /// Merge two cards: move everything from FROM to INTO
    Merge {
        /// Card to remove
        from: String,
        /// Card to keep
        into: String,
    },
    /// Remove a session permanently
    Remove {
        /// Session name as `list` shows it
        session: String,
        /// Confirm with the session's name
        #[arg(long, value_name = "SESSION")]
        yes_remove: String,
    },
    /// Export sessions, one file each (docs/result-file.schema.json)
    Export {
        /// Sessions or cards [default: everything]
        what: Vec<String>,
        /// Folder to write to
        #[arg(short = 'o', long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Import files from `export`; for logs of other tools use `cardscope import`
    Import {
        /// Files or folders
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}
