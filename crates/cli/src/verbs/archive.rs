//! `archive`: what was measured before.

use crate::output::{self, Options};
use cardscope_report::table::Table;
use cardscope_workbench::Failure;
use cardscope_workbench::archive::{self, Line, Shown};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::Value;
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
    /// List everything that was measured
    List,
    /// Show one as it was printed; of one that did not finish, what was measured
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
            What::Show { session } => match archive::show(path, &session)? {
                Shown::Bench(report) => {
                    output::document(options, &report, || cardscope_report::bench::text(&report))?;
                }
                Shown::Record { kind, document } => {
                    output::document(options, &document, || record_text(&kind, &document))?;
                }
            },
        }
        Ok(0)
    }
}

fn text(sessions: &[Line]) -> String {
    if sessions.is_empty() {
        return "Nothing was measured yet.".to_owned();
    }
    let mut table = Table::new(["session", "began (UTC)", "target", "card", "verb", "recipe", "ended"]);
    for s in sessions {
        let card = s.card.clone().unwrap_or_default();
        let recipe = s.recipe.clone().unwrap_or_default();
        table.row(
            [&s.session, &s.started_at, &s.target, &card, &s.kind, &recipe, &s.state].map(String::clone),
        );
    }
    table.to_string()
}

/// A record as its verb prints it; as JSON where it is too early or too old for that.
fn record_text(kind: &str, document: &Value) -> String {
    let known = match kind {
        "verify" => as_text(document, cardscope_report::verify::text),
        "map" => as_text(document, cardscope_report::card_map::text),
        "sustain" => as_text(document, cardscope_report::sustain::text),
        "observe" => as_text(document, cardscope_report::observe::text),
        _ => None,
    };
    known.or_else(|| serde_json::to_string_pretty(document).ok()).unwrap_or_default()
}

fn as_text<T: DeserializeOwned>(document: &Value, text: impl FnOnce(&T) -> String) -> Option<String> {
    T::deserialize(document).ok().map(|report| text(&report))
}
