//! Built-in spread table, learned from all real series:
//! `UPDATE_SPREADS=1 cargo test -p cardscope-statistics --test statistics spreads`.

use cardscope_model::collection;
use cardscope_model::log::CardLog;
use cardscope_model::setting::Setting;
use cardscope_model::test_name::{TestName, TestOp};
use cardscope_statistics::priors::{
    ConditionEffect, KindSpread, KnownSeries, SpreadKind, SpreadSubject, SpreadTable, UnitSpread,
    learn_distances, learn_spread,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/usual/spreads.toml");

/// Least runs of a series.
const LEAST_RUNS: usize = 3;

/// Weight of the parent kind as a prior, in series.
const PARENT: f64 = 4.0;

/// Weight of the flat prior of the topmost kind, in series.
const NOTHING: f64 = 2.0;

/// Five runs show the correlation of neighbours only to ±0.4 (Marriott and Pope 1954), so the most likely shares are a few
/// peaks. Therefore 60 % of all series are assumed to correlate as follows, and less for more runs. Ten runs of SD Express
/// cards show up to 0.7, most of them far less (docs/reference/flash.md#sd-express-runs).
const UNSEEN: f64 = 0.6;
const USUAL: [f64; 7] = [0.55, 0.22, 0.1, 0.06, 0.04, 0.02, 0.01];

/// Ratio to the slowest read of a series above which a read through the page cache was partly cached (INDEX of the
/// reference data: reads of dd after the first, and of hdparm after dd, are often cached).
const CACHED: f64 = 1.15;

/// Assumed spread between units of one model, since no two were published together: about that between production lots
/// that makers allow for in their marks.
const UNITS: UnitSpread = UnitSpread { deviation: 0.05, models: 0 };

/// Keys without a pair of results in the collection. They are assumed to change a speed as much as another tool does.
const ASSUMED: [&str; 7] = ["recipe", "reader", "usb_host", "board", "board_clock", "state", "file_system"];
const ASSUMED_DEVIATION: f64 = 0.1;
const ASSUMED_PAIRS: f64 = 4.0;

/// Runs of a test under one setting.
#[derive(Clone)]
pub(super) struct Series {
    pub(super) kind: SpreadKind,
    pub(super) logs: Vec<f64>,
}

/// Logs in the flashbench folder of the reference data. None, with a message, if it is missing.
fn real_logs() -> Option<Vec<CardLog>> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let data = std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from);
    let mut found = Vec::new();
    for folder in ["flashbench", "hdparm"] {
        let Ok(files) = std::fs::read_dir(data.join(folder)) else {
            println!("no logs at {}: nothing was tested", data.display());
            return None;
        };
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        let read = |file: &PathBuf| {
            cardscope_import::readers::read_logs(&std::fs::read(file).unwrap()).unwrap_or_default()
        };
        found.extend(files.iter().flat_map(read));
    }
    Some(found)
}

fn collected() -> Vec<(String, CardLog)> {
    let reports = collection::load_builtin_reports().unwrap();
    reports.into_iter().flat_map(|r| r.logs.into_iter().map(move |log| (r.name.clone(), log))).collect()
}

type TestKey = (TestName, Option<String>);

/// Runs of a log by size and test, in MB/s.
fn tests(log: &CardLog) -> BTreeMap<Option<u64>, Vec<(TestKey, Vec<f64>)>> {
    let mut found: BTreeMap<Option<u64>, Vec<(TestKey, Vec<f64>)>> = BTreeMap::new();
    for run in log.runs.iter().filter(|run| run.counted) {
        let of = found.entry(run.size_bytes).or_default();
        for figure in run.results.iter().filter(|f| f.mb_s > 0.0) {
            if figure.step.as_deref().is_some_and(|step| step.contains("cache") || step.contains("hdparm")) {
                continue;
            }
            let key = (figure.name(), figure.step.clone());
            match of.iter_mut().find(|(k, _)| *k == key) {
                Some((_, values)) => values.push(figure.mb_s),
                None => of.push((key, vec![figure.mb_s])),
            }
        }
    }
    found
}

