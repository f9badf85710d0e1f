//! What the engine itself costs: it is measured on a target that answers at once, and reported with each session.

use crate::event::Silent;
use crate::interrupt::Interrupt;
use crate::null::NullTarget;
use crate::runner::{Pace, Recorder, RecorderError, Settings, run_pass};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe;
use cardscope_model::result::{EngineCost, Sample};

/// Long enough for a steady figure, short enough to go unnoticed: about 3 ms.
const RECIPE: &str = r#"
name = "overhead"
title = "the engine against a target that answers at once"
version = 1
source = "own"
[area]
size = "64MiB"
prepare = false
[[test]]
test = "RND4K Q1T1 read"
passes = 1
[[test]]
test = "RND4K Q32T1 read"
passes = 1
"#;

#[derive(Default)]
struct Collect(Vec<f64>);

impl Recorder for Collect {
    fn sample(&mut self, _test: usize, _index: u32, sample: Sample) -> Result<(), RecorderError> {
        self.0.push(sample.nanos as f64 / sample.ios as f64);
        Ok(())
    }
    fn not_measured(&mut self, _test: usize, _reason: String) {}
    fn caveat(&mut self, _test: usize, _caveat: Caveat) {}
    fn pace(&mut self, _test: usize) -> Option<Box<dyn Pace>> {
        None
    }
}

/// Measures the engine's own cost on this machine, now.
pub fn measure() -> Option<EngineCost> {
    let recipe = recipe::parse(RECIPE, None).ok()?;
    let settings = Settings {
        label: "",
        seed: 1,
        may_write: false,
        interrupt: &Interrupt::default(),
        deadline: None,
        more_follow: false,
    };
    let mut collect = Collect::default();
    run_pass(&mut NullTarget::new(1 << 30), &recipe, &settings, &mut collect, &mut Silent).ok()?;
    match collect.0[..] {
        [q1_ns, q32_ns] => Some(EngineCost { q1_ns, q32_ns }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_engine_knows_its_own_cost() {
        let overhead = super::measure().expect("the built-in recipe runs");
        assert!(overhead.q1_ns > 0.0 && overhead.q32_ns > 0.0, "{overhead:?}");
    }
}
