//! What a person would stumble over in the figures of a session: runs on two levels, a read far below its class, large
//! blocks slower than small ones, a queue that makes it worse, a speed that no bus carries, a rig that gets hot. Each of
//! the seeds names one of them; each finding names its numbers.

mod class;
mod heat;
mod runs;
mod shape;
#[cfg(test)]
mod tests;

pub use heat::{Load, hot_host};
pub use shape::{Sized, small_against_large};

use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::result::{Run, TestResult};
use cardscope_model::test_name::{Op, Order, TestName};
use cardscope_model::units::MIB;

/// What a session yielded, as far as anomalies are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// Its runs; those that do not count are left out.
    pub runs: &'a [Run],
    /// What was true of card and rig.
    pub condition: &'a Condition,
    /// What the bus carries in MB/s, where known.
    pub ceiling_mb_s: Option<f64>,
}

/// Everything odd about a session.
#[must_use]
pub fn findings(session: &Session<'_>) -> Vec<Finding> {
    let table = Table::new(session.runs);
    let mut found = runs::levels_of(&table);
    found.extend(runs::states(&table));
    found.extend(class::reads(&table));
    found.extend(shape::all(&table));
    found.extend(shape::above_bus(&table, session.ceiling_mb_s));
    found.extend(heat::of_session(session));
    found
}

/// A test over the counted runs.
struct Row<'a> {
    name: TestName,
    results: Vec<&'a TestResult>,
}

impl Row<'_> {
    fn speeds(&self) -> Vec<f64> {
        self.results.iter().map(|r| r.mb_s).collect()
    }

    fn median(&self) -> f64 {
        crate::quantile::median(&self.speeds()).unwrap_or(0.0)
    }
}

/// All tests over the counted runs; steps of the same name under different conditions are left out, since they are not
/// the same test.
struct Table<'a> {
    rows: Vec<Row<'a>>,
}

impl<'a> Table<'a> {
    fn new(runs: &'a [Run]) -> Self {
        let mut rows: Vec<Row<'a>> = Vec::new();
        let all = runs.iter().filter(|run| run.counted).flat_map(|run| &run.results);
        for result in all.filter(|result| result.step.is_none()) {
            match rows.iter_mut().find(|row| row.name == result.name()) {
                Some(row) => row.results.push(result),
                None => rows.push(Row { name: result.name(), results: vec![result] }),
            }
        }
        Table { rows }
    }

    fn of(&self, op: Op, wanted: impl Fn(&TestName) -> bool) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(move |row| row.name.op == op && wanted(&row.name))
    }

    /// Random 4 KiB I/O with so many in flight, on one thread.
    fn small(&self, op: Op, queue: u32) -> Option<&Row<'a>> {
        self.of(op, |n| {
            let p = n.pattern;
            p.order == Order::Random && p.block == 4096 && p.queue == queue && p.threads == 1
        })
        .next()
    }

    /// The fastest test in order with blocks of at least 1 MiB.
    fn in_order(&self, op: Op) -> Option<&Row<'a>> {
        self.of(op, large_in_order).max_by(|a, b| a.median().total_cmp(&b.median()))
    }
}

fn large_in_order(name: &TestName) -> bool {
    name.pattern.order == Order::Sequential && name.pattern.block >= MIB
}

/// Speeds as they are listed in evidence.
fn listed(speeds: &[f64]) -> String {
    speeds.iter().map(|v| digits(*v)).collect::<Vec<_>>().join(" ")
}

/// As many digits as mean something.
fn digits(mb_s: f64) -> String {
    if mb_s >= 100.0 {
        format!("{mb_s:.0}")
    } else if mb_s >= 10.0 {
        format!("{mb_s:.1}")
    } else {
        format!("{mb_s:.2}")
    }
}
