//! Recorder of one pass: stores every sample at once, applies the stopping rule of `statistics`, and collects the
//! results for the report.

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

pub(super) struct SampleRecording<'a> {
    pub(super) recorder: &'a mut SessionRecorder,
    pub(super) run: u32,
}

/// Results of one pass, each by index of the test.
pub(super) struct PassResult<'a> {
    recipe: &'a Recipe,
    recording: SampleRecording<'a>,
    stop_rules: Vec<(usize, Arc<Mutex<StopOutcome>>)>,
    pub(super) samples: Vec<Vec<LoopSample>>,
    pub(super) caveats: Vec<Vec<Caveat>>,
    /// Precision of each figure, if the recipe asks for one.
    pub(super) precisions: Vec<Option<Precision>>,
    counts: Vec<IoCounts>,
    pub(super) not_measured: Vec<NotMeasured>,
    /// Bytes moved, including those that were not measured.
    pub(super) moved: &'a mut IoTotals,
}

impl<'a> PassResult<'a> {
    pub(super) fn new(recipe: &'a Recipe, recording: SampleRecording<'a>, moved: &'a mut IoTotals) -> Self {
        let n = recipe.tests.len();
        PassResult {
            recipe,
            recording,
            stop_rules: Vec::new(),
            samples: vec![Vec::new(); n],
            caveats: vec![Vec::new(); n],
            precisions: vec![None; n],
            counts: vec![IoCounts::default(); n],
            not_measured: Vec::new(),
            moved,
        }
    }

    /// Adds failed I/Os and the outcome of each stopping rule to the caveats and precisions of the tests.
    pub(super) fn apply_outcomes(&mut self) {
        for (caveats, counts) in self.caveats.iter_mut().zip(&self.counts) {
            caveats.extend(Caveat::from_failed_ios(*counts));
        }
        for (test, outcome) in std::mem::take(&mut self.stop_rules) {
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

    fn add_moved(&mut self, read: u64, written: u64) {
        self.moved.bytes_read += read;
        self.moved.bytes_written += written;
    }

    fn add_failures(&mut self, test: Option<usize>, counts: IoCounts, io_errors: &[IoError]) {
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

    fn add_caveat(&mut self, test: usize, caveat: Caveat) {
        if !self.caveats[test].contains(&caveat) {
            self.caveats[test].push(caveat);
        }
    }

    fn stop_rule(&mut self, test: usize) -> Option<Box<dyn StopRule>> {
        let spec = &self.recipe.tests[test];
        let (pace, outcome) = precision_rule(spec.until?, spec.name);
        self.stop_rules.push((test, outcome));
        Some(pace)
    }
}

/// State of a stopping rule, shared with the report, which reads it after the test.
struct StopOutcome {
    rule: stopping::StopPrecision,
    limit: Option<Caveat>,
    reached: bool,
}

impl StopOutcome {
    fn precision(&self) -> Precision {
        let known = self.rule.estimate().map(|k| k.half_width_percent);
        Precision { ci95_percent: known, reached: self.reached }
    }

    /// Caveat if the figure is less precise than the recipe asks.
    fn caveat(&self) -> Option<Caveat> {
        match self.reached {
            true => None,
            false => self.limit.clone().or_else(|| self.rule.caveat("the end of the test")),
        }
    }
}

struct SharedStopRule(Arc<Mutex<StopOutcome>>);

impl StopRule for SharedStopRule {
    fn add_work(&mut self, seconds: f64, ios: u64) -> StopChoice {
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

/// Stopping rule for one test, and a handle to its outcome.
fn precision_rule(until: RepeatUntil, test: TestName) -> (Box<dyn StopRule>, Arc<Mutex<StopOutcome>>) {
    let outcome = Arc::new(Mutex::new(StopOutcome {
        rule: stopping::StopPrecision::new(until, test),
        limit: None,
        reached: false,
    }));
    (Box::new(SharedStopRule(Arc::clone(&outcome))), outcome)
}
