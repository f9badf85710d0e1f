//! Findings as lines of text, the same on a terminal and in Markdown.

use cardscope_model::finding::{Finding, Weight};

/// A finding in a line, its weight first.
pub(crate) fn line(finding: &Finding) -> String {
    let weight = match finding.weight {
        Weight::Note => "Note",
        Weight::Hint => "Hint",
        Weight::Bad => "BAD",
    };
    format!("{weight}: {}", sentence(finding))
}

/// What it says, the numbers it rests on, and what to do.
pub(crate) fn sentence(finding: &Finding) -> String {
    let verdict = &finding.verdict;
    let evidence: Vec<String> =
        finding.evidence.iter().map(|(what, value)| format!("{what} {value}")).collect();
    let evidence = if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(", ")) };
    let advice =
        finding.advice.as_ref().map_or(String::new(), |advice| joint(verdict, advice).to_owned() + advice);
    format!("{verdict}{evidence}{advice}")
}

/// What stands between a verdict, with its evidence, and the advice on the same line: either may be a sentence or less.
fn joint(verdict: &str, advice: &str) -> &'static str {
    match (verdict.ends_with(['.', '!', '?', ':']), advice.starts_with(char::is_uppercase)) {
        (true, _) => " ",
        (false, true) => ". ",
        (false, false) => "; ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_on_the_line_of_its_verdict_is_set_off_from_it() {
        for (verdict, advice, line) in [
            ("It is hot.", "Cool it.", "Note: It is hot. (runs 3) Cool it."),
            ("it is hot", "Cool it.", "Note: it is hot (runs 3). Cool it."),
            ("it is hot", "cool it", "Note: it is hot (runs 3); cool it"),
            ("it is hot", "`sustain` finds it", "Note: it is hot (runs 3); `sustain` finds it"),
        ] {
            let found = Finding::new("x", Weight::Note, 1.0, verdict).because("runs", 3);
            assert_eq!(super::line(&found.advise(advice)), line);
        }
    }
}
