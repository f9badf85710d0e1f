//! Geerling's `microsd-benchmarks.sh`: hdparm, dd and iozone in one file are one run; and any log that holds at least two
//! of the three.
//!
//! The steps carry the names that the recipe `geerling-2020` gives them, so that its runs and these compare.

use super::{dd, hdparm, iozone};
use crate::readers::error::Outcome;
use crate::readers::notes::log_of;
use crate::readers::text::Text;
use cardscope_model::log::Log;
use cardscope_model::run::{Figure, Run};
use cardscope_model::test_name::Order;

/// True where two of the three tools stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    let tools = [hdparm::recognise, dd::recognise, iozone::recognise];
    tools.iter().filter(|recognise| recognise(text)).count() >= 2
}

/// Reads it: the k-th results of the tools are run k.
pub(crate) fn read(text: &Text) -> Outcome {
    let table = iozone::read(text)?.swap_remove(0);
    let mut log = Log { tool: log_of("hdparm, dd, iozone", None).tool, ..table };
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

fn collect(runs: &mut Vec<Run>, parts: impl Iterator<Item = Vec<Figure>>) {
    for (at, results) in parts.enumerate() {
        match runs.get_mut(at) {
            Some(run) => run.results.extend(results),
            None => runs.push(Run { run: at as u32 + 1, results, ..Run::default() }),
        }
    }
}

/// iozone's figure under the recipe's name for it.
fn named(figure: Figure) -> Figure {
    let step = match (&figure.step, figure.test.order) {
        (Some(step), _) => format!("iozone {step}"),
        (None, Order::Random) => format!("iozone random {}", figure.op),
        (None, Order::Sequential) => format!("iozone {}", figure.op),
    };
    Figure { step: Some(step), ..figure }
}
