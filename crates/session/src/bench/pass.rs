//! Takes what the runner measures: records every sample at once, and gathers what the report needs.

use crate::bench::pace;
use crate::recorder::Recorder;
use cardscope_engine::runner::{self, Pace, RecorderError};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{NotMeasured, Precision, Sample};
use std::sync::{Arc, Mutex};

/// Where the samples of a pass are recorded.
pub(super) struct Recording<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) run: u32,
}

/// Everything that one pass yields.
pub(super) struct Pass<'a> {
    recipe: &'a Recipe,
    recording: Option<Recording<'a>>,
    paces: Vec<(usize, Arc<Mutex<pace::Outcome>>)>,
    /// Samples by test.
    pub(super) samples: Vec<Vec<Sample>>,
    /// Doubts by test.
    pub(super) caveats: Vec<Vec<Caveat>>,
    /// How well each figure is known, where the recipe asks.
    pub(super) precisions: Vec<Option<Precision>>,
    /// What could not be measured.
    pub(super) not_measured: Vec<NotMeasured>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(recipe: &'a Recipe, recording: Option<Recording<'a>>) -> Self {
        let n = recipe.tests.len();
        Pass {
            recipe,
            recording,
            paces: Vec::new(),
            samples: vec![Vec::new(); n],
            caveats: vec![Vec::new(); n],
            precisions: vec![None; n],
            not_measured: Vec::new(),
        }
    }

    /// What the paces found goes to the figures and doubts of their tests.
    pub(super) fn settle_paces(&mut self) {
        for (test, outcome) in std::mem::take(&mut self.paces) {
            let outcome = outcome.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.caveats[test].extend(outcome.caveat());
            self.precisions[test] = Some(outcome.precision());
        }
    }
}

impl runner::Recorder for Pass<'_> {
    fn sample(&mut self, test: usize, index: u32, sample: Sample) -> Result<(), RecorderError> {
        if let Some(Recording { recorder, run }) = &mut self.recording {
            recorder.add_sample(*run, &self.recipe.tests[test], index, &sample)?;
        }
        self.samples[test].push(sample);
        Ok(())
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

    fn pace(&mut self, test: usize) -> Option<Box<dyn Pace>> {
        let spec = &self.recipe.tests[test];
        let (pace, outcome) = pace::precise(spec.until?, spec.name);
        self.paces.push((test, outcome));
        Some(pace)
    }
}
