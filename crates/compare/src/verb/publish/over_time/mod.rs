//! Courses and latencies of a card's runs, each with the entry among whose figures its run counts: what was left out of the
//! figures is left out here, and runs of two settings are not laid over each other.

use crate::judge::comparison::ComparedColumn;
use cardscope_model::publication::{TestLatencies, TestSeries};
use cardscope_model::result::LoopSample;
use cardscope_model::series::SeriesBucket;
use cardscope_model::session_file::{SampleRecord, SessionFile};
use cardscope_model::setting::Setting;
use cardscope_model::test_name::TestName;
use cardscope_model::units::NANOS_PER_S;
use std::collections::{BTreeSet, HashMap};

/// Points of one series; longer ones are thinned by putting neighbours together.
const MOST_SECONDS: usize = 600;

/// Words of a condition that say nothing about what is drawn.
const LEFT_OUT: [&str; 3] = ["note", "kernel", "tool"];

/// What is gathered of one card.
pub(super) struct OverTime<'a> {
    /// Name and condition of each column.
    columns: Vec<(&'a str, String)>,
    /// To which columns a run of a session belongs, and which of their runs it is, from 1: several where a card was named
    /// once with a condition and once without.
    runs: HashMap<(String, u32), Vec<(usize, u32)>>,
    tests: &'a [TestName],
    series: Vec<TestSeries>,
    latencies: Vec<(BTreeSet<u32>, TestLatencies)>,
}

impl<'a> OverTime<'a> {
    /// Of these columns and tests; all tests where none is named.
    pub(super) fn new(columns: &[&'a ComparedColumn], tests: &'a [TestName]) -> Self {
        let mut runs: HashMap<(String, u32), Vec<(usize, u32)>> = HashMap::new();
        for (at, column) in columns.iter().enumerate() {
            for (run, number) in column.runs.iter().zip(1..) {
                runs.entry(run.clone()).or_default().push((at, number));
            }
        }
        OverTime {
            runs,
            columns: columns.iter().map(|c| (c.entry.name.as_str(), words(&c.entry.settings))).collect(),
            tests,
            series: Vec::new(),
            latencies: Vec::new(),
        }
    }

    /// Takes the runs of a session that count.
    pub(super) fn add(&mut self, session: SessionFile) {
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
        let SampleRecord { test, step, sample, .. } = record;
        let (entry, condition) = &self.columns[column];
        let seconds = thinned(&whole_seconds(sample));
        // One second is no series.
        if seconds.len() > 1 {
            self.series.push(TestSeries {
                test: *test,
                step: step.clone(),
                run,
                entry: (*entry).to_owned(),
                condition: condition.clone(),
                seconds,
            });
        }
        let same = |l: &TestLatencies| l.test == *test && l.step == *step && l.entry == *entry;
        match self.latencies.iter_mut().find(|(_, l)| same(l)) {
            Some((runs, known)) => {
                runs.insert(run);
                known.histogram.merge(&sample.histogram);
            }
            None => self.latencies.push((
                BTreeSet::from([run]),
                TestLatencies {
                    test: *test,
                    step: step.clone(),
                    runs: 0,
                    entry: (*entry).to_owned(),
                    condition: condition.clone(),
                    histogram: sample.histogram.clone(),
                },
            )),
        }
    }

    /// The series in the order of their runs, and the latencies.
    pub(super) fn into_parts(mut self) -> (Vec<TestSeries>, Vec<TestLatencies>) {
        self.series.sort_by_key(|series| series.run);
        let latencies = self.latencies.into_iter();
        let counted =
            latencies.map(|(runs, latencies)| TestLatencies { runs: runs.len() as u32, ..latencies });
        (self.series, counted.collect())
    }
}

/// What is the same in all settings of a column, in a line.
fn words(settings: &[Setting]) -> String {
    let Some((first, others)) = settings.split_first() else { return String::new() };
    let same =
        |(word, value): &(&str, &str)| others.iter().all(|other| other.condition.get(word) == Some(value));
    let said = first.condition.iter().filter(|(word, _)| !LEFT_OUT.contains(word)).filter(same);
    said.map(|(word, value)| format!("{} {value}", word.replace('_', " "))).collect::<Vec<_>>().join(" · ")
}

/// The seconds that were measured to their end: the last one of a test is cut off where the test ends, and what little was
/// done in it would pass for a slow second.
fn whole_seconds(sample: &LoopSample) -> Vec<SeriesBucket> {
    let whole = sample.nanos / NANOS_PER_S;
    sample.series.iter().copied().filter(|bucket| bucket.end_s() <= whole).collect()
}

/// A series short enough to draw: neighbours put together, the longest latency and the last temperature kept.
fn thinned(seconds: &[SeriesBucket]) -> Vec<SeriesBucket> {
    let together = seconds.len().div_ceil(MOST_SECONDS).max(1);
    let merged = |chunk: &[SeriesBucket]| chunk.iter().copied().reduce(SeriesBucket::with_next);
    seconds.chunks(together).filter_map(merged).collect()
}

#[cfg(test)]
mod tests;
