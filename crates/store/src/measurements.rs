//! Figures of cards run by run, the input of comparisons.

use crate::connection::{Connection, SqlResult, SqlRow};
use crate::{Archive, ArchiveError, SessionId, figure_json};
use cardscope_model::run::{CardRun, Run};
use cardscope_model::setting::Setting;
use std::collections::{BTreeSet, HashMap};

/// Time of a run: own runs have a clock, an imported log may have a date.
macro_rules! at {
    () => {
        "CASE WHEN s.kind = 'import' THEN s.measured_at ELSE r.started_at END"
    };
}
pub(crate) use at;

const RUNS: &str = concat!(
    "SELECT s.id, s.card_id, s.specimen_id, r.setting_hash, ",
    at!(),
    ", r.number, r.counted, o.name, r.figures, s.started_at FROM session s JOIN run r ON r.session_id = s.id \
     LEFT JOIN source o ON o.hash = s.source_hash WHERE r.figures IS NOT NULL AND s.card_id"
);

impl Archive {
    /// Returns all finished runs of these cards, in order of measurement.
    pub fn measurements(&mut self, cards: &[String]) -> Result<Vec<CardRun>, ArchiveError> {
        self.run_read(async |c| load_card_runs(c, cards).await)
    }
}

/// A run whose setting is not loaded yet.
struct RawRun {
    started_at: String,
    setting: String,
    run: CardRun,
}

async fn load_card_runs(c: &mut Connection, cards: &[String]) -> SqlResult<Vec<CardRun>> {
    let mut raw = c.fetch_for_keys(RUNS, cards, raw_run_from_row).await?;
    let settings = load_settings(c, raw.iter().map(|raw| raw.setting.as_str())).await?;
    raw.sort_by(|a, b| {
        (&a.started_at, &a.run.session, a.run.run.run).cmp(&(&b.started_at, &b.run.session, b.run.run.run))
    });
    let with_setting = |raw: RawRun| {
        let setting = settings.get(&raw.setting).cloned().unwrap_or_default();
        CardRun { setting, ..raw.run }
    };
    Ok(raw.into_iter().map(with_setting).collect())
}

fn raw_run_from_row(row: &SqlRow) -> SqlResult<RawRun> {
    let run = CardRun {
        session: row.get_parsed::<SessionId>(0)?.to_string(),
        card_id: row.get(1)?,
        unit: row.get(2)?,
        setting: Setting::default(),
        measured_at: row.get(4)?,
        source: row.get(7)?,
        run: Run {
            run: row.get_integer(5)?,
            counted: row.get(6)?,
            results: figure_json::figures_from_json(&row.get::<String>(8)?)?,
            ..Run::default()
        },
    };
    Ok(RawRun { started_at: row.get(9)?, setting: row.get(3)?, run })
}

/// Returns settings by their hash.
pub(crate) async fn load_settings(
    c: &mut Connection,
    hashes: impl Iterator<Item = &str>,
) -> SqlResult<HashMap<String, Setting>> {
    let hashes: Vec<&str> = hashes.collect::<BTreeSet<_>>().into_iter().collect();
    let asked = "SELECT hash, recipe, size_bytes, condition FROM setting WHERE hash";
    let setting = |row: &SqlRow| {
        let setting = Setting {
            recipe: row.get(1)?,
            size_bytes: row.get_optional_integer(2)?,
            condition: row.get_json(3)?,
        };
        Ok((row.get(0)?, setting))
    };
    Ok(c.fetch_for_keys(asked, &hashes, setting).await?.into_iter().collect())
}
