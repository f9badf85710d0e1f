//! What to do next, from what the visit found.

use super::Request;
use crate::after_verdict::{after, label_option, step};
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
        ..Verification::default()
    };
    let verdict = (!(more_time && found.verdict == Verdict::Inconclusive)).then_some(&found);
    let longer = more_time.then(|| step("run it again with more time", Some(longer(request))));
    let (common, label) = (&request.common, request.label.as_deref());
    let after = verdict.and_then(|found| after(common, label, found, &report.header.findings));
    after.into_iter().chain(longer).collect()
}

/// The same visit with more time, and nothing more allowed than now.
fn longer(request: &Request) -> String {
    let minutes = (request.budget().as_secs() / 60 * 3).max(10);
    let mut command = format!("cardscope check {} --budget {minutes}m", quoted(&request.common.target));
    for (given, option) in [(request.read_only, " --read-only"), (request.erase, " --erase")] {
        if given {
            command.push_str(option);
        }
    }
    command + &label_option(request.label.as_deref()) + &request.common.options(request.limits.max_write())
}
