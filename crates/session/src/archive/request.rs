//! What is asked of an archive.

use super::Edit;
use crate::options::ArchiveAt;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// List, show, correct, export and import what was measured
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
    /// List everything that was measured
    List,
    /// List the cards
    Cards,
    /// Show a session as it was printed (of one that did not finish, what was measured), or a card with all that is known
    Show {
        /// A session by the beginning of its id, or a card by words of its name or the beginning of its id
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
        /// The session, by its id as `list` shows it or the beginning of it
        session: String,
        /// Consent: the same text once more
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
