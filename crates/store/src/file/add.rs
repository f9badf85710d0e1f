//! Imports a session file into all tables.

use super::checked::CheckedFile;
use crate::connection::{Connection, RowBatch, SqlResult, SqlRow, json_text, json_value, statement};
use crate::events::{add_event_row, event_rows};
use crate::measurement_writing::{SessionRow, delete_measurements, insert_findings, insert_sample};
use crate::naming::CardSighting;
use crate::resolver::{CardResolver, ResolvedSighting, mark_stale};
use crate::shared_settings::SharedSettings;
use crate::stored_files::{self, AttachmentOwner, NewAttachment};
use crate::{ImportedSource, deduplication, figure_json, process, sql};
use cardscope_model::result::RunResult;
use cardscope_model::session_file::{AttachedTo, FileRun, SessionFile};
use cardscope_model::setting::Setting;

/// Stores a session, unless the archive has it.
pub(super) async fn import_file(c: &mut Connection, checked: &CheckedFile<'_>) -> SqlResult<ImportedSource> {
    match find_stored(c, checked).await? {
        FilePresence::Complete(known) => return Ok(known),
        FilePresence::Unfinished => clear_unfinished(c, checked).await?,
        FilePresence::Absent => {}
    }
    let file = checked.file;
    let placed = resolve_card(c, checked).await?;
    if let Some(placed) = &placed {
        insert_events(c, file, placed).await?;
    }
    insert_session_rows(c, checked, placed.as_ref()).await?;
    attach_files(c, checked, placed.as_ref()).await?;
    let source = file.source.as_ref().map_or(&checked.name, |source| &source.hash);
    Ok(ImportedSource::New { source: source.clone(), sessions: vec![checked.id] })
}

enum FilePresence {
    /// The session is complete here, or a process is still measuring it.
    Complete(ImportedSource),
    /// Imported before its end; the file has the end.
    Unfinished,
    Absent,
}

/// Looks up the session by id, else by the content of the same imported log.
async fn find_stored(c: &mut Connection, checked: &CheckedFile<'_>) -> SqlResult<FilePresence> {
    let file = checked.file;
    let by_name = statement(SELECT_BY_ID).bind(&checked.name);
    let read = |row: &SqlRow| {
        // A record never completes a session, nor a session a record.
        let open = is_unfinished(row)? && row.get::<bool>(5)? == file.recipe.is_some();
        Ok((ImportedSource::known_from_row(row, 0)?, open))
    };
    match (c.fetch_optional(by_name, read).await?, &file.content_hash) {
        (Some((_, true)), _) if file.ended_at.is_some() => Ok(FilePresence::Unfinished),
        (Some((known, _)), _) => Ok(FilePresence::Complete(known)),
        (None, Some(content)) => {
            let size = file.runs.iter().find_map(|run| run.size_bytes);
            let condition = json_text(&file.condition)?;
            let same = statement(SELECT_BY_CONTENT).bind(content).bind(condition).bind(size);
            let known = c.fetch_all(same, |row| ImportedSource::known_from_row(row, 0)).await?;
            Ok(known.into_iter().next().map_or(FilePresence::Absent, FilePresence::Complete))
        }
        (None, None) => Ok(FilePresence::Absent),
    }
}

const SELECT_BY_ID: &str =
    "SELECT id, target, started_at, ended_at, process, recipe_hash <> '' FROM session WHERE id = $1";

/// A log becomes one session for each condition and size: see `import`.
const SELECT_BY_CONTENT: &str = "SELECT o.hash, o.name, o.imported_at FROM session s JOIN source o ON o.hash = s.source_hash \
    WHERE s.content_hash = $1 AND s.condition = $2 \
    AND COALESCE((SELECT MAX(size_bytes) FROM run WHERE session_id = s.id), 0) = COALESCE($3, 0)";

/// True if the session has no end and no living process of this machine.
fn is_unfinished(row: &SqlRow) -> SqlResult<bool> {
    Ok(row.get::<Option<String>>(3)?.is_none() && !process::is_alive(&row.get::<String>(4)?))
}

/// Removes the measurements of an unfinished session, whose row is then overwritten, and marks its card as stale,
/// which may change.
async fn clear_unfinished(c: &mut Connection, checked: &CheckedFile<'_>) -> SqlResult<()> {
    let card = "SELECT card_id FROM session WHERE id = $1 AND card_id IS NOT NULL";
    let cards = c.fetch_all(statement(card).bind(&checked.name), |row| row.get::<String>(0)).await?;
    delete_measurements(c, &checked.name).await?;
    mark_stale(c, &cards.into_iter().collect()).await
}

async fn resolve_card(c: &mut Connection, checked: &CheckedFile<'_>) -> SqlResult<Option<ResolvedSighting>> {
    let file = checked.file;
    let Some(card) = &file.card else { return Ok(None) };
    let sighting = CardSighting {
        facts: card.facts.clone(),
        unit: file.specimen.clone(),
        place: checked.name.clone(),
        title: card.title.clone(),
        id: Some(card.id.clone()),
    };
    Ok(Some(CardResolver::resolve_and_store(c, &sighting).await?))
}

