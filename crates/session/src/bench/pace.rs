//! Joins the runner, which feeds slices of work, to the stopping rule of `analysis`.

use cardscope_analysis::stopping::{Decision, Precision};
use cardscope_engine::runner::{Cut, Pace};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::Until;
use cardscope_model::result::Precision as Known;
use cardscope_model::test_name::TestName;
use std::sync::{Arc, Mutex, PoisonError};

/// What the rule found, to be read when the test is over.
pub(super) struct Outcome {
    rule: Precision,
    limit: Option<Caveat>,
    reached: bool,
}

impl Outcome {
    /// How well the figure is known.
    pub(super) fn precision(&self) -> Known {
        let known = self.rule.known().map(|k| k.half_width_percent);
        Known { ci95_percent: known, reached: self.reached }
    }

    /// The doubt that belongs to the test, if its figure is not as precise as wanted.
    pub(super) fn caveat(&self) -> Option<Caveat> {
        match self.reached {
            true => None,
            false => self.limit.clone().or_else(|| self.rule.caveat("the end of the test")),
        }
    }
}

struct Shared(Arc<Mutex<Outcome>>);

impl Pace for Shared {
    fn slice(&mut self, seconds: f64, ios: u64) -> Cut {
        let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome.rule.push(seconds, ios) {
            Decision::Continue => Cut::Continue,
            Decision::Reached(_) => {
                outcome.reached = true;
                Cut::Stop
            }
            Decision::LimitHit { caveat, .. } => {
                outcome.limit = Some(caveat);
                Cut::Stop
            }
        }
    }
}

/// A pace for one test, and where its outcome will stand.
pub(super) fn precise(until: Until, test: TestName) -> (Box<dyn Pace>, Arc<Mutex<Outcome>>) {
    let outcome =
        Arc::new(Mutex::new(Outcome { rule: Precision::new(until, test), limit: None, reached: false }));
    (Box::new(Shared(Arc::clone(&outcome))), outcome)
}
