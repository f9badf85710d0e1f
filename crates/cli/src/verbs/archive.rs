//! `archive`: what was measured before, the cards it was measured of, and both as files.

use super::page::attended;
use crate::output::{self, Options};
use cardscope_archive as archive;
use cardscope_archive::tables;
use cardscope_archive::{AnswerCache, Found, Request, What};
use cardscope_page::tree::Page;
use cardscope_session::Result;
use cardscope_session::stored_document::Shown;
use cardscope_verbs::list::VerbDocument;
use std::path::Path;

mod pages;

pub(super) fn run(asked: Request, options: &Options) -> Result<u8> {
    let path = asked.archive.named();
    match asked.what {
        What::List => {
            let sessions = archive::list(path, &answers())?;
            output::list(options, "sessions", &sessions, |sessions| pages::sessions(sessions))
        }
        What::Cards { builtin: true } => {
            output::list(options, "cards", &cardscope_compare::card_source::builtin()?, |cards| {
                pages::builtin(cards)
            })
        }
        What::Cards { builtin: false } => {
            output::list(options, "cards", &archive::cards(path)?, |cards| pages::cards(cards))
        }
        What::Show { what } => show(options, path, &what),
        What::Edit(edit) => {
            let card = archive::edit(path, &edit, &answers())?;
            output::document(options, &card, |card| pages::edited(&edit, card))
        }
        What::Merge { from, into } => {
            let card = archive::merge(path, &from, &into, &answers())?;
            output::document(options, &card, |card| pages::merged(&from, card))
        }
        What::Remove { session, yes_remove } => {
            let removed = archive::remove(path, &session, yes_remove.as_deref())?;
            output::list(options, "removed", &removed, |session| {
                Page::plain(format!("Removed session {session}."))
            })
        }
        What::Export { parquet: Some(folder), .. } => {
            let written =
                attended(options, None, |_, interrupt, _| tables::export(path, &folder, interrupt))?;
            output::list(options, "tables", &written, |written| pages::tables(written, &folder))
        }
        What::Export { what, output, .. } => {
            let folder = output.unwrap_or_default();
            let files = archive::export(path, &what, &folder)?;
            let folder = folder.display().to_string();
            output::list(options, "files", &files, |files| pages::exported(files, &folder))
        }
        What::Import { files } => {
            let taken = archive::take(path, &files)?;
            output::list(options, "files", &taken, |taken| pages::taken(taken))?;
            Ok(u8::from(taken.iter().any(|t| t.error.is_some())))
        }
    }
}

fn answers() -> AnswerCache {
    AnswerCache::new(cardscope_verbs::records::answer)
}

/// A session or a card.
fn show(options: &Options, path: Option<&Path>, what: &str) -> Result<u8> {
    match archive::find(path, what, &answers())? {
        Found::Card(card) => output::document(options, &*card, pages::card),
        Found::Session(Shown::Bench(report)) => output::document(options, &*report, VerbDocument::page),
        Found::Session(Shown::Log(log)) => output::document(options, &*log, VerbDocument::page),
        Found::Session(Shown::Record { kind, document }) => {
            output::document(options, &document, |document| pages::record(&kind, document))
        }
    }
}
