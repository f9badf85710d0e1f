//! Options of `archive`.

use super::CardEdit;
use cardscope_session::options::ArchiveAt;
use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;

/// List, show, correct, export and import what was measured
#[derive(Debug, Clone, Args)]
#[command(mut_arg("archive", |archive| {
    archive.global(true).help("Archive: a file, or postgres://... [default: in the XDG data folder]")
}))]
pub struct ArchiveRequest {
    #[command(subcommand)]
    pub what: ArchiveAction,
    #[command(flatten)]
    pub archive: ArchiveAt,
}

/// Actions on an archive.
#[derive(Debug, Clone, Subcommand)]
pub enum ArchiveAction {
    /// List all sessions
    List,
    /// List the cards
    Cards {
        /// List the cards of published reports that come with the program
        #[arg(long)]
        builtin: bool,
    },
    /// Show a session as it was printed, or a card with all its facts
    Show {
        /// A session by the beginning or end of its id, or a card by words of its name or the beginning of its id
        what: String,
    },
    /// Edit the facts of a card, add events, attach pictures
    Edit(Box<CardEdit>),
    /// Merge two cards: move everything from FROM to INTO
    Merge {
        /// Card to remove
        from: String,
        /// Card that remains
        into: String,
    },
    /// Remove a session permanently
    Remove {
        /// The session, by the beginning or end of its id
        session: String,
        /// Confirm: the same text once more
        #[arg(long, value_name = "SESSION")]
        yes_remove: Option<String>,
    },
    /// Export sessions, one file each (docs/result-file.schema.json), or the archive as tables (docs/tables.md)
    #[command(group = ArgGroup::new("to").required(true).args(["output", "parquet"]))]
    Export {
        /// Sessions or cards [default: everything]
        #[arg(conflicts_with = "parquet")]
        what: Vec<String>,
        /// Folder to write session files to
        #[arg(short = 'o', long, value_name = "FOLDER")]
        output: Option<PathBuf>,
        /// Folder to write sessions, figures, series, findings and cards to as Parquet files; it is replaced as a
        /// whole
        #[arg(long, value_name = "DIR")]
        parquet: Option<PathBuf>,
    },
    /// Import files from `export`; for logs of other tools use `cardscope import`
    Import {
        /// Files or folders
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}
