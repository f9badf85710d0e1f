//! What to do after a verdict on a card's capacity: the same advice after `verify` and after a whole visit.

use crate::frame::Common;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::Next;
use cardscope_model::shell::quoted;
use cardscope_model::verify::{Method, SURE, Verdict, Verification};

/// Something to do.
pub(crate) fn step(what: impl Into<String>, command: Option<String>) -> Next {
    Next { what: what.into(), command }
}

/// `--label` with what is printed on the card, as a shell takes it.
pub(crate) fn label_option(label: Option<&str>) -> String {
    label.map(|label| format!(" --label {}", quoted(label))).unwrap_or_default()
}

/// What to do about a verdict, if anything. A card whose label lies about its capacity goes back, whatever it holds.
pub(crate) fn after(
    common: &Common,
    label: Option<&str>,
    found: &Verification,
    findings: &[Finding],
) -> Option<Next> {
    if findings.iter().any(|finding| finding.claim == "label-capacity" && finding.weight == Weight::Bad) {
        return Some(step("return it", None));
    }
    let target = quoted(&common.target);
    let options = label_option(label) + &common.options(None);
    let verify = |how: &str| Some(format!("cardscope verify {target}{how}{options}"));
    let (way, proof, thorough) = match found.method {
        Method::Files => (" --files", " --files", "fill its free space and read it back"),
        Method::Quick | Method::Full => (
            if found.method == Method::Full { " --full" } else { "" },
            " --full",
            "overwrite and read back every block (all data on it is lost unless --backup FILE saves it)",
        ),
    };
    Some(match found.verdict {
        Verdict::Genuine if found.method == Method::Quick => {
            step(format!("before you trust important data to the card, {thorough}"), verify(proof))
        }
        Verdict::Genuine => return None,
        unsure if unsure.lacks_capacity() && found.confidence < SURE => {
            step(format!("to be sure before you return it, {thorough}"), verify(proof))
        }
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => {
            step("return it", None)
        }
        Verdict::Damaged => step("copy your data and do not keep data on it", None),
        Verdict::Unstable => step("try another reader, then discard the card", None),
        Verdict::Dead => step("discard it", None),
        Verdict::ReadOnly => step("copy your data from it", None),
        Verdict::ReaderSuspect => step("try another reader", verify(&format!("{way} --condition reader=…"))),
        Verdict::Inconclusive => step("test the capacity without a limit", verify(way)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_card_is_returned_on_less_than_a_sure_verdict() {
        let common = Common { target: "/dev/sdx".to_owned(), seed: Some(7), ..Common::default() };
        for verdict in [Verdict::Limbo, Verdict::Wraparound, Verdict::Chain, Verdict::Overcommitted] {
            for method in [Method::Quick, Method::Files] {
                let found =
                    |confidence| Verification { verdict, method, confidence, ..Verification::default() };
                let after = |confidence| after(&common, None, &found(confidence), &[]).unwrap();
                assert_eq!(after(SURE).what, "return it", "{verdict} {method:?}");
                let unsure = after(0.9);
                assert!(unsure.what.contains("before you return it"), "{unsure:?}");
                let files = method == Method::Files;
                assert_eq!(unsure.what.contains("all data on it is lost"), !files, "{unsure:?}");
                let proof = if files { "--files --seed 7" } else { "--full --seed 7" };
                assert!(unsure.command.unwrap().ends_with(proof));
            }
        }
    }

    #[test]
    fn what_was_tested_whole_needs_no_more_and_what_was_not_names_its_label_again() {
        let common = Common { target: "/media/my card".to_owned(), ..Common::default() };
        let after = |method, verdict| {
            let found = Verification { verdict, method, confidence: 0.99, ..Verification::default() };
            after(&common, Some("1TB U3"), &found, &[])
        };
        assert_eq!(after(Method::Full, Verdict::Genuine), None);
        assert_eq!(after(Method::Files, Verdict::Genuine), None);
        let again = after(Method::Full, Verdict::Inconclusive).and_then(|next| next.command);
        assert_eq!(again.as_deref(), Some("cardscope verify '/media/my card' --full --label '1TB U3'"));
    }
}