fn setting(log: &CardLog) -> Setting {
    Setting { condition: log.condition.clone(), ..Setting::default() }
}

/// All series of a log, including the one over all tests.
fn series(log: &CardLog) -> Vec<Series> {
    let setting = setting(log);
    let mut found = Vec::new();
    for tests in tests(log).into_values() {
        let mut whole: Vec<Vec<f64>> = Vec::new();
        for ((test, step), values) in tests {
            let slowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            let of_dd = step.as_deref().is_some_and(|step| step.starts_with("dd"));
            let cached = of_dd && test.op == TestOp::Read && values.iter().any(|v| *v > CACHED * slowest);
            if values.len() < LEAST_RUNS || cached {
                continue;
            }
            let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
            whole.push(logs.clone());
            found.push(Series { kind: SpreadKind::new(&log.card, Some(&setting), test), logs });
        }
        if whole.len() > 1 && whole.iter().all(|logs| logs.len() == whole[0].len()) {
            let mean = |run: usize| whole.iter().map(|logs| logs[run]).sum::<f64>() / whole.len() as f64;
            let logs = (0..whole[0].len()).map(mean).collect();
            let kind = SpreadKind::over_all(&log.card, Some(&setting));
            found.push(Series { kind, logs });
        }
    }
    found
}

/// All real series, None if the reference data is missing.
pub(super) fn all_series() -> Option<Vec<Series>> {
    let mut found: Vec<Series> = collected().iter().flat_map(|(_, log)| series(log)).collect();
    found.extend(real_logs()?.iter().flat_map(series));
    Some(found)
}

fn learned(series: &[&Series], parent: &KindSpread, strength: f64) -> KindSpread {
    let seen: Vec<KnownSeries> = series.iter().map(|s| KnownSeries::Runs(s.logs.clone())).collect();
    let mut found = KindSpread { series: series.len() as f64, ..learn_spread(&seen, parent, strength) };
    for (share, usual) in found.correlation.iter_mut().zip(USUAL) {
        *share = (1.0 - UNSEEN) * *share + UNSEEN * usual;
    }
    found
}

/// Spreads of all kinds, each with that of the tests of the same direction on the same sort of card as prior, and those with
/// the spread of all tests.
pub(super) fn kinds(series: &[Series]) -> BTreeMap<String, KindSpread> {
    let all = learned(&series.iter().collect::<Vec<_>>(), &KindSpread::even_spread(), NOTHING);
    let mut found = BTreeMap::new();
    for kind in SpreadKind::all_kinds() {
        let related = |other: &&Series| {
            other.kind.express == kind.express
                && match (kind.subject, other.kind.subject) {
                    (SpreadSubject::Test(_, op), SpreadSubject::Test(_, other)) => op == other,
                    _ => true,
                }
        };
        let parent = learned(&series.iter().filter(related).collect::<Vec<_>>(), &all, PARENT);
        let own: Vec<&Series> = series.iter().filter(|s| s.kind == kind).collect();
        found.insert(kind.table_key(), learned(&own, &parent, PARENT));
    }
    found
}

/// Logarithms of the geometric means of one card under one setting, by test.
struct Side {
    report: String,
    card: String,
    setting: BTreeMap<String, String>,
    means: Vec<(TestKey, f64)>,
}

fn sides() -> Vec<Side> {
    let mut found = Vec::new();
    for (report, log) in collected() {
        for (size, tests) in tests(&log) {
            let mean = |values: &[f64]| values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64;
            let mut setting: BTreeMap<String, String> = log
                .condition
                .iter()
                .filter(|(word, _)| !["note", "room_c"].contains(word))
                .map(|(word, value)| (word.to_owned(), value.to_owned()))
                .collect();
            setting.extend(size.map(|bytes| ("size".to_owned(), bytes.to_string())));
            let means = tests.into_iter().map(|(key, values)| (key, mean(&values))).collect();
            found.push(Side { report: report.clone(), card: log.card.title(), setting, means });
        }
    }
    found
}

