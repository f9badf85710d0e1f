//! Pages of `archive`.

use cardscope_archive as archive;
use cardscope_archive::tables::WrittenTable;
use cardscope_archive::{CardEdit, CardPage, ExportedFile, SessionLine, TakenFile};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::report::NewsTone;
use cardscope_model::units::DecimalSize;
use cardscope_page::figure::{answer_line, join_names, pluralize};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact};
use cardscope_verbs::list::page_of_document;
use serde_json::Value;
use std::path::Path;

/// Page for an empty archive.
fn empty_page(answer: &str) -> Page {
    let mut page = Page::from_answer(answer);
    page.add_step("Test a card, or import a log:", Some("cardscope check DEVICE".to_owned()));
    page
}

pub(super) fn sessions_page(sessions: &[SessionLine]) -> Page {
    if sessions.is_empty() {
        return empty_page("The archive has no sessions yet.");
    }
    let (parts, whole): (Vec<&SessionLine>, Vec<&SessionLine>) =
        sessions.iter().partition(|line| line.session.part_of.is_some());
    let checked = if parts.is_empty() { "" } else { ", the parts of checks not counted" };
    let count = pluralize(whole.len() as u64, "session");
    let mut page = Page::from_answer(format!("{count} in the archive{checked}."));
    page.add_section("", [PageBlock::Table(session_table(&whole))]);
    page.add_detail("Parts of checks", [PageBlock::Table(session_table(&parts))]);
    page.add_step("Show one:", Some("cardscope archive show ID".to_owned()));
    page
}

/// Table of sessions with date, card, verb, result and the shortest unique suffix of the id.
fn session_table(sessions: &[&SessionLine]) -> Table {
    let reversed = sessions.iter().map(|line| line.session.session.chars().rev().collect::<String>());
    let short = unique_length(reversed);
    let table = Table::from_items(
        sessions.iter().copied(),
        &[
            ("date", &|s: &SessionLine| date_part(&s.session.started_at).to_owned()),
            ("card", &|s| card_title(s).to_owned()),
            ("what", &|s| {
                let recipe = s.session.recipe.as_deref().unwrap_or_default();
                format!("{} {recipe}", s.session.kind).trim_end().to_owned()
            }),
            ("result", &session_result),
            ("id", &|s| {
                let id = &s.session.session;
                id.get(id.len().saturating_sub(short)..).unwrap_or(id).to_owned()
            }),
        ],
    );
    table.left_aligned(["card", "what", "result", "id"]).never_dropped(["card", "what", "result", "id"])
}

