//! `archive`: lists, shows, edits and exports sessions and cards.

use super::page::attended;
use crate::output::{self, OutputOptions};
use cardscope_archive as archive;
use cardscope_archive::tables;
use cardscope_archive::{AnswerCache, ArchiveAction, ArchiveRequest, FoundItem};
use cardscope_page::tree::Page;
use cardscope_session::Result;
use cardscope_session::stored_document::StoredDocument;
use cardscope_verbs::list::VerbDocument;
use std::path::Path;

mod pages;

pub(super) fn run(asked: ArchiveRequest, options: &OutputOptions) -> Result<u8> {
    let path = asked.archive.named();
    match asked.what {
        ArchiveAction::List => {
            let sessions = archive::list(path, &answer_cache())?;
            output::list(options, "sessions", &sessions, |sessions| pages::sessions(sessions))
        }
        ArchiveAction::Cards { builtin: true } => {
            output::list(options, "cards", &cardscope_compare::card_source::builtin()?, |cards| {
                pages::builtin(cards)
            })
        }
        ArchiveAction::Cards { builtin: false } => {
            output::list(options, "cards", &archive::cards(path)?, |cards| pages::cards(cards))
        }
        ArchiveAction::Show { what } => show_item(options, path, &what),
        ArchiveAction::Edit(edit) => {
            let card = archive::edit(path, &edit, &answer_cache())?;
            output::document(options, &card, |card| pages::edited(&edit, card))
        }
        ArchiveAction::Merge { from, into } => {
            let card = archive::merge(path, &from, &into, &answer_cache())?;
            output::document(options, &card, |card| pages::merged(&from, card))
        }
        ArchiveAction::Remove { session, yes_remove } => {
            let removed = archive::remove(path, &session, yes_remove.as_deref())?;
            output::list(options, "removed", &removed, |session| {
                Page::plain(format!("Removed session {session}."))
            })
        }
        ArchiveAction::Export { parquet: Some(folder), .. } => {
            let written =
                attended(options, None, |_, interrupt, _| tables::export(path, &folder, interrupt))?;
            output::list(options, "tables", &written, |written| pages::tables(written, &folder))
        }
        ArchiveAction::Export { what, output, .. } => {
            let folder = output.unwrap_or_default();
            let files = archive::export(path, &what, &folder)?;
            let folder = folder.display().to_string();
            output::list(options, "files", &files, |files| pages::exported(files, &folder))
        }
        ArchiveAction::Import { files } => {
            let taken = archive::take(path, &files)?;
            output::list(options, "files", &taken, |taken| pages::taken(taken))?;
            // Exit status 1: not all files were imported.
            Ok(u8::from(taken.iter().any(|t| t.error.is_some())))
        }
    }
}

fn answer_cache() -> AnswerCache {
    AnswerCache::new(cardscope_verbs::records::answer)
}

/// Shows a session or a card.
fn show_item(options: &OutputOptions, path: Option<&Path>, what: &str) -> Result<u8> {
    match archive::find(path, what, &answer_cache())? {
        FoundItem::Card(card) => output::document(options, &*card, pages::card),
        FoundItem::Session(StoredDocument::Bench(report)) => {
            output::document(options, &*report, VerbDocument::page)
        }
        FoundItem::Session(StoredDocument::Log(log)) => output::document(options, &*log, VerbDocument::page),
        FoundItem::Session(StoredDocument::Record { kind, document }) => {
            output::document(options, &document, |document| pages::record(&kind, document))
        }
    }
}
