//! Figures of cards run by run, the input of comparisons, and stored statistics of every test of every card over its
//! runs, for the ranking of thousands of cards.
//!
//! A transaction that writes runs marks their card as stale. The next reader recomputes the stale cards first.

use crate::connection::{
    Connection, Durability, RowBatch, SqlResult, SqlRow, dynamic_statement, json_text, statement,
};
use crate::error::Result;
use crate::{Archive, ArchiveError, SessionId, figure_json};
use cardscope_model::archive_rows::SummaryRow;
use cardscope_model::run::{CardRun, Run, TestFigure};
use cardscope_model::setting::Setting;
use cardscope_model::statistics;
use cardscope_model::test_name::TestName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Time of a run: own runs have a clock, an imported log may have a date.
macro_rules! at {
    () => {
        "CASE WHEN s.kind = 'import' THEN s.measured_at ELSE r.started_at END"
    };
}

const RUNS: &str = concat!(
    "SELECT s.id, s.card_id, s.specimen_id, r.setting_hash, ",
    at!(),
    ", r.number, r.counted, o.name, r.figures, s.started_at FROM session s JOIN run r ON r.session_id = s.id \
     LEFT JOIN source o ON o.hash = s.source_hash WHERE r.figures IS NOT NULL AND s.card_id"
);

