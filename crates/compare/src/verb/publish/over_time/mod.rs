//! Series and latencies of a card's runs, each with the entry to which the run belongs. Runs that do not count for the
//! figures are omitted, and runs of different settings are not combined.

use crate::judge::comparison::ComparedColumn;
use cardscope_model::publication::{TestLatencies, TestSeries};
use cardscope_model::result::LoopSample;
use cardscope_model::series::SeriesBucket;
use cardscope_model::session_file::{SampleRecord, SessionFile};
use cardscope_model::setting::Setting;
use cardscope_model::test_name::TestName;
use cardscope_model::units::NANOS_PER_S;
use std::collections::{BTreeSet, HashMap};

/// Most points of one series; neighbours in longer ones are merged.
const MOST_SECONDS: usize = 600;

/// Words of a condition that are irrelevant for a chart.
const OMITTED_WORDS: [&str; 3] = ["note", "kernel", "tool"];

/// Collects the series and latencies of one card.
pub(super) struct OverTime<'a> {
    /// Name and condition of each column.
    columns: Vec<(&'a str, String)>,
    /// Columns to which a run of a session belongs, with its number in each, from 1. There are several if a card was named both
    /// with and without a condition.
    runs: HashMap<(String, u32), Vec<(usize, u32)>>,
    tests: &'a [TestName],
    series: Vec<TestSeries>,
    latencies: Vec<(BTreeSet<u32>, TestLatencies)>,
}

impl<'a> OverTime<'a> {
    /// Collects for these columns and tests; for all tests if none is named.
    pub(super) fn new(columns: &[&'a ComparedColumn], tests: &'a [TestName]) -> Self {
        let mut runs: HashMap<(String, u32), Vec<(usize, u32)>> = HashMap::new();
        for (at, column) in columns.iter().enumerate() {
            for (run, number) in column.runs.iter().zip(1..) {
                runs.entry(run.clone()).or_default().push((at, number));
            }
        }
        let columns = columns.iter().map(|c| (c.entry.name.as_str(), shared_condition(&c.entry.settings)));
        OverTime { runs, columns: columns.collect(), tests, series: Vec::new(), latencies: Vec::new() }
    }

    /// Adds the counted runs of a session.
    pub(super) fn add_session(&mut self, session: SessionFile) {
        let id = session.session;
        for run in session.runs {
            let places = self.runs.get(&(id.clone(), run.run)).cloned().unwrap_or_default();
            let asked = |test: &TestName| self.tests.is_empty() || self.tests.contains(test);
            let counted = run.samples.into_iter().filter(|r| r.sample.counted && asked(&r.test));
            for record in counted.collect::<Vec<_>>() {
                for (column, number) in &places {
                    self.add_sample(*column, *number, &record);
                }
            }
        }
    }

    fn add_sample(&mut self, column: usize, run: u32, record: &SampleRecord) {
        let SampleRecord { test, step, sample, .. } = record.clone();
        let (entry, condition) = &self.columns[column];
        let (entry, condition) = ((*entry).to_owned(), condition.clone());
        let same = |l: &TestLatencies| l.test == test && l.step == step && l.entry == entry;
        match self.latencies.iter_mut().find(|(_, l)| same(l)) {
            Some((runs, known)) => {
                runs.insert(run);
                known.histogram.merge(&sample.histogram);
            }
            None => {
                let (step, entry, condition) = (step.clone(), entry.clone(), condition.clone());
                let histogram = sample.histogram.clone();
                let latencies = TestLatencies { test, step, runs: 0, entry, condition, histogram };
                self.latencies.push((BTreeSet::from([run]), latencies));
            }
        }
        let seconds = thin_series(&complete_seconds(&sample));
        // A single second is not a series.
        if seconds.len() > 1 {
            self.series.push(TestSeries { test, step, run, entry, condition, seconds });
        }
    }

    /// Series in the order of their runs, and latencies.
    pub(super) fn into_parts(mut self) -> (Vec<TestSeries>, Vec<TestLatencies>) {
        self.series.sort_by_key(|series| series.run);
        let latencies = self.latencies.into_iter();
        let latencies = latencies.map(|(runs, known)| TestLatencies { runs: runs.len() as u32, ..known });
        (self.series, latencies.collect())
    }
}

/// Words that all settings of a column share, in a line.
fn shared_condition(settings: &[Setting]) -> String {
    let Some((first, others)) = settings.split_first() else { return String::new() };
    let same = |(w, value): &(&str, &str)| others.iter().all(|other| other.condition.get(w) == Some(value));
    let said = first.condition.iter().filter(|(word, _)| !OMITTED_WORDS.contains(word)).filter(same);
    said.map(|(word, value)| format!("{} {value}", word.replace('_', " "))).collect::<Vec<_>>().join(" · ")
}

/// Complete seconds of a sample. The last one ends with the test, so its few bytes would pass for a slow second.
fn complete_seconds(sample: &LoopSample) -> Vec<SeriesBucket> {
    let whole = sample.nanos / NANOS_PER_S;
    sample.series.iter().copied().filter(|bucket| bucket.end_s() <= whole).collect()
}

/// Merges neighbours until a series is short enough to draw; the longest latency and the last temperature are kept.
fn thin_series(seconds: &[SeriesBucket]) -> Vec<SeriesBucket> {
    let together = seconds.len().div_ceil(MOST_SECONDS).max(1);
    let merged = |chunk: &[SeriesBucket]| chunk.iter().copied().reduce(SeriesBucket::with_next);
    seconds.chunks(together).filter_map(merged).collect()
}

#[cfg(test)]
mod tests;
