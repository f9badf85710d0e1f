//! Next steps that follow from the results.

use super::CheckRequest;
use crate::request::DEFAULT_BUDGET;
use cardscope_model::check::CheckReport;
use cardscope_model::report::NextStep;
use cardscope_model::shell::shell_quote;
use cardscope_model::verify::{TestMethod, Verdict, Verification};
use cardscope_session::after_verdict::{
    ALL_DATA, RETURN_ADVICE, TestOptions, TestedCard, label_option, next_step, repeat_description,
    steps_after_verdict,
};
use std::time::Duration;

/// Next steps, the most important first.
pub(super) fn next_steps(
    report: &CheckReport,
    request: &CheckRequest,
    directory: bool,
    cut_short: bool,
) -> Vec<NextStep> {
    let more_time = report.body.parts.iter().any(|part| part.wants_time);
    let found = Verification {
        method: if directory { TestMethod::Files } else { TestMethod::Quick },
        verdict: report.body.verdict,
        confidence: report.body.confidence,
        cause: report.body.verify.as_ref().and_then(|report| report.body.cause),
        moved: report.body.moved.clone(),
        ..Verification::default()
    };
    let tested = TestedCard {
        common: &request.common,
        label: request.label.as_deref(),
        options: TestOptions { files: directory, ..TestOptions::default() },
    };
    let mut steps = steps_after_verdict(&tested, &found, &report.header.findings);
    if (more_time || cut_short) && found.verdict == Verdict::Inconclusive {
        steps.clear();
    }
    // A card that goes back to the shop needs no further test.
    let goes_back = steps.iter().any(|next| next.what == RETURN_ADVICE);
    let lost = request.erase.then_some(ALL_DATA);
    let given = request.limits.budget.filter(|given| *given != DEFAULT_BUDGET);
    let longer = Duration::from_secs((request.budget().as_secs() / 60 * 3).max(10) * 60);
    let once_more = match (cut_short, more_time) {
        (true, _) => Some(("run it again", given)),
        (false, true) => Some(("run it again with more time", Some(longer))),
        (false, false) => None,
    };
    steps.extend(once_more.filter(|_| !goes_back).map(|(what, budget)| {
        next_step(repeat_description(what, lost), Some(check_command(request, budget)))
    }));
    steps
}

/// Command that repeats the test within a budget and allows no more than now.
fn check_command(request: &CheckRequest, budget: Option<Duration>) -> String {
    let mut command = format!("cardscope check {}", shell_quote(&request.common.target));
    if let Some(seconds) = budget.map(|budget| budget.as_secs()) {
        let (number, unit) = if seconds % 60 == 0 { (seconds / 60, "m") } else { (seconds, "s") };
        command.push_str(&format!(" --budget {number}{unit}"));
    }
    let flags =
        [(request.read_only, " --read-only"), (request.erase, " --erase"), (request.marks, " --marks")];
    flags.iter().filter(|(given, _)| *given).for_each(|(_, flag)| command.push_str(flag));
    command
        + &label_option(request.label.as_deref())
        + &request.common.repeat_options(request.limits.max_write())
}