impl Archive {
    /// Returns all finished runs of these cards, in order of measurement.
    pub fn measurements(&mut self, cards: &[String]) -> Result<Vec<CardRun>> {
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
    let order = |raw: &RawRun| (raw.started_at.clone(), raw.run.session.clone(), raw.run.run.run);
    raw.sort_by_cached_key(order);
    let setting = |hash: &str| settings.get(hash).cloned().unwrap_or_default();
    Ok(raw.into_iter().map(|raw| CardRun { setting: setting(&raw.setting), ..raw.run }).collect())
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
async fn load_settings(
    c: &mut Connection,
    hashes: impl Iterator<Item = &str>,
) -> SqlResult<HashMap<String, Setting>> {
    let hashes: Vec<&str> = hashes.collect::<BTreeSet<_>>().into_iter().collect();
    let head = "SELECT hash, recipe, size_bytes, condition FROM setting WHERE hash";
    let read = |row: &SqlRow| {
        let (recipe, size_bytes) = (row.get(1)?, row.get_optional_integer(2)?);
        Ok((row.get(0)?, Setting { recipe, size_bytes, condition: row.get_json(3)? }))
    };
    Ok(c.fetch_for_keys(head, &hashes, read).await?.into_iter().collect())
}

/// Cards of one transaction; other writers wait for its end, half a second at 500 runs a card.
const CARDS_PER_TRANSACTION: usize = 100;

const SELECT_SUMMARIES: &str = "SELECT card_id, setting_hash, tests FROM summary";

const INSERT_SUMMARIES: &str = "INSERT INTO summary (card_id, setting_hash, tests)";

const SELECT_STALE_RUNS: &str = concat!(
    "SELECT s.card_id, r.setting_hash, ",
    at!(),
    ", r.figures FROM session s JOIN run r ON r.session_id = s.id WHERE r.counted AND r.figures IS NOT NULL \
     AND s.card_id IN "
);

const UPDATE_COUNTS: &str = "UPDATE card SET \
    specimens = (SELECT COUNT(*) FROM specimen p WHERE p.card_id = card.id), \
    sessions = (SELECT COUNT(*) FROM session s WHERE s.card_id = card.id AND s.recipe_hash <> ''), \
    runs = (SELECT COUNT(*) FROM session s JOIN run r ON r.session_id = s.id \
        WHERE s.card_id = card.id AND r.figures IS NOT NULL), \
    first_measured = (SELECT MIN(s.measured_at) FROM session s WHERE s.card_id = card.id), \
    last_measured = (SELECT MAX(s.measured_at) FROM session s WHERE s.card_id = card.id) WHERE id IN ";

impl Archive {
    /// Returns the statistics of all wanted tests of all cards.
    pub fn summaries(&mut self, wanted: impl Fn(TestName) -> bool + Sync) -> Result<Vec<SummaryRow>> {
        self.recompute_stale()?;
        self.run_read(async |c| read_summaries(c, &wanted).await)
    }

    /// Recomputes the statistics of stale cards. Readers do it as well; a large import calls it at once, so that no
    /// reader waits.
    pub fn recompute_stale(&mut self) -> Result<()> {
        let any_stale = || statement("SELECT card_id FROM stale LIMIT 1");
        while !self.read_rows(any_stale(), |_| Ok(()))?.is_empty() {
            match self.run_blocking(Durability::Later, async |c| c.exclusive(recompute_batch).await) {
                // A read-only archive is read as it is.
                Err(ArchiveError::Permission(..)) => return Ok(()),
                settled => settled?,
            }
        }
        Ok(())
    }
}

/// Computes the same statistics over runs that are not in an archive.
pub fn summarize_runs(runs: &[CardRun], wanted: impl Fn(TestName) -> bool) -> Vec<SummaryRow> {
    let mut settings: Vec<Arc<Setting>> = Vec::new();
    let mut spreads = TestSpreads::default();
    for run in runs.iter().filter(|run| run.run.counted) {
        let place = settings.iter().position(|known| **known == run.setting).unwrap_or_else(|| {
            settings.push(Arc::new(run.setting.clone()));
            settings.len() - 1
        });
        // Zero-padded, so that settings sort in their order of appearance.
        spreads.add(run.card_id.clone(), format!("{place:08}"), run.measured_at.clone(), &run.run.results);
    }
    let rows = |(card, place, group): (String, String, Vec<StoredSpread>)| {
        let setting = place.parse().ok().and_then(|place: usize| settings.get(place));
        let setting = setting.cloned().unwrap_or_default();
        let group = group.into_iter().filter(|spread| wanted(spread.0));
        group.map(|spread| summary_row(&card, &setting, spread)).collect::<Vec<_>>()
    };
    spreads.into_groups().flat_map(rows).collect()
}

async fn recompute_batch(c: &mut Connection) -> SqlResult<()> {
    // The delete waits for open transactions that have marked one of these cards.
    let take = format!(
        "DELETE FROM stale WHERE card_id IN (SELECT card_id FROM stale ORDER BY card_id LIMIT {CARDS_PER_TRANSACTION}) \
         RETURNING card_id"
    );
    let cards: Vec<String> = c.fetch_all(dynamic_statement(take), |row| row.get(0)).await?;
    if cards.is_empty() {
        return Ok(());
    }
    let places = c.placeholders(cards.len());
    let of_these = |head: &str| dynamic_statement(format!("{head}({places})")).bind_all(&cards);
    c.execute(of_these("DELETE FROM summary WHERE card_id IN ")).await?;
    let mut spreads = TestSpreads::default();
    let read = c.fetch_all(of_these(SELECT_STALE_RUNS), |row| {
        // One damaged run must not block the summary of all others; reading that run reports the error.
        let figures = figure_json::figures_from_json(&row.get::<String>(3)?).unwrap_or_default();
        spreads.add(row.get(0)?, row.get(1)?, row.get(2)?, &figures);
        Ok(())
    });
    read.await?;
    let mut rows = RowBatch::new(INSERT_SUMMARIES, "");
    for (card, setting, spreads) in spreads.into_groups() {
        rows.push([card.into(), setting.into(), json_text(&spreads)?.into()]);
    }
    rows.write(c).await?;
    c.execute(of_these(UPDATE_COUNTS)).await.map(|_| ())
}

async fn read_summaries(
    c: &mut Connection,
    wanted: &(impl Fn(TestName) -> bool + Sync),
) -> SqlResult<Vec<SummaryRow>> {
    let rows = c.fetch_all(statement(SELECT_SUMMARIES), |row| {
        // One unreadable row must not keep thousands of others from being ranked.
        let mut tests: Vec<StoredSpread> = row.get_json(2).unwrap_or_default();
        tests.retain(|spread| wanted(spread.0));
        Ok((row.get(0)?, row.get(1)?, tests))
    });
    let mut rows: Vec<(String, String, Vec<StoredSpread>)> = rows.await?;
    rows.retain(|(.., tests)| !tests.is_empty());
    rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let settings = load_settings(c, rows.iter().map(|(_, setting, _)| setting.as_str())).await?;
    let settings = settings.into_iter().map(|(hash, setting)| (hash, Arc::new(setting)));
    let settings: HashMap<String, Arc<Setting>> = settings.collect();
    let mut all = Vec::with_capacity(rows.iter().map(|(.., tests)| tests.len()).sum());
    for (card, setting, tests) in rows {
        let setting = settings.get(&setting).cloned().unwrap_or_default();
        all.extend(tests.into_iter().map(|spread| summary_row(&card, &setting, spread)));
    }
    Ok(all)
}

/// Statistics of one test over its runs, stored as a list without field names: test, step, runs, mean, standard
/// deviation, median, best, worst (MB/s, 10^6), longest latency in µs, time of the last run.
type StoredSpread =
    (TestName, Option<String>, u32, f64, Option<f64>, f64, f64, f64, Option<f64>, Option<String>);

fn summary_row(card: &str, setting: &Arc<Setting>, spread: StoredSpread) -> SummaryRow {
    let (test, step, n, mean, sd, median, best, worst, max_latency_us, last) = spread;
    let (card_id, setting) = (card.to_owned(), Arc::clone(setting));
    SummaryRow { card_id, setting, test, step, n, mean, sd, median, best, worst, max_latency_us, last }
}

/// Tests of a batch of cards.
#[derive(Default)]
struct TestSpreads {
    groups: BTreeMap<(String, String), SettingGroup>,
}

/// Tests of one card under one setting, in order of appearance.
#[derive(Default)]
struct SettingGroup {
    tests: Vec<SummedTest>,
    indices: HashMap<(TestName, Option<String>), usize>,
}

struct SummedTest {
    test: TestName,
    step: Option<String>,
    speeds: Vec<f64>,
    max_latency_us: Option<f64>,
    last: Option<String>,
}

impl TestSpreads {
    fn add(&mut self, card: String, setting: String, at: Option<String>, figures: &[TestFigure]) {
        let group = self.groups.entry((card, setting)).or_default();
        for (index, figure) in figures.iter().enumerate() {
            group.entry_for(index, figure).add(figure, &at);
        }
    }

    fn into_groups(self) -> impl Iterator<Item = (String, String, Vec<StoredSpread>)> {
        let spreads = |group: SettingGroup| group.tests.into_iter().map(SummedTest::into_spread).collect();
        self.groups.into_iter().map(move |((card, setting), group)| (card, setting, spreads(group)))
    }
}

impl SettingGroup {
    /// Returns the entry of a figure. Runs of one recipe have one order of tests, so `expected` mostly hits.
    fn entry_for(&mut self, expected: usize, figure: &TestFigure) -> &mut SummedTest {
        let is = |t: &SummedTest| t.test == figure.name() && t.step == figure.step;
        if self.tests.get(expected).is_some_and(is) {
            return &mut self.tests[expected];
        }
        let index = *self.indices.entry((figure.name(), figure.step.clone())).or_insert_with(|| {
            self.tests.push(SummedTest::from_figure(figure));
            self.tests.len() - 1
        });
        &mut self.tests[index]
    }
}

impl SummedTest {
    fn from_figure(figure: &TestFigure) -> Self {
        let (test, step) = (figure.name(), figure.step.clone());
        SummedTest { test, step, speeds: Vec::new(), max_latency_us: None, last: None }
    }

    fn add(&mut self, figure: &TestFigure, at: &Option<String>) {
        self.speeds.push(figure.mb_s);
        self.max_latency_us = self.max_latency_us.into_iter().chain(figure.max_latency_us).reduce(f64::max);
        if *at > self.last {
            self.last.clone_from(at);
        }
    }

    fn into_spread(mut self) -> StoredSpread {
        self.speeds.sort_by(f64::total_cmp);
        let speeds = &self.speeds;
        let n = speeds.len();
        let mean = statistics::mean(speeds).unwrap_or(f64::NAN);
        let median = statistics::median(speeds).unwrap_or(f64::NAN);
        let (sd, best, worst) = (statistics::sample_deviation(speeds), speeds[n - 1], speeds[0]);
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        (self.test, self.step, n, mean, sd, median, best, worst, self.max_latency_us, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(test: &str, mb_s: f64, max_latency_us: Option<f64>) -> TestFigure {
        TestFigure { max_latency_us, ..TestFigure::from_speed(test.parse().unwrap(), mb_s) }
    }

    #[test]
    fn test_is_summarized_at_any_position_in_runs() {
        let mut spreads = TestSpreads::default();
        let mut add = |at: &str, figures: &[TestFigure]| {
            spreads.add("card".into(), "setting".into(), Some(at.into()), figures);
        };
        add(
            "2024-05-01",
            &[figure("SEQ1M Q1T1 read", 90.0, None), figure("RND4K Q1T1 read", 7.0, Some(900.0))],
        );
        add("2024-05-03", &[figure("RND4K Q1T1 read", 9.0, Some(400.0))]);
        add("2024-05-02", &[figure("RND4K Q1T1 read", 5.0, None), figure("SEQ1M Q1T1 read", 80.0, None)]);
        let group = spreads.groups.into_values().next().unwrap();
        let [_, random] = <[SummedTest; 2]>::try_from(group.tests).ok().unwrap();
        assert_eq!(random.last.as_deref(), Some("2024-05-03"));
        let spread = random.into_spread();
        let name = "RND4K Q1T1 read".parse().unwrap();
        let last = Some("2024-05-03".to_owned());
        assert_eq!(spread, (name, None, 3, 7.0, Some(2.0), 7.0, 9.0, 5.0, Some(900.0), last));
        assert_eq!(serde_json::from_str::<StoredSpread>(&json_text(&spread).unwrap()).unwrap(), spread);
    }

    #[test]
    fn single_run_has_no_deviation() {
        let mut test = SummedTest::from_figure(&figure("SEQ1M Q1T1 read", 0.0, None));
        test.add(&figure("SEQ1M Q1T1 read", 4.0, None), &None);
        assert_eq!(test.into_spread().4, None);
    }
}
