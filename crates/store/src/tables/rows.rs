//! Makes rows of the tables from rows of the archive.

use super::columns::ColumnCell;
use super::schema;
use super::sources::{
    ResultDetails, RunSource, SeriesPoint, SessionSource, StoredFinding, TableDocument, UNDATED_YEAR,
};
use super::table::{ExportTable, MakeFile, TableFile, TablesError};
use crate::connection::{SqlResult, SqlRow};
use crate::timestamps::{parse_micros, utc_year};
use crate::{figure_json, timestamps};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::series::TimeSeries;
use cardscope_model::sustain::SustainSample;
use cardscope_model::test_name::{TestName, TestOp};
use serde::Deserialize;
use std::io;

pub(super) struct TableWriter<'a> {
    sessions: ExportTable,
    figures: ExportTable,
    series: ExportTable,
    findings: ExportTable,
    cards: ExportTable,
    output: TableOutput<'a>,
}

/// Files of all tables. The first write error is kept, and nothing is written after it.
struct TableOutput<'a> {
    make: &'a mut MakeFile<'a>,
    stop: &'a (dyn Fn() -> bool + Sync),
    failed: Option<io::Error>,
    stopped: bool,
}

impl TableOutput<'_> {
    fn push(&mut self, table: &mut ExportTable, year: Option<i16>, row: &[ColumnCell<'_>]) {
        if self.failed.is_none() {
            self.failed = table.push(year, row, self.make).err();
        }
    }
}

impl<'a> TableWriter<'a> {
    pub(super) fn new(make: &'a mut MakeFile<'a>, stop: &'a (dyn Fn() -> bool + Sync)) -> io::Result<Self> {
        Ok(TableWriter {
            sessions: schema::sessions::table()?,
            figures: schema::figures::table()?,
            series: schema::series::table()?,
            findings: schema::findings::table()?,
            cards: schema::cards::table()?,
            output: TableOutput { make, stop, failed: None, stopped: false },
        })
    }

