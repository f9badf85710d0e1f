//! `archive`: lists, shows, edits and exports sessions and cards.

use super::execution::with_progress;
use crate::output::{self, OutputOptions};
use cardscope_archive::{self as archive, AnswerCache, ArchiveAction, ArchiveRequest, FoundItem, tables};
use cardscope_page::tree::Page;
use cardscope_session::Result;
use cardscope_session::archive_access::StoredDocument;
use cardscope_verbs::list::VerbDocument;
use std::path::Path;

mod pages;

pub(super) fn run(asked: ArchiveRequest, options: &OutputOptions) -> Result<u8> {
    let path = asked.archive.named_path();
    match asked.what {
        ArchiveAction::List => {
            let sessions = archive::list_sessions(path, &answer_cache())?;
            output::print_list(options, "sessions", &sessions, |sessions| pages::sessions_page(sessions))
        }
        ArchiveAction::Cards { builtin: true } => {
            let cards = cardscope_compare::card_lookup::builtin_cards()?;
            output::print_list(options, "cards", &cards, |cards| pages::builtin_page(cards))
        }
        ArchiveAction::Cards { builtin: false } => {
            let cards = archive::list_cards(path)?;
            output::print_list(options, "cards", &cards, |cards| pages::cards_page(cards))
        }
        ArchiveAction::Show { what } => show_item(options, path, &what),
        ArchiveAction::Edit(edit) => {
            let card = archive::edit_card(path, &edit, &answer_cache())?;
            output::print_document(options, &card, |card| pages::edited_page(&edit, card))
        }
        ArchiveAction::Merge { from, into } => {
            let card = archive::merge_cards(path, &from, &into, &answer_cache())?;
            output::print_document(options, &card, |card| pages::merged_page(&from, card))
        }
        ArchiveAction::Remove { session, yes_remove } => {
            let removed = archive::remove_session(path, &session, yes_remove.as_deref())?;
            output::print_list(options, "removed", &removed, |session| {
                Page::from_answer(format!("Removed session {session}."))
            })
        }
        ArchiveAction::Export { parquet: Some(folder), .. } => {
            let written = with_progress(options, None, |_, interrupt, _| {
                tables::export_tables(path, &folder, interrupt)
            })?;
            output::print_list(options, "tables", &written, |written| pages::tables_page(written, &folder))
        }
        ArchiveAction::Export { what, output, .. } => {
            let folder = output.unwrap_or_default();
            let files = archive::export_sessions(path, &what, &folder)?;
            let folder = folder.display().to_string();
            output::print_list(options, "files", &files, |files| pages::exported_page(files, &folder))
        }
        ArchiveAction::Import { files } => {
            let taken = archive::import_session_files(path, &files)?;
            output::print_list(options, "files", &taken, |taken| pages::imported_page(taken))?;
            // Exit status 1: not all files were imported.
            Ok(u8::from(taken.iter().any(|t| t.error.is_some())))
        }
    }
}

fn answer_cache() -> AnswerCache {
    AnswerCache::new(cardscope_verbs::list::answer_of_document)
}

/// Shows a session or a card.
fn show_item(options: &OutputOptions, path: Option<&Path>, what: &str) -> Result<u8> {
    match archive::find_session_or_card(path, what, &answer_cache())? {
        FoundItem::Card(card) => output::print_document(options, &*card, pages::card_page),
        FoundItem::Session(document) => match document {
            StoredDocument::Bench(report) => output::print_document(options, &*report, VerbDocument::page),
            StoredDocument::Log(log) => output::print_document(options, &*log, VerbDocument::page),
            StoredDocument::Record { kind, document } => {
                output::print_document(options, &document, |document| pages::record_page(&kind, document))
            }
        },
    }
}
