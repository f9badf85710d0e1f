//! The page's beginning and end: what came out in a few lines, and how it was measured and is to be read.

use crate::comparison::words;
use crate::markup::{concluded, escaped, facts, folded, list, prose};
use crate::ranking;
use cardscope_model::comparison::Entry;
use cardscope_model::publication::Publication;
use cardscope_model::ranking::Ranking;

/// Cards that share the first place and are named.
const FIRST: usize = 4;

/// What came out, in a few lines.
pub(super) fn glance(publication: &Publication) -> String {
    let counted = words::counted(&publication.comparison);
    let lines = publication.rankings.iter().filter_map(first).chain(counted);
    let lines = list(lines.map(|line| prose(&line)));
    format!("{lines}{}", concluded(3, "What was noticed", &publication.comparison.findings))
}

/// Who stands first in an order.
fn first(ranking: &Ranking) -> Option<String> {
    let first = ranking.places.iter().filter(|place| place.place == 1);
    let best: Vec<&str> = first.map(|place| place.entry.name.as_str()).collect();
    let words = match best[..] {
        [] => return None,
        [one] => format!("first is {one}"),
        _ => format!(
            "first are {}, which cannot be told apart or differ by less than anybody notices",
            named(&best)
        ),
    };
    Some(format!("{}: {words}.", ranking::title(ranking)))
}

/// The first of many names.
fn named(names: &[&str]) -> String {
    let few = names.get(..FIRST).unwrap_or(names);
    let more = names.len() - few.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    few.join(" and ") + &more
}

/// How to read the page; the words are those of `docs/comparing.md`.
const READING: [(&str, &str); 6] = [
    (
        "MB/s",
        "10^6 bytes a second. MiB is 2^20 bytes. Some tools print other units under the same name; the figures here are converted.",
    ),
    (
        "Interval",
        "How well the mean is known: made this way, 95 of 100 intervals hold the true mean. Runs that follow each other count for less; one or two have none. A thin line with ends in the bars.",
    ),
    (
        "Ticks in a bar",
        "The single runs. Where they stand in two heaps the card jumps between two levels: a cache that is full or not, heat.",
    ),
    (
        "Differ for sure",
        "The difference is larger than chance alone makes it in 95 of 100 such pairs of cards, corrected for the number of tests in which the two were compared, and more than anybody overlooks. It is not corrected for the number of cards: of very many pairs a few differ by chance.",
    ),
    ("Alike", "Surely closer to each other than anybody would notice."),
    ("Cannot be told apart", "What was measured does not decide it. More runs may."),
];

/// How it was measured, where from, and how to read it.
pub(super) fn methods(publication: &Publication) -> String {
    let reading: String =
        READING.iter().map(|(word, meaning)| format!("<dt>{word}</dt><dd>{meaning}</dd>\n")).collect();
    let entries = &publication.comparison.entries;
    let settings = facts(entries.iter().map(|entry| {
        let settings: Vec<String> = entry.settings.iter().map(words::setting).collect();
        (&entry.name, settings.join(" | "))
    }));
    let source = |entry: &Entry| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&entry.name), escaped(&entry.sources.join(", ")))
    };
    let sources: String = entries.iter().filter(|entry| !entry.sources.is_empty()).map(source).collect();
    let sources = if sources.is_empty() { sources } else { format!("<dl>\n{sources}</dl>\n") };
    format!(
        "<dl>\n{reading}</dl>\n{}{}",
        folded("Recipes and conditions, card by card", false, &settings),
        folded("Where the figures are from", false, &sources)
    )
}