    /// True after a stop or an error: no more rows are needed.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.output.stopped |= (self.output.stop)();
        self.output.stopped || self.output.failed.is_some()
    }

    /// Closes all files.
    pub(super) fn finish(mut self) -> Result<Vec<TableFile>, TablesError> {
        let stopped = self.is_stopped();
        if let Some(error) = self.output.failed {
            return Err(TablesError::File(error));
        }
        if stopped {
            return Err(TablesError::Stopped);
        }
        let now = parse_micros(&timestamps::now()).and_then(utc_year).or(Some(UNDATED_YEAR));
        let by_year = [self.sessions, self.figures, self.series, self.findings].map(|table| (table, now));
        let mut files = Vec::new();
        for (table, year) in by_year.into_iter().chain([(self.cards, None)]) {
            files.extend(table.finish(year, self.output.make).map_err(TablesError::File)?);
        }
        Ok(files)
    }

    pub(super) fn add_card(&mut self, card: &StoredCard, excluded: Option<&String>) -> SqlResult<()> {
        self.output.push(&mut self.cards, None, &schema::cards::row(card, excluded)?);
        Ok(())
    }

    /// Adds a row of the statement `SESSIONS` of the parent module.
    pub(super) fn add_session(&mut self, row: &SqlRow) -> SqlResult<SessionSource> {
        let s = SessionSource::from_row(row)?;
        self.output.push(&mut self.sessions, Some(s.year), &schema::sessions::row(&s, row)?);
        Ok(s)
    }

    pub(super) fn add_figures(&mut self, s: &SessionSource, row: &SqlRow) -> SqlResult<()> {
        // All runs of an imported log share its date.
        let measured_at = match s.is_measured_here {
            true => parse_micros(&row.get::<String>(3)?),
            false => s.measured_at,
        };
        let condition: Condition = row.get_optional_json(7)?.unwrap_or_default();
        let figures = figure_json::figures_from_json(&row.get::<String>(8)?)?;
        let details: Option<String> = row.get(9)?;
        let details: ResultDetails =
            details.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let run = RunSource {
            number: row.get::<i64>(1)?,
            counted: row.get(2)?,
            measured_at,
            setting: row.get::<Option<String>>(4)?.unwrap_or_default(),
            recipe: row.get::<Option<String>>(5)?.unwrap_or_default(),
            size_bytes: row.get(6)?,
            condition,
        };
        for (place, figure) in (1..).zip(&figures) {
            let row = schema::figures::row(s, &run, place, figure, details.for_figure(figure))?;
            self.output.push(&mut self.figures, Some(s.year), &row);
        }
        Ok(())
    }

    /// Adds the series of a loop.
    pub(super) fn add_series(&mut self, s: &SessionSource, row: &SqlRow) -> SqlResult<()> {
        let name = TestName { pattern: row.get_parsed(1)?, op: row.get_parsed(2)? };
        let (test, op) = (name.to_string(), name.op.to_string());
        let (run, step): (i64, Option<String>) = (row.get(0)?, row.get(3)?);
        let (number, counted): (i64, bool) = (row.get(4)?, row.get(5)?);
        let series: TimeSeries = row.get_json(6)?;
        for bucket in series.iter() {
            let has_latency = bucket.ios > 0 && bucket.sum_us > 0;
            let point = SeriesPoint {
                run: Some(run),
                test: Some(&test),
                step: step.as_deref(),
                number: Some(number),
                counted: Some(counted),
                op: &op,
                at_s: f64::from(bucket.at_s),
                seconds: f64::from(bucket.seconds),
                bytes: bucket.bytes,
                ios: Some(bucket.ios),
                mb_s: bucket.mb_s(),
                latency_us: has_latency.then(|| bucket.sum_us as f64 / bucket.ios as f64),
                max_latency_us: (bucket.ios > 0).then_some(bucket.max_us),
                temperature_c: bucket.temperature_c,
                ..SeriesPoint::default()
            };
            self.add_point(s, &point)?;
        }
        Ok(())
    }

    fn add_point(&mut self, s: &SessionSource, point: &SeriesPoint<'_>) -> SqlResult<()> {
        self.output.push(&mut self.series, Some(s.year), &schema::series::row(s, point)?);
        Ok(())
    }

    pub(super) fn add_finding(&mut self, s: &SessionSource, row: &SqlRow) -> SqlResult<()> {
        let finding = StoredFinding {
            claim: row.get(2)?,
            verdict: row.get(3)?,
            weight: row.get(4)?,
            confidence: row.get(5)?,
            evidence: row.get(6)?,
            advice: row.get(7)?,
        };
        self.push_finding(s, row.get(1)?, &finding)
    }

    fn push_finding(&mut self, s: &SessionSource, place: i64, finding: &StoredFinding) -> SqlResult<()> {
        self.output.push(&mut self.findings, Some(s.year), &schema::findings::row(s, place, finding)?);
        Ok(())
    }

    /// Adds the findings of a record and the series of a long run, which only its document has.
    pub(super) fn add_record(&mut self, s: &SessionSource, row: &SqlRow) -> SqlResult<()> {
        let document: TableDocument = serde_json::from_str(&row.get::<String>(0)?).unwrap_or_default();
        let findings: Vec<Finding> = Deserialize::deserialize(document.findings).unwrap_or_default();
        for (place, finding) in (1..).zip(findings) {
            let weight = serde_json::to_value(finding.weight).unwrap_or_default();
            let finding = StoredFinding {
                claim: finding.claim,
                verdict: finding.verdict,
                weight: weight.as_str().unwrap_or_default().to_owned(),
                confidence: finding.confidence,
                evidence: serde_json::to_string(&finding.evidence).unwrap_or_default(),
                advice: finding.advice,
            };
            self.push_finding(s, place, &finding)?;
        }
        if s.kind == "sustain" {
            let series: Vec<SustainSample> = Deserialize::deserialize(document.series).unwrap_or_default();
            self.add_long_run(s, &series)?;
        }
        Ok(())
    }

    /// A sample of a long run has its end time and cumulated bytes; rows have starts and differences.
    fn add_long_run(&mut self, s: &SessionSource, series: &[SustainSample]) -> SqlResult<()> {
        let (mut began, mut written, mut read) = (0.0, 0, 0);
        for sample in series {
            let phase = serde_json::to_value(sample.phase).unwrap_or_default();
            let moved = [
                (TestOp::Write, sample.write_mb_s, sample.bytes_written.saturating_sub(written)),
                (TestOp::Read, sample.read_mb_s, sample.bytes_read.saturating_sub(read)),
            ];
            let hottest = sample.temperatures.iter().map(|reading| reading.celsius).max_by(f64::total_cmp);
            for (op, mb_s, bytes) in moved {
                let Some(mb_s) = mb_s else { continue };
                let point = SeriesPoint {
                    phase: phase.as_str(),
                    op: &op.to_string(),
                    at_s: began,
                    seconds: sample.at_s - began,
                    bytes,
                    mb_s,
                    temperature_c: hottest,
                    ..SeriesPoint::default()
                };
                self.add_point(s, &point)?;
            }
            (began, written, read) = (sample.at_s, sample.bytes_written, sample.bytes_read);
        }
        Ok(())
    }
}
