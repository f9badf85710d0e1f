//! Groups the figures of a log into runs.
//!
//! Logs mark the border between two runs badly or not at all. One rule holds for all tools: a test occurs once in a run, so
//! a repeated test begins the next run.

use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestName;
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(crate) struct RunBuilder {
    runs: Vec<Run>,
    current_tests: HashSet<(TestName, Option<String>)>,
}

impl RunBuilder {
    /// Runs of figures in the order of the log.
    pub(crate) fn group_figures(figures: impl Iterator<Item = TestFigure>) -> Vec<Run> {
        let mut runs = RunBuilder::default();
        figures.for_each(|figure| runs.add_figure(figure));
        runs.finish()
    }

    /// Begins a run with the size, loops and condition of `head`.
    pub(crate) fn begin_run(&mut self, head: Run) {
        self.current_tests.clear();
        self.runs.push(head);
    }

    /// Adds a figure to the current run, or to a new run like it if the test is repeated.
    pub(crate) fn add_figure(&mut self, figure: TestFigure) {
        let name = (figure.name(), figure.step.clone());
        if self.current_tests.contains(&name) || self.runs.is_empty() {
            let head = Run { results: Vec::new(), ..self.runs.last().cloned().unwrap_or_default() };
            self.begin_run(head);
        }
        self.current_tests.insert(name);
        if let Some(run) = self.runs.last_mut() {
            run.results.push(figure);
        }
    }

    /// True if the current run has this test.
    pub(crate) fn has_test(&self, test: TestName, step: Option<&str>) -> bool {
        self.current_tests.contains(&(test, step.map(str::to_owned)))
    }

    /// Current run, begun if there is none.
    pub(crate) fn current_run(&mut self) -> &mut Run {
        if self.runs.is_empty() {
            self.begin_run(Run::default());
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }

    /// All runs with a result, numbered from 1.
    pub(crate) fn finish(self) -> Vec<Run> {
        let measured = self.runs.into_iter().filter(|run| !run.results.is_empty());
        measured.zip(1..).map(|(run, number)| Run { run: number, ..run }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::numbers::{MIB_S, printed_figure};

    fn read_of(value: f64) -> TestFigure {
        printed_figure("RND4K Q1T1 read".parse().unwrap(), value, "MB/s", MIB_S)
    }

    #[test]
    fn repeated_test_begins_a_run_of_the_same_size() {
        let mut runs = RunBuilder::default();
        runs.begin_run(Run { size_bytes: Some(1 << 30), ..Run::default() });
        runs.add_figure(read_of(3.0));
        runs.add_figure(read_of(4.0));
        let runs = runs.finish();
        let heads: Vec<_> = runs.iter().map(|run| (run.run, run.size_bytes, run.results.len())).collect();
        assert_eq!(heads, [(1, Some(1 << 30), 1), (2, Some(1 << 30), 1)]);
    }

    #[test]
    fn empty_run_is_dropped() {
        let mut runs = RunBuilder::default();
        runs.begin_run(Run::default());
        runs.begin_run(Run::default());
        runs.add_figure(read_of(3.0));
        assert_eq!(runs.finish().iter().map(|run| run.run).collect::<Vec<_>>(), [1]);
    }
}
