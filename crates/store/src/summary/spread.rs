//! Runs gathered by card, setting and test, and what is said of each.

use crate::connection::{Outcome, Rows, json};
use cardscope_model::archived::SummaryRow;
use cardscope_model::run::Figure;
use cardscope_model::setting::Setting;
use cardscope_model::statistics;
use cardscope_model::test_name::TestName;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One test over its runs, in MB/s (10^6), as it stands in the archive, as a list without field names: test, step, runs,
/// mean, standard deviation, median, best, worst, longest latency in microseconds, and when it was last measured.
pub(super) type Spread =
    (TestName, Option<String>, u32, f64, Option<f64>, f64, f64, f64, Option<f64>, Option<String>);

/// What is said of a card under a setting.
pub(super) fn row(card: &str, setting: &Arc<Setting>, spread: Spread) -> SummaryRow {
    let (test, step, n, mean, sd, median, best, worst, max_latency_us, last) = spread;
    let (card_id, setting) = (card.to_owned(), Arc::clone(setting));
    SummaryRow { card_id, setting, test, step, n, mean, sd, median, best, worst, max_latency_us, last }
}

/// All tests of a batch of cards.
#[derive(Default)]
pub(super) struct Spreads {
    by_card_and_setting: BTreeMap<(String, String), Group>,
}

/// The tests of one card under one setting, in the order in which they came.
#[derive(Default)]
struct Group {
    tests: Vec<Test>,
    indices: HashMap<(TestName, Option<String>), usize>,
}

struct Test {
    test: TestName,
    step: Option<String>,
    speeds: Vec<f64>,
    max_latency_us: Option<f64>,
    last: Option<String>,
}

impl Spreads {
    pub(super) fn add(&mut self, card: String, setting: String, at: Option<String>, figures: &[Figure]) {
        let group = self.by_card_and_setting.entry((card, setting)).or_default();
        for (index, figure) in figures.iter().enumerate() {
            group.test(index, figure).add(figure, &at);
        }
    }

    /// The tests of each card under each setting.
    pub(super) fn into_groups(self) -> impl Iterator<Item = (String, String, Vec<Spread>)> {
        let groups = self.by_card_and_setting.into_iter();
        groups.map(|((card, setting), group)| {
            (card, setting, group.tests.into_iter().map(Test::spread).collect())
        })
    }

    pub(super) fn into_rows(self, rows: &mut Rows) -> Outcome<()> {
        for (card, setting, spreads) in self.into_groups() {
            rows.push([card.into(), setting.into(), json(&spreads)?.into()]);
        }
        Ok(())
    }
}

impl Group {
    /// The test of a figure. Runs of one recipe have their tests in one order, so it is mostly where it was last time.
    fn test(&mut self, expected: usize, figure: &Figure) -> &mut Test {
        let is = |t: &Test| t.test == figure.name() && t.step == figure.step;
        if self.tests.get(expected).is_some_and(is) {
            return &mut self.tests[expected];
        }
        let index = *self.indices.entry((figure.name(), figure.step.clone())).or_insert_with(|| {
            self.tests.push(Test::of(figure));
            self.tests.len() - 1
        });
        &mut self.tests[index]
    }
}

impl Test {
    fn of(figure: &Figure) -> Self {
        Test {
            test: figure.name(),
            step: figure.step.clone(),
            speeds: Vec::new(),
            max_latency_us: None,
            last: None,
        }
    }

    fn add(&mut self, figure: &Figure, at: &Option<String>) {
        self.speeds.push(figure.mb_s);
        self.max_latency_us = match (self.max_latency_us, figure.max_latency_us) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        if *at > self.last {
            self.last.clone_from(at);
        }
    }

    fn spread(mut self) -> Spread {
        self.speeds.sort_by(f64::total_cmp);
        let speeds = &self.speeds;
        let n = speeds.len();
        let mean = statistics::mean(speeds).unwrap_or(f64::NAN);
        let median = statistics::median(speeds).unwrap_or(f64::NAN);
        let (sd, best, worst) = (statistics::deviation(speeds), speeds[n - 1], speeds[0]);
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        (self.test, self.step, n, mean, sd, median, best, worst, self.max_latency_us, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(test: &str, mb_s: f64, max_latency_us: Option<f64>) -> Figure {
        Figure { max_latency_us, ..Figure::of(test.parse().unwrap(), mb_s) }
    }

    #[test]
    fn a_test_is_summed_up_over_its_runs_wherever_it_stands_in_them() {
        let mut spreads = Spreads::default();
        let mut add = |at: &str, figures: &[Figure]| {
            spreads.add("card".into(), "setting".into(), Some(at.into()), figures);
        };
        add(
            "2024-05-01",
            &[figure("SEQ1M Q1T1 read", 90.0, None), figure("RND4K Q1T1 read", 7.0, Some(900.0))],
        );
        add("2024-05-03", &[figure("RND4K Q1T1 read", 9.0, Some(400.0))]);
        add("2024-05-02", &[figure("RND4K Q1T1 read", 5.0, None), figure("SEQ1M Q1T1 read", 80.0, None)]);
        let group = spreads.by_card_and_setting.into_values().next().unwrap();
        let [_, random] = <[Test; 2]>::try_from(group.tests).ok().unwrap();
        assert_eq!(random.last.as_deref(), Some("2024-05-03"));
        let spread = random.spread();
        let name = "RND4K Q1T1 read".parse().unwrap();
        let last = Some("2024-05-03".to_owned());
        assert_eq!(spread, (name, None, 3, 7.0, Some(2.0), 7.0, 9.0, 5.0, Some(900.0), last));
        assert_eq!(serde_json::from_str::<Spread>(&json(&spread).unwrap()).unwrap(), spread);
    }

    #[test]
    fn one_run_has_no_spread() {
        let mut test = Test::of(&figure("SEQ1M Q1T1 read", 0.0, None));
        test.add(&figure("SEQ1M Q1T1 read", 4.0, None), &None);
        assert_eq!(test.spread().4, None);
    }
}