/// Short result of a session, with its state unless it is complete.
fn session_result(line: &SessionLine) -> String {
    let ended = if line.session.state == "complete" { "" } else { &line.session.state };
    [ended, &line.brief].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

/// Title of the card, else the last part of the target's path.
fn card_title(line: &SessionLine) -> &str {
    let target = &line.session.target;
    let target = target.rsplit('/').next().unwrap_or(target);
    line.session.title.as_deref().or(line.card.as_deref()).unwrap_or(target)
}

/// Length of the shortest unique prefix, at least 8, which stays recognizable.
fn unique_length(names: impl Iterator<Item = String>) -> usize {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let common = |pair: &[String]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    names.windows(2).map(common).max().map_or(8, |common| (common + 1).max(8))
}

fn date_part(text: &str) -> &str {
    text.get(..10).unwrap_or(text)
}

pub(super) fn cards_page(cards: &[StoredCard]) -> Page {
    if cards.is_empty() {
        let mut page = empty_page("The archive has no cards yet.");
        let command = "cardscope archive cards --builtin".to_owned();
        page.add_step("List those that come with the program:", Some(command));
        return page;
    }
    let mut page = Page::from_answer(format!("{} in the archive.", pluralize(cards.len() as u64, "card")));
    let short = unique_length(cards.iter().map(|card| card.id.clone()));
    let measured = |card: &StoredCard| match &card.measured {
        Some([first, last]) if date_part(first) == date_part(last) => date_part(first).to_owned(),
        Some([first, last]) => format!("{} to {}", date_part(first), date_part(last)),
        None => String::new(),
    };
    let table = Table::from_items(
        cards,
        &[
            ("card", &|c| c.title.clone()),
            ("id", &|c| c.id.get(..short).unwrap_or(&c.id).to_owned()),
            ("units", &|c| c.units.to_string()),
            ("sessions", &|c| c.sessions.to_string()),
            ("runs", &|c| c.runs.to_string()),
            ("measured", &measured),
        ],
    );
    let table = table.left_aligned(["id", "measured"]).least_important(["units", "measured"]);
    page.add_section("", [PageBlock::Table(table)]);
    page
}

/// Page of the cards that come with the program, with their reports.
pub(super) fn builtin_page(cards: &[StoredCard]) -> Page {
    let count = pluralize(cards.len() as u64, "card");
    let mut page = Page::from_answer(format!("{count} of published reports come with the program."));
    let report = |card: &StoredCard| card.id.split(':').next().unwrap_or_default().to_owned();
    let table = Table::from_items(
        cards,
        &[("card", &|c| c.title.clone()), ("runs", &|c| c.runs.to_string()), ("report", &report)],
    );
    page.add_section("", [PageBlock::Table(table.left_aligned(["report"]))]);
    page.add_step("Compare two:", Some("cardscope compare CARD CARD".to_owned()));
    page
}

/// Page of an edited card with the changed fields.
pub(super) fn edited_page(edit: &CardEdit, shown: &CardPage) -> Page {
    let mut changed: Vec<&str> = edit.facts.iter().filter_map(|fact| fact.split('=').next()).collect();
    changed.extend(edit.marks.is_some().then_some("marks"));
    changed.extend(edit.event.is_some().then_some("event"));
    changed.extend((!edit.attach.is_empty()).then_some("attachment"));
    if changed.is_empty() {
        return Page::from_answer("Nothing changed: give --set, --marks, --event or --attach.");
    }
    let answer = format!("Saved {} of {}", join_names(&changed), shown.card.title);
    Page { answer: answer_line(&answer).into(), ..card_page(shown) }
}

/// Page of a merged card.
pub(super) fn merged_page(from: &str, shown: &CardPage) -> Page {
    Page {
        answer: answer_line(&format!("Merged {from} into {}", shown.card.title)).into(),
        ..card_page(shown)
    }
}

pub(super) fn card_page(card: &CardPage) -> Page {
    let line = &card.card;
    let mut page = Page::from_answer(answer_line(&format!("{}: {}", line.title, amount_text(line))));

    let mut known = vec![fact("id", &line.id)];
    let mut facts = line.facts.clone();
    let texts = archive::text_facts(&mut facts).into_iter();
    known.extend(texts.filter_map(|(word, value)| Some(fact(word, value.as_ref()?))));
    if !facts.marks.is_empty() {
        known.push(fact("marks", facts.marks.join(" ")));
    }
    page.add_section("", [PageBlock::Facts(known)]);
    let event = |event: &cardscope_model::card::CardEvent| {
        let price = event.price.as_ref().map_or(String::new(), |p| format!(", {} {}", p.amount, p.currency));
        let note = event.note.as_ref().map_or(String::new(), |n| format!(", {n}"));
        let source = event.source.as_ref().map_or(String::new(), |s| format!(" (source: {s})"));
        let kind = serde_json::to_value(event.kind).ok();
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        fact(event.date.as_deref().unwrap_or("no date"), format!("{kind}{price}{note}{source}"))
    };
    page.add_section("History", [PageBlock::Facts(card.events.iter().map(event).collect())]);
    let files = card.attachments.iter();
    let files = files.map(|f| format!("{} ({}, {})", f.name, f.media_type, f.hash.get(..12).unwrap_or("")));
    page.add_section("Attached", [PageBlock::Lines(files.collect())]);
    // The column would repeat the card of this page.
    let mut of_one_card = card.session_lines.clone();
    of_one_card.iter_mut().for_each(|line| line.session.title = Some(String::new()));
    let of_one_card: Vec<&SessionLine> = of_one_card.iter().collect();
    page.add_section("Sessions", [PageBlock::Table(session_table(&of_one_card))]);
    page
}

fn amount_text(card: &StoredCard) -> String {
    let measured = format!("{} of {}", pluralize(card.sessions, "session"), pluralize(card.units, "unit"));
    if card.runs > 0 { format!("{} in {measured}", pluralize(card.runs, "run")) } else { measured }
}

pub(super) fn imported_page(files: &[TakenFile]) -> Page {
    let new = files.iter().filter(|f| f.session.is_some()).count();
    let known = files.iter().filter(|f| f.known).count();
    let failed = files.iter().filter_map(|f| Some(format!("{}: {}", f.file, f.error.as_ref()?)));
    let failed: Vec<String> = failed.collect();
    let tone = if failed.is_empty() { NewsTone::Plain } else { NewsTone::Bad };
    let answer = format!("Imported {} of {}.", new, pluralize(files.len() as u64, "file"));
    let mut page = Page::new("", tone, answer);
    let before = (known > 0).then(|| format!("{}: imported before.", pluralize(known as u64, "file")));
    page.add_reasons(NewsTone::Plain, before);
    page.add_section("Not imported", [PageBlock::Lines(failed)]);
    page
}

pub(super) fn exported_page(files: &[ExportedFile], folder: &str) -> Page {
    if files.is_empty() {
        return empty_page("Nothing to export: the archive is empty.");
    }
    let sessions = pluralize(files.len() as u64, "session");
    Page::from_answer(answer_line(&format!("Wrote {sessions} to {folder}")))
}

pub(super) fn tables_page(written: &[WrittenTable], folder: &Path) -> Page {
    if written.is_empty() {
        return empty_page("Nothing to export: the archive is empty.");
    }
    let rows = |name: &str| written.iter().find(|table| table.table == name).map_or(0, |table| table.rows);
    let (sessions, figures) = (pluralize(rows("sessions"), "session"), pluralize(rows("figures"), "figure"));
    let folder = folder.display();
    let mut page = Page::from_answer(answer_line(&format!("Wrote {sessions} and {figures} to {folder}")));
    let table = Table::from_items(
        written,
        &[
            ("table", &|t| t.table.clone()),
            ("rows", &|t| t.rows.to_string()),
            ("size", &|t| DecimalSize(t.bytes).in_table()),
            ("files", &|t| t.files.to_string()),
        ],
    );
    page.add_section("", [PageBlock::Table(table)]);
    page
}

/// Page of a record, or its JSON if its verb cannot read the document.
pub(super) fn record_page(kind: &str, document: &Value) -> Page {
    page_of_document(kind, document).unwrap_or_else(|| {
        let mut page = Page::from_answer(format!("A session of {kind}, as JSON."));
        page.add_section("", serde_json::to_string_pretty(document).ok().map(PageBlock::Verbatim));
        page
    })
}
