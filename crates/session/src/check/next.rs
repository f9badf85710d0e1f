//! What to do next, from what the visit found.

use super::Request;
use cardscope_model::card_map::advice::quoted;
use cardscope_model::check::{CheckReport, Next};
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
        steps.push(step("put back what was on the card", Some(command)));
    }
    steps.extend(after_verdict(
        &report.header.target,
        report.body.verdict,
        report.body.confidence,
        directory,
    ));
    if report.body.parts.iter().any(|part| part.wants_time) && report.header.error.is_none() {
        steps.push(step("what had no time is measured with more of it", Some(longer(request))));
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

fn after_verdict(target: &str, verdict: Verdict, confidence: f64, directory: bool) -> Option<Next> {
    let verify = |how: &str| Some(format!("cardscope verify {}{how}", quoted(target)));
    let (proof, thorough) = match directory {
        true => (" --files", "have all of its free space written and read"),
        false => (
            " --full",
            "have every block written and read (this destroys what is on it; --backup FILE saves it first)",
        ),
    };
    Some(match verdict {
        Verdict::Genuine => {
            step(format!("before the card is trusted with what matters, {thorough}"), verify(proof))
        }
        unsure if unsure.lacks_capacity() && confidence < SURE => {
            let how = if directory { String::new() } else { format!(": {thorough}") };
            step(format!("prove it before you send it back{how}"), verify(proof))
        }
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted if directory => step(
            "send it back; to use the real part meanwhile, unmount it and give its device (`cardscope list`) to \
             `cardscope format --limit-to-real`",
            None,
        ),
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => step(
            "send it back; to use the real part meanwhile, format it to that size",
            Some(format!("cardscope format {} --limit-to-real", quoted(target))),
        ),
        Verdict::Damaged | Verdict::Unstable | Verdict::Dead | Verdict::ReadOnly => {
            step("copy what can still be read, and replace the card", None)
        }
        Verdict::ReaderSuspect => {
            step("ask a second reader before the card is accused", verify(" --condition reader=…"))
        }
        Verdict::Inconclusive => {
            step("have the capacity proven", verify(if directory { " --files" } else { "" }))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_card_is_sent_back_on_less_than_a_sure_verdict() {
        for verdict in [Verdict::Limbo, Verdict::Wraparound, Verdict::Chain, Verdict::Overcommitted] {
            for directory in [false, true] {
                let after = |confidence| after_verdict("/dev/sdx", verdict, confidence, directory).unwrap();
                assert!(after(SURE).what.starts_with("send it back"), "{verdict} {directory}");
                let unsure = after(0.9);
                assert!(unsure.what.contains("before you send it back"), "{unsure:?}");
                assert_eq!(unsure.what.contains("destroys"), !directory, "{unsure:?}");
                let proof = if directory { "--files" } else { "--full" };
                assert!(unsure.command.unwrap().ends_with(proof));
            }
        }
    }
}
