//! Results of a session by test, over the counted runs.

use cardscope_model::condition::Condition;
use cardscope_model::result::{RunResult, TestResult};
use cardscope_model::statistics::median;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{MIB, three_digits};

#[derive(Debug, Clone, Copy)]
pub struct AnomalySession<'a> {
    pub runs: &'a [RunResult],
    pub condition: &'a Condition,
    pub ceiling_mb_s: Option<f64>,
}

pub(super) struct AnomalyRow<'a> {
    pub(super) name: TestName,
    pub(super) results: Vec<&'a TestResult>,
}

impl AnomalyRow<'_> {
    pub(super) fn speeds(&self) -> Vec<f64> {
        self.results.iter().map(|r| r.mb_s).collect()
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.speeds()).unwrap_or(0.0)
    }
}

/// Tests of a session. Recipe steps that repeat a test under another condition are left out, as they are not comparable.
pub(super) struct AnomalyTable<'a> {
    pub(super) rows: Vec<AnomalyRow<'a>>,
}

impl<'a> AnomalyTable<'a> {
    pub(super) fn new(runs: &'a [RunResult]) -> Self {
        let mut rows: Vec<AnomalyRow<'a>> = Vec::new();
        let all = runs.iter().filter(|run| run.counted).flat_map(|run| &run.results);
        for result in all.filter(|result| result.step.is_none()) {
            match rows.iter_mut().find(|row| row.name == result.name()) {
                Some(row) => row.results.push(result),
                None => rows.push(AnomalyRow { name: result.name(), results: vec![result] }),
            }
        }
        AnomalyTable { rows }
    }

    pub(super) fn rows_of(
        &self,
        op: TestOp,
        wanted: impl Fn(&TestName) -> bool,
    ) -> impl Iterator<Item = &AnomalyRow<'a>> {
        self.rows.iter().filter(move |row| row.name.op == op && wanted(&row.name))
    }

    pub(super) fn random_4k(&self, op: TestOp, queue: u32) -> Option<&AnomalyRow<'a>> {
        self.rows_of(op, |n| {
            let p = n.pattern;
            p.order == IoOrder::Random && p.block == 4096 && p.queue == queue && p.threads == 1
        })
        .next()
    }

    pub(super) fn fastest_large_sequential(&self, op: TestOp) -> Option<&AnomalyRow<'a>> {
        self.rows_of(op, is_large_sequential).max_by(|a, b| a.median().total_cmp(&b.median()))
    }
}

pub(super) fn is_large_sequential(name: &TestName) -> bool {
    name.pattern.order == IoOrder::Sequential && name.pattern.block >= MIB
}

pub(super) fn speed_list(speeds: &[f64]) -> String {
    speeds.iter().map(|v| three_digits(*v)).collect::<Vec<_>>().join(", ")
}
