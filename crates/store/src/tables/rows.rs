//! What the archive says, as rows of the tables.

use super::columns::Cell;
use super::schema;
use super::table::{MakeFile, Table, TableFile, TablesError};
use super::time::{micros, year};
use crate::connection::{Outcome, Row};
use crate::{figures, stamp};
use cardscope_model::archived::StoredCard;
use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::result::TemperatureC;
use cardscope_model::run::Figure;
use cardscope_model::series::Series;
use cardscope_model::sustain;
use cardscope_model::test_name::{Op, Order, Pattern, TestName};
use serde::Deserialize;
use serde_json::Value as Json;
use std::io;

/// What the rows of other tables say of their session.
pub(super) struct OfSession {
    pub(super) id: String,
    pub(super) has_recipe: bool,
    /// False for a log.
    pub(super) is_own: bool,
    kind: String,
    card: Option<String>,
    unit: Option<String>,
    started: String,
    started_at: Option<i64>,
    measured_at: Option<i64>,
    year: i16,
    rest: Rest,
}

/// What stands in its own row alone.
struct Rest {
    target: String,
    recipe: [Option<String>; 2],
    seed: String,
    ended: [Option<String>; 2],
    io_path: String,
    bus_ceiling_mb_s: Option<f64>,
    rig: [Option<String>; 3],
    condition: String,
    tool_version: String,
}

impl OfSession {
    /// A row of the statement in `super`.
    pub(super) fn of_row(row: &Row) -> Outcome<Self> {
        let (id, started): (String, String) = (row.get(0)?, row.get(8)?);
        let moment = |text: &Option<String>| text.as_deref().and_then(micros);
        let (started_at, measured): (_, Option<String>) = (micros(&started), row.get(9)?);
        Ok(OfSession {
            has_recipe: row.get(19)?,
            is_own: row.get(20)?,
            kind: row.get(1)?,
            card: row.get(2)?,
            unit: row.get(3)?,
            year: started_at.or_else(|| made(&id)).and_then(year).unwrap_or(FIRST_YEAR),
            started_at,
            measured_at: moment(&measured),
            rest: Rest {
                target: row.get(4)?,
                recipe: [row.get(5)?, row.get(6)?],
                seed: row.get(7)?,
                ended: [row.get(10)?, row.get(11)?],
                io_path: row.get(12)?,
                bus_ceiling_mb_s: row.get(13)?,
                rig: [row.get(14)?, row.get(15)?, row.get(16)?],
                condition: row.get(17)?,
                tool_version: row.get(18)?,
            },
            id,
            started,
        })
    }

    /// Whether the rows of both go to the same files.
    pub(super) fn is_of_the_year_of(&self, other: &OfSession) -> bool {
        self.year == other.year
    }

    /// Where the sessions that follow begin.
    pub(super) fn place(&self) -> (String, String) {
        (self.started.clone(), self.id.clone())
    }
}

/// The year of what has no time at all.
const FIRST_YEAR: i16 = 1970;

/// When the id of a session was made, in microseconds: a UUID of version 7 holds it.
fn made(id: &str) -> Option<i64> {
    let (seconds, nanos) = uuid::Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    Some(i64::try_from(seconds).ok()? * 1_000_000 + i64::from(nanos / 1000))
}

/// The tables, filled row by row. What cannot be written is remembered, and nothing is written after it.
pub(super) struct Tables<'a> {
    sessions: Table,
    figures: Table,
    series: Table,
    findings: Table,
    cards: Table,
    make: &'a mut MakeFile<'a>,
    stop: &'a (dyn Fn() -> bool + Sync),
    failed: Option<io::Error>,
    stopped: bool,
}

impl<'a> Tables<'a> {
    pub(super) fn new(make: &'a mut MakeFile<'a>, stop: &'a (dyn Fn() -> bool + Sync)) -> io::Result<Self> {
        Ok(Tables {
            sessions: Table::new("sessions", schema::SESSIONS)?,
            figures: Table::new("figures", schema::FIGURES)?,
            series: Table::new("series", schema::SERIES)?,
            findings: Table::new("findings", schema::FINDINGS)?,
            cards: Table::new("cards", schema::CARDS)?,
            make,
            stop,
            failed: None,
            stopped: false,
        })
    }

    /// Whether nothing more is to be read.
    pub(super) fn is_over(&mut self) -> bool {
        self.stopped |= (self.stop)();
        self.stopped || self.failed.is_some()
    }

