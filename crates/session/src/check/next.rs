//! What to do next, from what the visit found.

use super::Request;
use crate::after_verdict::{EVERYTHING, RETURN, Tested, after, again, label_option, step};
use cardscope_model::check::CheckReport;
use cardscope_model::report::Next;
use cardscope_model::shell::quoted;
use cardscope_model::verify::{Method, Verdict, Verification};

/// The next steps, the most pressing first.
pub(super) fn next(report: &CheckReport, request: &Request, directory: bool) -> Vec<Next> {
    let more_time = report.body.parts.iter().any(|part| part.wants_time);
    let found = Verification {
        method: if directory { Method::Files } else { Method::Quick },
        verdict: report.body.verdict,
        confidence: report.body.confidence,
        moved: report.body.moved.clone(),
        ..Verification::default()
    };
    let tested = Tested {
        common: &request.common,
        label: request.label.as_deref(),
        way: if directory { " --files".to_owned() } else { String::new() },
    };
    let mut steps = after(&tested, &found, &report.header.findings);
    if more_time && found.verdict == Verdict::Inconclusive {
        steps.clear();
    }
    // Who returns a card has no more to ask of it.
    let goes_back = steps.iter().any(|next| next.what == RETURN);
    let what = again("run it again with more time", request.erase.then_some(EVERYTHING));
    steps.extend((more_time && !goes_back).then(|| step(what, Some(longer(request)))));
    steps
}

/// The same visit with more time, and nothing more allowed than now.
fn longer(request: &Request) -> String {
    let minutes = (request.budget().as_secs() / 60 * 3).max(10);
    let mut command = format!("cardscope check {} --budget {minutes}m", quoted(&request.common.target));
    let options =
        [(request.read_only, " --read-only"), (request.erase, " --erase"), (request.marks, " --marks")];
    for (given, option) in options {
        if given {
            command.push_str(option);
        }
    }
    command + &label_option(request.label.as_deref()) + &request.common.options(request.limits.max_write())
}
