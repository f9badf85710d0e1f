//! What to do next, from what the visit found.

use cardscope_model::check::{CheckReport, Next, PartState};
use cardscope_model::verify::Verdict;

fn step(what: impl Into<String>, command: Option<String>) -> Next {
    Next { what: what.into(), command }
}

/// The next steps, the most pressing first.
pub(super) fn next(report: &CheckReport, directory: bool) -> Vec<Next> {
    let mut steps = Vec::new();
    if !report.data_kept {
        steps.push(step("put back what was on the card", Some("cardscope restore".to_owned())));
    }
    steps.extend(after_verdict(report, directory));
    let short = report.parts.iter().any(|part| part.state != PartState::Done && part.part != "info");
    if short && report.error.is_none() {
        let command = format!("cardscope check {} --budget 10m", report.target);
        steps.push(step("what did not fit into the time is measured with more of it", Some(command)));
    }
    steps
}

fn after_verdict(report: &CheckReport, directory: bool) -> Option<Next> {
    let target = &report.target;
    let full = format!("cardscope verify {target} {}", if directory { "--files" } else { "--full" });
    match report.verdict {
        Verdict::Genuine => Some(step(
            "before the card is trusted with what matters, have every block written and read (this destroys what is on \
             a device; --backup FILE saves it first)",
            Some(full),
        )),
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => Some(step(
            "send it back; to use the real part meanwhile, format it to that size",
            Some(format!("cardscope format {target} --limit-to-real")),
        )),
        Verdict::Damaged | Verdict::Unstable | Verdict::Dead | Verdict::ReadOnly => {
            Some(step("copy what can still be read, and replace the card", None))
        }
        Verdict::ReaderSuspect => Some(step(
            "ask a second reader before the card is accused",
            Some(format!("cardscope verify {target} --condition reader=…")),
        )),
        Verdict::Inconclusive if report.parts.iter().any(|p| p.part == "verify") => {
            Some(step("have the capacity proven", Some(format!("cardscope verify {target}"))))
        }
        Verdict::Inconclusive => None,
    }
}