async fn insert_events(c: &mut Connection, file: &SessionFile, placed: &ResolvedSighting) -> SqlResult<()> {
    let mut rows = event_rows();
    for event in &file.events {
        let unit = event.specimen.as_ref().and(placed.unit.as_deref());
        add_event_row(&mut rows, &placed.card, unit, &event.event)?;
    }
    rows.write(c).await
}

async fn insert_session_rows(
    c: &mut Connection,
    checked: &CheckedFile<'_>,
    placed: Option<&ResolvedSighting>,
) -> SqlResult<()> {
    let file = checked.file;
    let mut shared = SharedSettings::default();
    let mut runs = run_rows(checked, &mut shared)?;
    let mut report = file.report.as_ref().map(json_value).transpose()?;
    if let Some(report) = &mut report {
        deduplication::remove_stored_runs(report, &compact_runs(file));
    }
    let report = report.as_ref().map(json_text).transpose()?;
    let document = report.or(file.document.as_ref().map(json_text).transpose()?);
    // No process of this machine measures an imported session.
    let (source, process) = (file.source.as_ref().map(|source| source.hash.as_str()), String::new());
    let row = SessionRow { id: &checked.name, file, placed, source, process, document };
    let mut rows = RowBatch::new(sql::INSERT_SESSIONS, sql::ON_SESSION_CONFLICT);
    rows.push(row.into_values(&mut shared)?);
    shared.write_missing(c).await?;
    insert_source(c, checked).await?;
    rows.write(c).await?;
    runs.write(c).await?;
    for run in &file.runs {
        for loop_of_test in &run.samples {
            insert_sample(c, &checked.name, run.run, loop_of_test).await?;
        }
    }
    insert_findings(c, &checked.name, &file.findings).await?;
    mark_stale(c, &placed.map(|p| p.card.clone()).into_iter().collect()).await
}

fn run_rows(checked: &CheckedFile<'_>, shared: &mut SharedSettings) -> SqlResult<RowBatch> {
    let file = checked.file;
    let mut rows = RowBatch::new(sql::INSERT_RUNS, "");
    for run in &file.runs {
        let setting = Setting {
            recipe: file.recipe.as_ref().map(|recipe| recipe.name.clone()).unwrap_or_default(),
            size_bytes: run.size_bytes,
            condition: file.condition.clone(),
        };
        let setting = run.figures.as_ref().map(|_| shared.add_setting(&setting)).transpose()?;
        rows.push([
            (&checked.name).into(),
            run.run.into(),
            (&run.seed).into(),
            run.counted.into(),
            (&run.started_at).into(),
            (&run.ended_at).into(),
            compact_results(run).as_ref().map(json_text).transpose()?.into(),
            setting.into(),
            run.size_bytes.into(),
            run.loops.into(),
            run.figures.as_deref().map(figure_json::figures_to_json).transpose()?.into(),
        ]);
    }
    Ok(rows)
}

/// Results of a run as its row stores them: without series if the loops of the file reproduce them exactly.
fn compact_results(run: &FileRun) -> Option<RunResult> {
    let results = run.results.as_ref()?;
    let bare = deduplication::without_series(results, &tests_with_samples(run));
    let mut again = bare.clone();
    deduplication::restore_series(&mut again, &run.samples);
    Some(if again == *results { bare } else { results.clone() })
}

fn tests_with_samples(run: &FileRun) -> Vec<deduplication::SampledTest> {
    run.samples.iter().map(|sample| (sample.test, sample.step.clone())).collect()
}

fn compact_runs(file: &SessionFile) -> Vec<(RunResult, Vec<deduplication::SampledTest>)> {
    file.runs.iter().filter_map(|run| Some((compact_results(run)?, tests_with_samples(run)))).collect()
}

async fn insert_source(c: &mut Connection, checked: &CheckedFile<'_>) -> SqlResult<()> {
    let (Some(source), Some(bytes)) = (&checked.file.source, &checked.source) else { return Ok(()) };
    let mut rows = RowBatch::new(sql::INSERT_SOURCES, "ON CONFLICT (hash) DO NOTHING");
    rows.push([
        (&source.hash).into(),
        (&source.name).into(),
        (&source.format).into(),
        (bytes.len() as u64).into(),
        bytes.clone().into(),
        (&source.imported_at).into(),
    ]);
    rows.write(c).await
}

async fn attach_files(
    c: &mut Connection,
    checked: &CheckedFile<'_>,
    placed: Option<&ResolvedSighting>,
) -> SqlResult<()> {
    for (file, bytes) in &checked.attachments {
        let on = match (file.on, placed) {
            (AttachedTo::Session, _) => Some(AttachmentOwner::Session(checked.id)),
            (AttachedTo::Card, Some(placed)) => Some(AttachmentOwner::Card(&placed.card)),
            (AttachedTo::Specimen, Some(placed)) => placed.unit.as_deref().map(AttachmentOwner::Unit),
            (_, None) => None,
        };
        let (name, media_type, note) = (&file.name, &file.media_type, file.note.as_deref());
        if let Some(on) = on {
            let attachment = NewAttachment { name, media_type, note, bytes };
            stored_files::store_attachment(c, on, &attachment, &file.added_at).await?;
        }
    }
    Ok(())
}
