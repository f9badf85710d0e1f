//! Geerling's `microsd-benchmarks.sh`: hdparm, dd and iozone in one file, which are one run; also any other log with at
//! least two of the three.
//!
//! Steps have the names in the recipe `geerling-2020`, so that both can be compared.

use super::{dd, hdparm, iozone};
use crate::readers::error::ReaderOutcome;
use crate::readers::notes::new_log;
use crate::readers::text::LogText;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::IoOrder;

/// True if the text has results of two of the three tools.
pub(crate) fn recognise(text: &LogText) -> bool {
    let tools = [hdparm::recognise, dd::recognise, iozone::recognise];
    tools.iter().filter(|recognise| recognise(text)).count() >= 2
}

/// Reads the text; result k of each tool belongs to run k.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let table = iozone::read(text)?.swap_remove(0);
    let mut log = CardLog { tool: new_log("hdparm, dd, iozone", None).tool, ..table };
    let copies = dd::find_results(text.lines());
    let mut runs: Vec<Run> = Vec::new();
    add_to_runs(&mut runs, hdparm::timed_reads(text).into_iter().map(|figure| vec![figure]));
    add_to_runs(
        &mut runs,
        copies.iter().filter_map(|copy| copy.to_figure(None, "dd")).map(|figure| vec![figure]),
    );
    add_to_runs(
        &mut runs,
        log.runs.into_iter().map(|run| run.results.into_iter().map(with_recipe_step).collect()),
    );
    log.runs = runs;
    hdparm::add_cached_reads(text, &mut log);
    // The script's dd writes, though its command is not in the output. In any other log the direction is unknown.
    let script = hdparm::recognise(text) && iozone::recognise(text);
    log.doubts.extend(dd::result_doubts(&copies, script));
    Ok(vec![log])
}

fn add_to_runs(runs: &mut Vec<Run>, parts: impl Iterator<Item = Vec<TestFigure>>) {
    for (at, results) in parts.enumerate() {
        match runs.get_mut(at) {
            Some(run) => run.results.extend(results),
            None => runs.push(Run { run: at as u32 + 1, results, ..Run::default() }),
        }
    }
}

/// Renames the step of iozone's figure as in the recipe.
fn with_recipe_step(figure: TestFigure) -> TestFigure {
    let step = match (&figure.step, figure.test.order) {
        (Some(step), _) => format!("iozone {step}"),
        (None, IoOrder::Random) => format!("iozone random {}", figure.op),
        (None, IoOrder::Sequential) => format!("iozone {}", figure.op),
    };
    TestFigure { step: Some(step), ..figure }
}
