//! Takes what the runner measures: records every sample at once, joins the slices of work to the stopping rule of
//! `analysis`, and gathers what the report needs.

use cardscope_engine::runner::{self, RecorderError, StopChoice, StopRule};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::{Recipe, RepeatUntil};
use cardscope_model::report::IoTotals;
use cardscope_model::result::{LoopSample, NotMeasured, Precision};
use cardscope_model::test_name::TestName;
use cardscope_model::verify::{IoCounts, IoError};
use cardscope_session::recorder::SessionRecorder;
use cardscope_statistics::stopping;
use cardscope_statistics::stopping::StopDecision;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the samples of a pass are recorded.
pub(super) struct SampleRecording<'a> {
    pub(super) recorder: &'a mut SessionRecorder,
    pub(super) run: u32,
}

/// Everything that one pass yields.
pub(super) struct PassResult<'a> {
    recipe: &'a Recipe,
    recording: SampleRecording<'a>,
    paces: Vec<(usize, Arc<Mutex<StopOutcome>>)>,
    /// Samples by test.
    pub(super) samples: Vec<Vec<LoopSample>>,
    /// Doubts by test.
    pub(super) caveats: Vec<Vec<Caveat>>,
    /// How well each figure is known, where the recipe asks.
    pub(super) precisions: Vec<Option<Precision>>,
    /// I/Os of each test, and how many of them failed.
    counts: Vec<IoCounts>,
    /// What could not be measured.
    pub(super) not_measured: Vec<NotMeasured>,
    /// Bytes, whatever of them is measured.
    pub(super) moved: &'a mut IoTotals,
}

impl<'a> PassResult<'a> {
    pub(super) fn new(recipe: &'a Recipe, recording: SampleRecording<'a>, moved: &'a mut IoTotals) -> Self {
        let n = recipe.tests.len();
        PassResult {
            recipe,
            recording,
            paces: Vec::new(),
            samples: vec![Vec::new(); n],
            caveats: vec![Vec::new(); n],
            precisions: vec![None; n],
            counts: vec![IoCounts::default(); n],
            not_measured: Vec::new(),
            moved,
        }
    }

    /// What the paces found, and the I/Os that failed, go to the figures and doubts of their tests.
    pub(super) fn settle(&mut self) {
        for (caveats, counts) in self.caveats.iter_mut().zip(&self.counts) {
            caveats.extend(Caveat::of_failed(*counts));
        }
        for (test, outcome) in std::mem::take(&mut self.paces) {
            let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            self.caveats[test].extend(outcome.caveat());
            self.precisions[test] = Some(outcome.precision());
        }
    }
}

impl runner::PassRecorder for PassResult<'_> {
    fn sample(&mut self, test: usize, index: u32, sample: LoopSample) -> Result<(), RecorderError> {
        let SampleRecording { recorder, run } = &mut self.recording;
        recorder.add_sample(*run, &self.recipe.tests[test], index, &sample)?;
        self.samples[test].push(sample);
        Ok(())
    }

    fn moved(&mut self, read: u64, written: u64) {
        self.moved.bytes_read += read;
        self.moved.bytes_written += written;
    }

    fn failed(&mut self, test: Option<usize>, counts: IoCounts, io_errors: &[IoError]) {
        self.moved.add_failed(counts, io_errors);
        if let Some(test) = test {
            self.counts[test] += counts;
        }
    }

    fn not_measured(&mut self, test: usize, reason: String) {
        let spec = &self.recipe.tests[test];
        self.not_measured.push(NotMeasured {
            test: spec.name.pattern,
            op: spec.name.op,
            step: spec.step.clone(),
            reason,
        });
    }

    fn caveat(&mut self, test: usize, caveat: Caveat) {
        if !self.caveats[test].contains(&caveat) {
            self.caveats[test].push(caveat);
        }
    }

    fn pace(&mut self, test: usize) -> Option<Box<dyn StopRule>> {
        let spec = &self.recipe.tests[test];
        let (pace, outcome) = precise(spec.until?, spec.name);
        self.paces.push((test, outcome));
        Some(pace)
    }
}

/// What the rule found, to be read when the test is over.
struct StopOutcome {
    rule: stopping::StopPrecision,
    limit: Option<Caveat>,
    reached: bool,
}

impl StopOutcome {
    /// How well the figure is known.
    fn precision(&self) -> Precision {
        let known = self.rule.known().map(|k| k.half_width_percent);
        Precision { ci95_percent: known, reached: self.reached }
    }

    /// The doubt that belongs to the test, if its figure is not as precise as wanted.
    fn caveat(&self) -> Option<Caveat> {
        match self.reached {
            true => None,
            false => self.limit.clone().or_else(|| self.rule.caveat("the end of the test")),
        }
    }
}

struct SharedStopRule(Arc<Mutex<StopOutcome>>);

impl StopRule for SharedStopRule {
    fn slice(&mut self, seconds: f64, ios: u64) -> StopChoice {
        let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome.rule.push(seconds, ios) {
            StopDecision::Continue => StopChoice::Continue,
            StopDecision::Reached(_) => {
                outcome.reached = true;
                StopChoice::Stop
            }
            StopDecision::LimitHit { caveat, .. } => {
                outcome.limit = Some(caveat);
                StopChoice::Stop
            }
        }
    }
}

/// A pace for one test, and where its outcome will stand.
fn precise(until: RepeatUntil, test: TestName) -> (Box<dyn StopRule>, Arc<Mutex<StopOutcome>>) {
    let outcome = Arc::new(Mutex::new(StopOutcome {
        rule: stopping::StopPrecision::new(until, test),
        limit: None,
        reached: false,
    }));
    (Box::new(SharedStopRule(Arc::clone(&outcome))), outcome)
}
