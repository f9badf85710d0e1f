//! Writes the rows of a batch of logs.

use super::group::{RunGroup, method_name, split_by_setting};
use super::prepared::{PreparedLog, PreparedSource};
use crate::connection::{Connection, RowBatch, SqlResult, SqlValue};
use crate::events::{add_event_row, event_rows};
use crate::measurement_writing::{SessionRow, condition_origins};
use crate::resolver::{CardResolver, ResolvedSighting};
use crate::shared_settings::SharedSettings;
use crate::{SessionId, figure_json, sql, timestamps};
use cardscope_model::log::CardLog;
use cardscope_model::session_file::{FileRecipe, SessionFile};
use cardscope_model::setting::Setting;
use uuid::Uuid;

/// Kind of a session made of an imported log.
pub(crate) const IMPORT_KIND: &str = "import";

/// I/O path of an imported log, where it is unknown.
pub(crate) const IMPORTED_IO_PATH: &str = "imported";

/// Seed of an imported run, which is unknown.
const NO_SEED: &str = "0";

/// Rows of a batch, written in the order of their references.
pub(super) struct RowsInOrder {
    now: String,
    sources: RowBatch,
    sessions: RowBatch,
    runs: RowBatch,
    shared: SharedSettings,
    events: RowBatch,
}

impl RowsInOrder {
    pub(super) fn new() -> Self {
        RowsInOrder {
            now: timestamps::now(),
            sources: RowBatch::new(sql::INSERT_SOURCES, ""),
            sessions: RowBatch::new(sql::INSERT_SESSIONS, ""),
            runs: RowBatch::new(sql::INSERT_RUNS, ""),
            shared: SharedSettings::default(),
            events: event_rows(),
        }
    }

    pub(super) fn add_bytes(&mut self, source: &PreparedSource<'_>, bytes: Vec<u8>) {
        self.sources.push([
            (&source.hash).into(),
            source.name.into(),
            source.format.into(),
            (bytes.len() as u64).into(),
            bytes.into(),
            (&self.now).into(),
        ]);
    }

    /// Writes the files' bytes early, so that they take no memory while the other rows are made.
    pub(super) async fn write_bytes(&mut self, c: &mut Connection) -> SqlResult<()> {
        self.sources.write(c).await
    }

    /// Adds the logs of a file and returns their sessions.
    pub(super) fn add_logs(
        &mut self,
        source: &PreparedSource<'_>,
        logs: &[&PreparedLog<'_>],
        resolver: &mut CardResolver,
    ) -> SqlResult<Vec<SessionId>> {
        let mut sessions = Vec::new();
        for log in logs {
            let placed = resolver.resolve(&log.sighting);
            for event in &log.log.events {
                add_event_row(&mut self.events, &placed.card, placed.unit.as_deref(), event)?;
            }
            for group in split_by_setting(log.log) {
                sessions.push(self.add_session(source, log, &group, &placed)?);
            }
        }
        Ok(sessions)
    }

    fn add_session(
        &mut self,
        source: &PreparedSource<'_>,
        log: &PreparedLog<'_>,
        group: &RunGroup,
        placed: &ResolvedSighting,
    ) -> SqlResult<SessionId> {
        let id = SessionId(Uuid::now_v7());
        let (name, recipe, condition) = (id.to_string(), method_name(log.log).to_owned(), &group.condition);
        let setting =
            Setting { recipe: recipe.clone(), size_bytes: group.size_bytes, condition: condition.clone() };
        let setting = self.shared.add_setting(&setting)?;
        let version = log.log.tool.as_ref().and_then(|tool| tool.version.clone()).unwrap_or_default();
        // An invalid date stays in the log only, because sessions are sorted by time.
        let date = log.log.date.clone().filter(|date| timestamps::is_valid_time(date));
        let started_at = date.clone().unwrap_or_else(|| self.now.clone());
        let file = SessionFile {
            kind: IMPORT_KIND.to_owned(),
            target: source.name.to_owned(),
            recipe: Some(FileRecipe { name: recipe, version, text: String::new() }),
            seed: NO_SEED.to_owned(),
            condition: condition.clone(),
            origins: condition_origins(condition),
            io_path: Some(IMPORTED_IO_PATH.to_owned()),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started_at.clone(),
            measured_at: date,
            ended_at: Some(self.now.clone()),
            ended: Some(crate::SessionEnd::Complete.as_str().to_owned()),
            log: Some(without_runs(log.log)),
            content_hash: Some(log.content_hash.clone()),
            ..SessionFile::default()
        };
        let (placed, source, process) = (Some(placed), Some(source.hash.as_str()), String::new());
        let row = SessionRow { id: &name, file: &file, placed, source, process, document: None };
        self.sessions.push(row.into_values(&mut self.shared)?);
        self.add_runs(id, group, &setting, &started_at)?;
        Ok(id)
    }

    fn add_runs(&mut self, id: SessionId, group: &RunGroup, setting: &str, started: &str) -> SqlResult<()> {
        for run in &group.runs {
            self.runs.push([
                id.to_string().into(),
                run.run.into(),
                NO_SEED.into(),
                true.into(),
                started.into(),
                (&self.now).into(),
                SqlValue::Text(None),
                setting.into(),
                group.size_bytes.into(),
                run.loops.into(),
                figure_json::figures_to_json(&run.results)?.into(),
            ]);
        }
        Ok(())
    }

    pub(super) async fn write_rows(mut self, c: &mut Connection, resolver: CardResolver) -> SqlResult<()> {
        resolver.store(c).await?;
        self.shared.write_missing(c).await?;
        self.events.write(c).await?;
        self.sessions.write(c).await?;
        self.runs.write(c).await
    }
}

/// Returns a log without its runs, with a note about dropped figures.
fn without_runs(log: &CardLog) -> CardLog {
    let mut log = log.clone();
    let figures = std::mem::take(&mut log.runs).into_iter().flat_map(|run| run.results);
    let invalid = figures.filter(|figure| !figure.is_speed()).count();
    if invalid > 0 {
        log.doubts.push(format!("left out {invalid} impossible speeds (negative, absurd or not a number)"));
    }
    log
}
