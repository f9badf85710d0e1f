//! Sessions, runs, samples and findings as read for the tables.

use super::time::{parse_micros, utc_year};
use crate::connection::{SqlResult, SqlRow};
use cardscope_model::condition::Condition;
use cardscope_model::result::TemperatureC;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, TestOp};
use serde::Deserialize;
use serde_json::Value as Json;

pub(super) struct SessionSource {
    pub(super) id: String,
    pub(super) has_recipe: bool,
    /// False for an imported log.
    pub(super) is_measured_here: bool,
    pub(super) kind: String,
    pub(super) card: Option<String>,
    pub(super) unit: Option<String>,
    started: String,
    pub(super) started_at: Option<i64>,
    pub(super) measured_at: Option<i64>,
    pub(super) year: i16,
    pub(super) target: String,
    /// Name and version.
    pub(super) recipe: [Option<String>; 2],
    pub(super) seed: String,
    /// Time and kind of the end.
    pub(super) ended: [Option<String>; 2],
    pub(super) io_path: String,
    pub(super) bus_ceiling_mb_s: Option<f64>,
    /// Board, reader and bus mode.
    pub(super) rig: [Option<String>; 3],
    pub(super) condition: String,
    pub(super) tool_version: String,
}

impl SessionSource {
    /// Reads a row of the statement `SESSIONS` of the parent module.
    pub(super) fn from_row(row: &SqlRow) -> SqlResult<Self> {
        let (id, started): (String, String) = (row.get(0)?, row.get(8)?);
        let (started_at, measured): (_, Option<String>) = (parse_micros(&started), row.get(9)?);
        Ok(SessionSource {
            has_recipe: row.get(19)?,
            is_measured_here: row.get(20)?,
            kind: row.get(1)?,
            card: row.get(2)?,
            unit: row.get(3)?,
            year: started_at.or_else(|| id_micros(&id)).and_then(utc_year).unwrap_or(UNDATED_YEAR),
            started_at,
            measured_at: measured.as_deref().and_then(parse_micros),
            target: row.get(4)?,
            recipe: [row.get(5)?, row.get(6)?],
            seed: row.get(7)?,
            ended: [row.get(10)?, row.get(11)?],
            io_path: row.get(12)?,
            bus_ceiling_mb_s: row.get(13)?,
            rig: [row.get(14)?, row.get(15)?, row.get(16)?],
            condition: row.get(17)?,
            tool_version: row.get(18)?,
            id,
            started,
        })
    }

    pub(super) fn is_same_year(&self, other: &SessionSource) -> bool {
        self.year == other.year
    }

    /// Sort key of the session, after which the next query continues.
    pub(super) fn sort_key(&self) -> (String, String) {
        (self.started.clone(), self.id.clone())
    }
}

/// Year of sessions without any time.
pub(super) const UNDATED_YEAR: i16 = 1970;

/// Creation time of a session id in µs, which a UUID of version 7 contains.
fn id_micros(id: &str) -> Option<i64> {
    let (seconds, nanos) = uuid::Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    Some(i64::try_from(seconds).ok()? * 1_000_000 + i64::from(nanos / 1000))
}

/// Values shared by all figures of a run.
pub(super) struct RunSource {
    pub(super) number: i64,
    pub(super) counted: bool,
    pub(super) measured_at: Option<i64>,
    pub(super) setting: String,
    pub(super) recipe: String,
    pub(super) size_bytes: Option<i64>,
    pub(super) condition: Condition,
}

/// Traffic of one interval of time.
#[derive(Default)]
pub(super) struct SeriesPoint<'a> {
    pub(super) run: Option<i64>,
    pub(super) test: Option<&'a str>,
    pub(super) step: Option<&'a str>,
    pub(super) number: Option<i64>,
    pub(super) counted: Option<bool>,
    pub(super) phase: Option<&'a str>,
    pub(super) op: &'a str,
    pub(super) at_s: f64,
    pub(super) seconds: f64,
    pub(super) bytes: u64,
    pub(super) ios: Option<u64>,
    pub(super) mb_s: f64,
    pub(super) latency_us: Option<f64>,
    pub(super) max_latency_us: Option<f64>,
    pub(super) temperature_c: Option<f64>,
}

pub(super) struct StoredFinding {
    pub(super) claim: String,
    pub(super) verdict: String,
    pub(super) weight: String,
    pub(super) confidence: f64,
    pub(super) evidence: String,
    pub(super) advice: Option<String>,
}

/// Details of results that were measured here, beyond their figures.
#[derive(Default, Deserialize)]
pub(super) struct ResultDetails {
    #[serde(default)]
    pub(super) results: Vec<ResultDetail>,
}

#[derive(Deserialize)]
pub(super) struct ResultDetail {
    pub(super) test: AccessPattern,
    pub(super) op: TestOp,
    #[serde(default)]
    pub(super) step: Option<String>,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
    #[serde(default)]
    pub(super) temperature_c: TemperatureC,
}

impl ResultDetails {
    pub(super) fn for_figure(&self, figure: &TestFigure) -> Option<&ResultDetail> {
        self.results.iter().find(|d| d.test == figure.test && d.op == figure.op && d.step == figure.step)
    }
}

#[derive(Default, Deserialize)]
pub(super) struct TableDocument {
    #[serde(default)]
    pub(super) findings: Json,
    #[serde(default)]
    pub(super) series: Json,
}