    /// Ends all files.
    pub(super) fn finish(mut self) -> Result<Vec<TableFile>, TablesError> {
        let stopped = self.is_over() && self.failed.is_none();
        if let Some(error) = self.failed {
            return Err(TablesError::File(error));
        }
        if stopped {
            return Err(TablesError::Stopped);
        }
        let now = micros(&stamp::now()).and_then(year).or(Some(FIRST_YEAR));
        let mut files = Vec::new();
        for table in [self.sessions, self.figures, self.series, self.findings] {
            files.extend(table.finish(now, self.make).map_err(TablesError::File)?);
        }
        files.extend(self.cards.finish(None, self.make).map_err(TablesError::File)?);
        Ok(files)
    }

    fn put(&mut self, table: fn(&mut Self) -> &mut Table, year: Option<i16>, row: &[Cell<'_>]) {
        if self.failed.is_none() {
            let file = table(self).place_for(year);
            let made = match file {
                Some(name) => (self.make)(&name).and_then(|file| table(self).begin(year, name, file)),
                None => Ok(()),
            };
            self.failed = made.and_then(|()| table(self).push(row)).err();
        }
    }

    pub(super) fn card(&mut self, card: &StoredCard, excluded: Option<&String>) {
        let facts = &card.facts;
        let moment = |text: &Option<String>| text.as_deref().and_then(micros);
        let row: [Cell<'_>; 22] = [
            (&card.id).into(),
            (&card.title).into(),
            (&facts.brand).into(),
            (&facts.name).into(),
            (&facts.model).into(),
            (&facts.maker).into(),
            facts.capacity_bytes.into(),
            (&facts.capacity_label).into(),
            (&facts.form).into(),
            (&facts.firmware).into(),
            (&facts.made).into(),
            (&facts.generation).into(),
            facts.marks.as_slice().into(),
            card.units.into(),
            card.sessions.into(),
            card.runs.into(),
            moment(&card.first).into(),
            moment(&card.last).into(),
            card.price.as_ref().map(|price| price.amount).into(),
            card.price.as_ref().map(|price| price.currency.as_str()).into(),
            (&card.priced).into(),
            excluded.map(String::as_str).into(),
        ];
        self.put(|all| &mut all.cards, None, &row);
    }

    pub(super) fn session(&mut self, s: &OfSession) {
        let rest = &s.rest;
        let [recipe, version] = &rest.recipe;
        let [ended_at, ended] = &rest.ended;
        let [board, reader, bus_mode] = &rest.rig;
        let said = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
        let (recipe, version) = (said(recipe), said(version));
        let row: [Cell<'_>; 19] = [
            (&s.id).into(),
            (&s.kind).into(),
            (&s.card).into(),
            (&s.unit).into(),
            (&rest.target).into(),
            (&recipe).into(),
            (&version).into(),
            (&rest.seed).into(),
            s.started_at.into(),
            s.measured_at.into(),
            ended_at.as_deref().and_then(micros).into(),
            ended.into(),
            Some(rest.io_path.as_str()).filter(|path| !path.is_empty()).into(),
            rest.bus_ceiling_mb_s.into(),
            board.into(),
            reader.into(),
            bus_mode.into(),
            (&rest.condition).into(),
            (&rest.tool_version).into(),
        ];
        self.put(|all| &mut all.sessions, Some(s.year), &row);
    }

    /// The figures of a run.
    pub(super) fn run(&mut self, s: &OfSession, row: &Row) -> Outcome<()> {
        let measured_at = match s.is_own {
            true => micros(&row.get::<String>(3)?),
            false => s.measured_at,
        };
        let condition: Condition = row.optional_json(7)?.unwrap_or_default();
        let figures = figures::of_text(&row.get::<String>(8)?)?;
        let details: Details = row
            .get::<Option<String>>(9)?
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let of_run = OfRun {
            number: row.get::<i64>(1)?,
            counted: row.get(2)?,
            measured_at,
            setting: row.get::<Option<String>>(4)?.unwrap_or_default(),
            recipe: row.get::<Option<String>>(5)?.unwrap_or_default(),
            size_bytes: row.get(6)?,
            condition,
        };
        for (place, figure) in (1..).zip(&figures) {
            self.figure(s, &of_run, place, figure, details.of(figure));
        }
        Ok(())
    }

    fn figure(&mut self, s: &OfSession, run: &OfRun, place: i64, figure: &Figure, detail: Option<&Detail>) {
        let (test, op) = (figure.name().to_string(), figure.op.to_string());
        let pattern = figure.test;
        let printed = figure.as_printed.as_ref();
        let heat = detail.map(|detail| detail.temperature_c).unwrap_or_default();
        let row: [Cell<'_>; 34] = [
            (&s.id).into(),
            run.number.into(),
            place.into(),
            run.counted.into(),
            (&s.card).into(),
            (&s.unit).into(),
            (&s.kind).into(),
            run.measured_at.into(),
            (&run.setting).into(),
            (&run.recipe).into(),
            run.size_bytes.into(),
            run.condition.get("state").into(),
            run.condition.get("cooling").into(),
            (&test).into(),
            (&figure.step).into(),
            (&op).into(),
            access(pattern).into(),
            pattern.block.into(),
            pattern.queue.into(),
            pattern.threads.into(),
            figure.mb_s.into(),
            figure.iops.into(),
            figure.latency_us.into(),
            figure.percentiles_us.p50.into(),
            figure.percentiles_us.p99.into(),
            figure.percentiles_us.p999.into(),
            figure.max_latency_us.into(),
            detail.map(|detail| detail.bytes).into(),
            detail.map(|detail| detail.seconds).into(),
            heat.start.into(),
            heat.end.into(),
            heat.max.into(),
            printed.map(|printed| printed.value).into(),
            printed.map(|printed| printed.unit.as_str()).into(),
        ];
        self.put(|all| &mut all.figures, Some(s.year), &row);
    }

    /// The series of a loop.
    pub(super) fn sample(&mut self, s: &OfSession, row: &Row) -> Outcome<()> {
        let name = TestName { pattern: row.parsed(1)?, op: row.parsed(2)? };
        let (test, op) = (name.to_string(), name.op.to_string());
        let (run, step): (i64, Option<String>) = (row.get(0)?, row.get(3)?);
        let (number, counted): (i64, bool) = (row.get(4)?, row.get(5)?);
        let series: Series = row.json(6)?;
        for bucket in series.iter() {
            let mean =
                (bucket.ios > 0 && bucket.sum_us > 0).then(|| bucket.sum_us as f64 / bucket.ios as f64);
            self.moment(
                s,
                &Moment {
                    run: Some(run),
                    test: Some(&test),
                    step: step.as_deref(),
                    number: Some(number),
                    counted: Some(counted),
                    phase: None,
                    op: &op,
                    at_s: f64::from(bucket.at_s),
                    seconds: f64::from(bucket.seconds),
                    bytes: bucket.bytes,
                    ios: Some(bucket.ios),
                    mb_s: bucket.mb_s(),
                    latency_us: mean,
                    max_latency_us: (bucket.ios > 0).then_some(bucket.max_us),
                    temperature_c: bucket.temperature_c,
                },
            );
        }
        Ok(())
    }

    fn moment(&mut self, s: &OfSession, m: &Moment<'_>) {
        let row: [Cell<'_>; 18] = [
            (&s.id).into(),
            (&s.kind).into(),
            (&s.card).into(),
            m.run.into(),
            m.test.into(),
            m.step.into(),
            m.number.into(),
            m.counted.into(),
            m.phase.into(),
            m.op.into(),
            m.at_s.into(),
            m.seconds.into(),
            m.bytes.into(),
            m.ios.into(),
            m.mb_s.into(),
            m.latency_us.into(),
            m.max_latency_us.into(),
            m.temperature_c.into(),
        ];
        self.put(|all| &mut all.series, Some(s.year), &row);
    }

    pub(super) fn finding(&mut self, s: &OfSession, row: &Row) -> Outcome<()> {
        let [claim, verdict, weight, evidence]: [String; 4] =
            [row.get(2)?, row.get(3)?, row.get(4)?, row.get(6)?];
        let advice: Option<String> = row.get(7)?;
        let found = Found { claim: &claim, verdict: &verdict, weight: &weight, evidence: &evidence };
        self.found(s, row.get(1)?, &found, row.get(5)?, advice.as_deref());
        Ok(())
    }

    fn found(&mut self, s: &OfSession, place: i64, found: &Found<'_>, confidence: f64, advice: Option<&str>) {
        let row: [Cell<'_>; 11] = [
            (&s.id).into(),
            (&s.kind).into(),
            (&s.card).into(),
            s.started_at.into(),
            place.into(),
            found.claim.into(),
            found.verdict.into(),
            found.weight.into(),
            confidence.into(),
            found.evidence.into(),
            advice.into(),
        ];
        self.put(|all| &mut all.findings, Some(s.year), &row);
    }

    /// The findings of a record, and the series of a long run, which stand in its document alone.
    pub(super) fn document(&mut self, s: &OfSession, row: &Row) -> Outcome<()> {
        let document: Document = serde_json::from_str(&row.get::<String>(0)?).unwrap_or_default();
        let findings: Vec<Finding> = Deserialize::deserialize(document.findings).unwrap_or_default();
        for (place, finding) in (1..).zip(&findings) {
            let weight = serde_json::to_value(finding.weight).unwrap_or_default();
            let evidence = serde_json::to_string(&finding.evidence).unwrap_or_default();
            let found = Found {
                claim: &finding.claim,
                verdict: &finding.verdict,
                weight: weight.as_str().unwrap_or_default(),
                evidence: &evidence,
            };
            self.found(s, place, &found, finding.confidence, finding.advice.as_deref());
        }
        if s.kind == "sustain" {
            let series: Vec<sustain::Sample> = Deserialize::deserialize(document.series).unwrap_or_default();
            self.long_run(s, &series);
        }
        Ok(())
    }

    /// Samples of a long run say when they end and what was moved until then.
    fn long_run(&mut self, s: &OfSession, series: &[sustain::Sample]) {
        let (mut began, mut written, mut read) = (0.0, 0, 0);
        for sample in series {
            let phase = serde_json::to_value(sample.phase).unwrap_or_default();
            let moved = [
                (Op::Write, sample.write_mb_s, sample.bytes_written.saturating_sub(written)),
                (Op::Read, sample.read_mb_s, sample.bytes_read.saturating_sub(read)),
            ];
            let hottest = sample.temperatures.iter().map(|reading| reading.celsius).max_by(f64::total_cmp);
            for (op, mb_s, bytes) in moved {
                let Some(mb_s) = mb_s else { continue };
                self.moment(
                    s,
                    &Moment {
                        run: None,
                        test: None,
                        step: None,
                        number: None,
                        counted: None,
                        phase: phase.as_str(),
                        op: &op.to_string(),
                        at_s: began,
                        seconds: sample.at_s - began,
                        bytes,
                        ios: None,
                        mb_s,
                        latency_us: None,
                        max_latency_us: None,
                        temperature_c: hottest,
                    },
                );
            }
            (began, written, read) = (sample.at_s, sample.bytes_written, sample.bytes_read);
        }
    }
}

/// What is the same for all figures of a run.
struct OfRun {
    number: i64,
    counted: bool,
    measured_at: Option<i64>,
    setting: String,
    recipe: String,
    size_bytes: Option<i64>,
    condition: Condition,
}

/// What happened in some seconds.
struct Moment<'a> {
    run: Option<i64>,
    test: Option<&'a str>,
    step: Option<&'a str>,
    number: Option<i64>,
    counted: Option<bool>,
    phase: Option<&'a str>,
    op: &'a str,
    at_s: f64,
    seconds: f64,
    bytes: u64,
    ios: Option<u64>,
    mb_s: f64,
    latency_us: Option<f64>,
    max_latency_us: Option<f64>,
    temperature_c: Option<f64>,
}

/// The texts of a finding.
struct Found<'a> {
    claim: &'a str,
    verdict: &'a str,
    weight: &'a str,
    evidence: &'a str,
}

/// What the results of a run measured here say beside its figures.
#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    results: Vec<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    test: Pattern,
    op: Op,
    #[serde(default)]
    step: Option<String>,
    bytes: u64,
    seconds: f64,
    #[serde(default)]
    temperature_c: TemperatureC,
}

impl Details {
    fn of(&self, figure: &Figure) -> Option<&Detail> {
        self.results.iter().find(|d| d.test == figure.test && d.op == figure.op && d.step == figure.step)
    }
}

/// The parts of a record's document that are in tables.
#[derive(Default, Deserialize)]
struct Document {
    #[serde(default)]
    findings: Json,
    #[serde(default)]
    series: Json,
}

fn access(pattern: Pattern) -> &'static str {
    match pattern.order {
        Order::Sequential => "SEQ",
        Order::Random => "RND",
    }
}
