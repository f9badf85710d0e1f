//! The page's beginning and end: what came out in a few lines, and how it was measured and is to be read.

use super::{concluded, folded};
use crate::comparison::words;
use crate::markup::{escaped, prose};
use crate::ranking::tables;
use cardscope_model::comparison::{Comparison, Verdict};
use cardscope_model::publication::Publication;

/// What came out, in a few lines.
pub(super) fn glance(publication: &Publication) -> String {
    let mut lines: Vec<String> = publication
        .rankings
        .iter()
        .filter_map(|ranking| {
            let best: Vec<&str> =
                ranking.places.iter().filter(|p| p.place == 1).map(|p| p.entry.name.as_str()).collect();
            let words = match best.len() {
                0 => return None,
                1 => format!("first is {}", best[0]),
                _ => format!("first are {}, not to be told apart", best.join(" and ")),
            };
            Some(format!("{}: {words}.", tables::title(ranking)))
        })
        .collect();
    lines.extend(sure(&publication.comparison));
    let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", prose(line))).collect();
    let lines = if lines.is_empty() { lines } else { format!("<ul>\n{lines}</ul>\n") };
    format!("{lines}{}", concluded("What was noticed", &publication.comparison.findings))
}

/// How many differences are sure.
fn sure(comparison: &Comparison) -> Option<String> {
    let pairs = || comparison.tests.iter().flat_map(|test| &test.pairs);
    let all = pairs().count();
    let told = pairs().filter(|p| matches!(p.verdict, Verdict::FirstFaster | Verdict::SecondFaster)).count();
    let alike = pairs().filter(|p| p.verdict == Verdict::Alike).count();
    (all > 0).then(|| {
        format!(
            "Of {all} pairs of cards in single tests {told} differ for sure, {alike} are alike, {} cannot be told apart.",
            all - told - alike
        )
    })
}

/// How to read the page; the words are those of `docs/comparing.md`.
const READING: [(&str, &str); 6] = [
    (
        "MB/s",
        "10^6 bytes a second. MiB is 2^20 bytes. Some tools print other units under the same name; the figures here are converted.",
    ),
    (
        "Interval",
        "The mean of as many runs again would lie in it 95 times of 100. One run has none. A thin line with ends in the bars.",
    ),
    (
        "Ticks in a bar",
        "The single runs. Where they stand in two heaps the card jumps between two levels: a cache that is full or not, heat.",
    ),
    (
        "Differ for sure",
        "The difference is larger than chance alone makes it in 95 of 100 such comparisons, and it was corrected for the number of pairs that were looked at.",
    ),
    ("Alike", "Surely closer to each other than anybody would notice."),
    ("Cannot be told apart", "What was measured does not decide it. More runs may."),
];

/// How it was measured, where from, and how to read it.
pub(super) fn methods(publication: &Publication) -> String {
    let reading: String =
        READING.iter().map(|(word, meaning)| format!("<dt>{word}</dt><dd>{meaning}</dd>\n")).collect();
    let settings: String = publication
        .comparison
        .entries
        .iter()
        .map(|entry| {
            let settings: Vec<String> = entry.settings.iter().map(words::setting).collect();
            format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&entry.name), prose(&settings.join(" | ")))
        })
        .collect();
    let sources: String = publication
        .comparison
        .entries
        .iter()
        .filter(|entry| !entry.sources.is_empty())
        .map(|entry| {
            format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&entry.name), escaped(&entry.sources.join(", ")))
        })
        .collect();
    let part = |head: &str, rows: &str| match rows.is_empty() {
        true => String::new(),
        false => folded(head, false, &format!("<dl>\n{rows}</dl>\n")),
    };
    format!(
        "<dl>\n{reading}</dl>\n{}{}",
        part("Recipes and conditions, card by card", &settings),
        part("Where the figures are from", &sources)
    )
}
