//! What to do next, from what the visit found.

use super::Request;
use crate::frame::Common;
use cardscope_model::check::{CheckReport, Next};
use cardscope_model::shell::quoted;
use cardscope_model::verify::{SURE, Verdict};

fn step(what: impl Into<String>, command: Option<String>) -> Next {
    Next { what: what.into(), command }
}

/// The next steps, the most pressing first.
pub(super) fn next(report: &CheckReport, request: &Request, directory: bool) -> Vec<Next> {
    let mut steps = Vec::new();
    for waiting in report.header.findings.iter().filter(|f| f.claim == "journal-waits") {
        let journal =
            waiting.evidence.iter().find(|(what, _)| what == "journal").map(|(_, path)| path.as_str());
        let command = format!("cardscope restore {}", quoted(journal.unwrap_or_default()));
        steps.push(step("restore the data of the card", Some(command)));
    }
    let more_time = report.body.parts.iter().any(|part| part.wants_time) && report.header.error.is_none();
    let (verdict, confidence) = (report.body.verdict, report.body.confidence);
    if !(more_time && verdict == Verdict::Inconclusive) {
        steps.push(after_verdict(&request.common, verdict, confidence, directory));
    }
    if more_time {
        steps.push(step("run it again with more time", Some(longer(request))));
    }
    steps
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
    let label = request.label.as_deref().map(|label| format!(" --label {}", quoted(label)));
    command + &label.unwrap_or_default() + &request.common.options(request.limits.max_write())
}

fn after_verdict(common: &Common, verdict: Verdict, confidence: f64, directory: bool) -> Next {
    let target = quoted(&common.target);
    let verify = |how: &str| Some(format!("cardscope verify {target}{how}{}", common.options(None)));
    let (proof, thorough) = match directory {
        true => (" --files", "fill its free space and read it back"),
        false => (
            " --full",
            "overwrite and read back every block (all data on it is lost unless --backup FILE saves it)",
        ),
    };
    match verdict {
        Verdict::Genuine => {
            step(format!("before you trust important data to the card, {thorough}"), verify(proof))
        }
        unsure if unsure.lacks_capacity() && confidence < SURE => {
            step(format!("to be sure before you return it, {thorough}"), verify(proof))
        }
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => {
            step("return it", None)
        }
        Verdict::Damaged => step("copy your data and do not keep data on it", None),
        Verdict::Unstable => step("try another reader, then discard the card", None),
        Verdict::Dead => step("discard it", None),
        Verdict::ReadOnly => step("copy your data from it", None),
        Verdict::ReaderSuspect => step("try another reader", verify(" --condition reader=…")),
        Verdict::Inconclusive => step("test the capacity", verify(if directory { " --files" } else { "" })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_card_is_returned_on_less_than_a_sure_verdict() {
        let common = Common { target: "/dev/sdx".to_owned(), seed: Some(7), ..Common::default() };
        for verdict in [Verdict::Limbo, Verdict::Wraparound, Verdict::Chain, Verdict::Overcommitted] {
            for directory in [false, true] {
                let after = |confidence| after_verdict(&common, verdict, confidence, directory);
                assert_eq!(after(SURE).what, "return it", "{verdict} {directory}");
                let unsure = after(0.9);
                assert!(unsure.what.contains("before you return it"), "{unsure:?}");
                assert_eq!(unsure.what.contains("all data on it is lost"), !directory, "{unsure:?}");
                let proof = if directory { "--files --seed 7" } else { "--full --seed 7" };
                assert!(unsure.command.unwrap().ends_with(proof));
            }
        }
    }
}
