//! Geerling's `microsd-benchmarks.sh`: hdparm, dd and iozone in one file, which are one run; also any other log with at
//! least two of the three.
//!
//! Steps have the names in the recipe `geerling-2020`, so that both can be compared.

use super::{dd, hdparm, iozone};
use crate::readers::{LogText, ReaderOutcome, RunBuilder, new_log};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
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
    let copied = copies.iter().filter_map(|copy| copy.to_figure(None, "dd"));
    for run in &mut log.runs {
        run.size_bytes = None;
        run.results = std::mem::take(&mut run.results).into_iter().map(with_recipe_step).collect();
    }
    let mut runs = RunBuilder::separate_figures(hdparm::timed_reads(text.lines()).into_iter());
    for more in [RunBuilder::separate_figures(copied), log.runs] {
        for (at, run) in more.into_iter().enumerate() {
            match runs.get_mut(at) {
                Some(known) => known.results.extend(run.results),
                None => runs.push(run),
            }
        }
    }
    log.runs = runs;
    hdparm::add_cached_reads(text, &mut log);
    // The script's dd writes, though its command is not in the output. In any other log the direction is unknown.
    let script = hdparm::recognise(text) && iozone::recognise(text);
    log.doubts.extend(dd::result_doubts(&copies, script));
    Ok(vec![log])
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
