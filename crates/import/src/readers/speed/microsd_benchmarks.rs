//! Geerling's `microsd-benchmarks.sh`: hdparm, dd and iozone in one file are one run; and any log that holds at least two
//! of the three.
//!
//! The steps carry the names that the recipe `geerling-2020` gives them, so that its runs and these compare.

use super::{dd, hdparm, iozone};
use crate::readers::error::ReaderOutcome;
use crate::readers::notes::log_of;
use crate::readers::text::LogText;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::IoOrder;

/// True where two of the three tools stand in it.
pub(crate) fn recognise(text: &LogText) -> bool {
    let tools = [hdparm::recognise, dd::recognise, iozone::recognise];
    tools.iter().filter(|recognise| recognise(text)).count() >= 2
}

/// Reads it: the k-th results of the tools are run k.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let table = iozone::read(text)?.swap_remove(0);
    let mut log = CardLog { tool: log_of("hdparm, dd, iozone", None).tool, ..table };
    let copies = dd::finished(text.lines());
    let mut runs: Vec<Run> = Vec::new();
    collect(&mut runs, hdparm::figures(text).into_iter().map(|figure| vec![figure]));
    collect(&mut runs, copies.iter().filter_map(|copy| copy.figure(None, "dd")).map(|figure| vec![figure]));
    collect(&mut runs, log.runs.into_iter().map(|run| run.results.into_iter().map(named).collect()));
    log.runs = runs;
    hdparm::other(text, &mut log);
    // The script's dd writes; its command is not in its output. In another log of two of them nobody knows.
    let script = hdparm::recognise(text) && iozone::recognise(text);
    log.doubts.extend(dd::doubts(&copies, script));
    Ok(vec![log])
}

fn collect(runs: &mut Vec<Run>, parts: impl Iterator<Item = Vec<TestFigure>>) {
    for (at, results) in parts.enumerate() {
        match runs.get_mut(at) {
            Some(run) => run.results.extend(results),
            None => runs.push(Run { run: at as u32 + 1, results, ..Run::default() }),
        }
    }
}

/// iozone's figure under the recipe's name for it.
fn named(figure: TestFigure) -> TestFigure {
    let step = match (&figure.step, figure.test.order) {
        (Some(step), _) => format!("iozone {step}"),
        (None, IoOrder::Random) => format!("iozone random {}", figure.op),
        (None, IoOrder::Sequential) => format!("iozone {}", figure.op),
    };
    TestFigure { step: Some(step), ..figure }
}
