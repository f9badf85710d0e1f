//! Listens to the runner: keeps every sample at once, tells the listener, gathers what the report needs.

use crate::bench::pace;
use crate::recorder::Recorder;
use cardscope_engine::event::{Event, Listener};
use cardscope_engine::runner::{Observer, ObserverError, Pace, Step};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{NotMeasured, Precision, Sample};
use cardscope_model::units::{Nanos, seconds};
use std::sync::{Arc, Mutex};

/// Where the samples of a pass are recorded.
pub(super) struct Recording<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) run: u32,
}

/// Everything that one pass yields.
pub(super) struct Pass<'a> {
    recipe: &'a Recipe,
    label: String,
    listener: &'a mut dyn Listener,
    recording: Option<Recording<'a>>,
    current: String,
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
    pub(super) fn new(
        recipe: &'a Recipe,
        label: String,
        listener: &'a mut dyn Listener,
        recording: Option<Recording<'a>>,
    ) -> Self {
        let n = recipe.tests.len();
        Pass {
            recipe,
            label,
            listener,
            recording,
            current: String::new(),
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

    fn name(&self, test: usize) -> String {
        let test = &self.recipe.tests[test];
        match &test.step {
            Some(step) => format!("{} ({step})", test.name),
            None => test.name.to_string(),
        }
    }

    fn phase(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.current = format!("{}{what}", self.label);
        let what = self.current.clone();
        self.listener.event(&Event::Phase { what, bytes, seconds });
    }
}

impl Observer for Pass<'_> {
    fn begin(&mut self, step: Step) {
        match step {
            Step::Prepare(bytes) => self.phase("writing the test area", Some(bytes), None),
            Step::Rest(s) => self.phase("resting", None, Some(s)),
            Step::Loop { test, index, bytes, seconds } => {
                let all = self.recipe.tests[test].discard_loops + self.recipe.tests[test].loops;
                let number = if all > 1 { format!(", loop {} of {all}", index + 1) } else { String::new() };
                let what = format!("{}{number}", self.name(test));
                self.phase(&what, bytes, seconds);
            }
        }
    }

    fn progress(&mut self, bytes: u64, nanos: Nanos) {
        self.listener.event(&Event::Progress { bytes, seconds: seconds(nanos) });
    }

    fn sample(&mut self, test: usize, index: u32, sample: Sample) -> Result<(), ObserverError> {
        if let Some(Recording { recorder, run }) = &mut self.recording {
            recorder.add_sample(*run, &self.recipe.tests[test], index, &sample)?;
        }
        let what = self.current.clone();
        self.listener.event(&Event::Figure { what, mb_s: sample.mb_s(), counted: sample.counted });
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
