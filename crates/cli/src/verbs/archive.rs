//! `archive`: what was measured before.

use crate::output::{self, Options};
use cardscope_report::table::Table;
use cardscope_workbench::Failure;
use cardscope_workbench::archive::{self, Line};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Look at what was measured before
#[derive(Debug, Args)]
pub(crate) struct Archive {
    #[command(subcommand)]
    what: What,
    /// Archive to read [default: in the XDG data folder]
    #[arg(long, value_name = "FILE", env = "CARDSCOPE_ARCHIVE", global = true)]
    archive: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List all sessions
    List,
    /// Show one session as it was printed; of one that did not finish, what was measured
    Show {
        /// The session's name, as `list` shows it
        session: String,
    },
}

impl Archive {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let path = self.archive.as_deref();
        match self.what {
            What::List => {
                let sessions = archive::list(path)?;
                output::document(options, &serde_json::json!({ "sessions": sessions }), || text(&sessions))?;
            }
            What::Show { session } => {
                let report = archive::show(path, &session)?;
                output::document(options, &report, || cardscope_report::bench::text(&report))?;
            }
        }
        Ok(0)
    }
}

fn text(sessions: &[Line]) -> String {
    if sessions.is_empty() {
        return "Nothing was measured yet.".to_owned();
    }
    let mut table = Table::new(["session", "began (UTC)", "target", "card", "recipe", "ended"]);
    for s in sessions {
        let card = s.card.clone().unwrap_or_default();
        table.row([&s.session, &s.started_at, &s.target, &card, &s.recipe, &s.state].map(String::clone));
    }
    table.to_string()
}