/// Log ratios of two sides, test by test.
fn factors<'a>(a: &'a Side, b: &'a Side) -> impl Iterator<Item = f64> + 'a {
    a.means.iter().filter_map(|(key, mean)| Some(b.means.iter().find(|(k, _)| k == key)?.1 - mean))
}

fn pairs(sides: &[Side]) -> impl Iterator<Item = (&Side, &Side)> {
    let of = move |i: usize| sides[i + 1..].iter().map(move |b| (&sides[i], b));
    (0..sides.len()).flat_map(of).filter(|(a, b)| a.report == b.report)
}

/// Keys in which two settings differ.
fn differing(a: &Side, b: &Side) -> Vec<String> {
    let words = a.setting.keys().chain(b.setting.keys()).cloned().collect::<std::collections::BTreeSet<_>>();
    words.into_iter().filter(|word| a.setting.get(word) != b.setting.get(word)).collect()
}

fn effects(sides: &[Side]) -> Vec<ConditionEffect> {
    let mut by_word: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (a, b) in pairs(sides).filter(|(a, b)| a.card == b.card) {
        if let [word] = &differing(a, b)[..] {
            by_word.entry(word.clone()).or_default().extend(factors(a, b));
        }
    }
    // The assumed effect counts as some pairs, because few pairs are unreliable.
    let rms = |logs: &[f64]| {
        let squares =
            logs.iter().map(|log| log * log).sum::<f64>() + ASSUMED_PAIRS * ASSUMED_DEVIATION.powi(2);
        (squares / (logs.len() as f64 + ASSUMED_PAIRS)).sqrt()
    };
    let measured = by_word.into_iter().filter(|(_, logs)| !logs.is_empty());
    let mut found: Vec<ConditionEffect> = measured
        .map(|(word, logs)| ConditionEffect { word, deviation: rms(&logs), pairs: logs.len() as u32 })
        .collect();
    for word in ASSUMED {
        if found.iter().all(|effect| effect.word != word) {
            found.push(ConditionEffect { word: word.to_owned(), deviation: ASSUMED_DEVIATION, pairs: 0 });
        }
    }
    found
}

fn table(series: &[Series]) -> SpreadTable {
    let sides = sides();
    let between: Vec<f64> = pairs(&sides)
        .filter(|(a, b)| a.card != b.card && a.setting == b.setting)
        .flat_map(|(a, b)| factors(a, b).collect::<Vec<f64>>())
        .collect();
    rounded(SpreadTable {
        kinds: kinds(series),
        cards: learn_distances(&between),
        units: UNITS,
        effects: effects(&sides),
    })
}

/// Rounds shares to three decimals, for a readable file.
fn rounded(mut table: SpreadTable) -> SpreadTable {
    let round = |value: &mut f64| *value = (*value * 1e4).round() / 1e4;
    for spread in table.kinds.values_mut() {
        let shares = spread.deviation.iter_mut().chain(&mut spread.correlation).chain(&mut spread.within);
        shares.chain(&mut spread.slow).chain(&mut spread.stay).for_each(round);
        [&mut spread.jumping, &mut spread.factor, &mut spread.factor_deviation].into_iter().for_each(round);
    }
    table.cards.iter_mut().for_each(round);
    table.effects.iter_mut().for_each(|effect| round(&mut effect.deviation));
    table
}

#[test]
fn shipped_table_is_learned_from_all_series() {
    let Some(series) = all_series() else { return };
    let table = table(&series);
    if std::env::var_os("UPDATE_SPREADS").is_some() {
        let text = toml::to_string(&table).unwrap();
        let head = "# Made by: UPDATE_SPREADS=1 cargo test -p cardscope-statistics --test statistics spreads\n\
                    # Sources: the five published reports of `collection/`, and the dd series of 38 SD cards in the reference\n\
                    # data (wirenboard/sdcard_benchmark, 2014 to 2019). Lists are explained in `spreads.rs`.\n\n";
        std::fs::write(FILE, format!("{head}{text}")).unwrap();
        return;
    }
    assert_eq!(&table, SpreadTable::shipped(), "make it anew");
}
