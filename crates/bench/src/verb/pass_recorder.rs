//! Recorder of one pass: stores every sample at once, applies the stopping rule of `statistics`, and collects the
//! results for the report.

use cardscope_engine::runner::{PassRecorder, RecorderError, StopChoice, StopRule};
use cardscope_model::aggregate;
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::{Recipe, RepeatUntil};
use cardscope_model::report::IoTotals;
use cardscope_model::result::{LoopSample, NotMeasured, Precision, TestResult};
use cardscope_model::test_name::TestName;
use cardscope_model::verify::{IoCounts, IoError};
use cardscope_session::recorder::SessionRecorder;
use cardscope_statistics::bus_ceiling;
use cardscope_statistics::stopping::{StopDecision, StopPrecision};
use std::sync::{Arc, Mutex, PoisonError};

/// Results of one pass, each by index of the test.
pub(super) struct PassResult<'a> {
    recipe: &'a Recipe,
    recorder: &'a mut SessionRecorder,
    run: u32,
    stop_rules: Vec<(usize, Arc<Mutex<StopOutcome>>)>,
    samples: Vec<Vec<LoopSample>>,
    caveats: Vec<Vec<Caveat>>,
    /// Precision of each figure, if the recipe asks for one.
    precisions: Vec<Option<Precision>>,
    counts: Vec<IoCounts>,
    not_measured: Vec<NotMeasured>,
    /// Bytes moved, including those that were not measured.
    pub(super) moved: &'a mut IoTotals,
}

impl<'a> PassResult<'a> {
    pub(super) fn new(
        recipe: &'a Recipe,
        run: u32,
        recorder: &'a mut SessionRecorder,
        moved: &'a mut IoTotals,
    ) -> Self {
        let n = recipe.tests.len();
        PassResult {
            recipe,
            recorder,
            run,
            stop_rules: Vec::new(),
            samples: vec![Vec::new(); n],
            caveats: vec![Vec::new(); n],
            precisions: vec![None; n],
            counts: vec![IoCounts::default(); n],
            not_measured: Vec::new(),
            moved,
        }
    }
}

impl PassResult<'_> {
    /// Results of the tests with at least one counted loop, and the tests without a figure. Failed I/Os and the outcome of
    /// each stopping rule become caveats and precisions.
    pub(super) fn into_results(mut self, ceiling_mb_s: Option<f64>) -> (Vec<TestResult>, Vec<NotMeasured>) {
        for (caveats, counts) in self.caveats.iter_mut().zip(&self.counts) {
            caveats.extend(Caveat::from_failed_ios(*counts));
        }
        for (test, outcome) in self.stop_rules {
            let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            self.caveats[test].extend(outcome.caveat());
            self.precisions[test] = Some(outcome.precision());
        }
        let measured = self.recipe.tests.iter().zip(self.samples).zip(self.caveats).zip(self.precisions);
        let results = measured.filter_map(|(((test, samples), caveats), precision)| {
            let result = aggregate::aggregate_test(test, &samples)?;
            let mut result = TestResult { caveats, precision, ..result };
            if let Some(most) = ceiling_mb_s {
                bus_ceiling::judge_result(&mut result, most);
            }
            Some(result)
        });
        (results.collect(), self.not_measured)
    }
}

impl PassRecorder for PassResult<'_> {
    fn sample(&mut self, test: usize, index: u32, sample: LoopSample) -> Result<(), RecorderError> {
        self.recorder.add_sample(self.run, &self.recipe.tests[test], index, &sample)?;
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
        let (TestName { pattern: test, op }, step) = (spec.name, spec.step.clone());
        self.not_measured.push(NotMeasured { test, op, step, reason });
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
    rule: StopPrecision,
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
            StopDecision::Continue => return StopChoice::Continue,
            StopDecision::Reached(_) => outcome.reached = true,
            StopDecision::LimitHit { caveat, .. } => outcome.limit = Some(caveat),
        }
        StopChoice::Stop
    }
}

/// Stopping rule for one test, and a handle to its outcome.
fn precision_rule(until: RepeatUntil, test: TestName) -> (Box<dyn StopRule>, Arc<Mutex<StopOutcome>>) {
    let rule = StopPrecision::new(until, test);
    let outcome = Arc::new(Mutex::new(StopOutcome { rule, limit: None, reached: false }));
    (Box::new(SharedStopRule(Arc::clone(&outcome))), outcome)
}
