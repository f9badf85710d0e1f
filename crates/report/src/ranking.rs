//! `rank` for a terminal, and its tables for Markdown and the page, too: cards in order with ties as ties, what that
//! means for the job, groups, and who could not be placed.

use crate::comparison::answer::brief;
use crate::comparison::words;
use crate::figure::{ANSWER, NONE, in_a_line, interval, printed, speed};
use crate::page::table::Table;
use crate::page::{Block, Page, Tone, findings};
use crate::verdict;
use cardscope_model::card::Price;
use cardscope_model::job::Fit;
use cardscope_model::ranking::{Groups, RankedBy, RankedCard, Ranking};
use unicode_width::UnicodeWidthStr;

/// The page.
pub fn page(ranking: &Ranking) -> Page {
    let mut page = Page::new(&title(ranking), Tone::Plain, answer(ranking));
    let shared = ranking.places.iter().filter(|place| place.place == 1);
    let once = shared.clone().count() > 1 && shared.clone().all(|place| place.entry.runs == 1);
    page.because_all(Tone::Plain, once.then(|| "The first have one run each; more may decide.".to_owned()));
    add(&mut page, "Best first", "", ranking);
    if ranking.places.is_empty() {
        page.step("Measure a card:", Some("cardscope check DEVICE".to_owned()));
        page.step("Or import what other tools measured:", Some("cardscope import FILE".to_owned()));
    }
    page
}

/// Who stands first, by the whole name where that has room.
pub(crate) fn answer(ranking: &Ranking) -> String {
    let sound = ranking.places.iter().filter(|place| place.verdict.is_none());
    let first: Vec<&RankedCard> = sound.filter(|place| place.place == 1).collect();
    // Of equal ones the first.
    let Some(best) = first.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value)) else {
        return match ranking.places.len() {
            0 => in_a_line(&format!("No card could be ranked {}", what(ranking))),
            _ => "No card can be recommended: each of them loses data.".to_owned(),
        };
    };
    let value = value(ranking, best.value);
    let others = match first.len() - 1 {
        1 => "1 other is".to_owned(),
        n => format!("{n} others are"),
    };
    let said = |name: &str| match (&ranking.by, first.len()) {
        (_, 1) => format!("Best {}: {name}", what(ranking)),
        (RankedBy::Test(_), _) => {
            format!("{name} is fastest ({value} MB/s); {others} not significantly slower")
        }
        (RankedBy::Job(job), _) => {
            format!("Best for {job}: {name}; {others} not noticeably worse")
        }
    };
    let whole = said(&best.entry.name);
    if whole.width() < ANSWER {
        return in_a_line(&whole);
    }
    let all: Vec<&str> = ranking.places.iter().map(|place| place.entry.name.as_str()).collect();
    let at = all.iter().position(|name| *name == best.entry.name).unwrap_or(0);
    in_a_line(&said(&brief(&all)[at]))
}

/// What the cards are in order for, as the end of a sentence.
pub(crate) fn what(ranking: &Ranking) -> String {
    match &ranking.by {
        RankedBy::Job(name) => format!("for {name}"),
        RankedBy::Test(test) => format!("in {test}"),
    }
}

/// Adds an order to a page; `of` says which it is, where a page has further parts of the same kind.
pub(crate) fn add(page: &mut Page, head: &str, of: &str, ranking: &Ranking) {
    let head_of = |part: &str| format!("{part} {of}").trim_end().to_owned();
    let shared = ranking.places.iter().any(|place| place.shared_by > 1);
    let note = match (ranking.places.is_empty(), shared) {
        (true, _) => "No card could be placed.",
        (false, true) => SHARED,
        (false, false) => "",
    };
    page.add(head, [Block::Table(places(ranking)), Block::Words(note.to_owned())]);
    let means = ranking.places.iter().map(|place| (place, remarks(place)));
    let means = means.filter(|(_, remarks)| !remarks.is_empty());
    let means = means.map(|(p, remarks)| format!("{}: {}", p.entry.name, remarks.join("; ")));
    page.fold(&head_of("Card by card"), [Block::Lines(means.collect())]);
    let not_placed = ranking.not_placed.iter().map(|(card, reason)| format!("{card}: {reason}"));
    page.fold(&head_of("Not ranked"), [Block::Lines(not_placed.collect())]);
    if let Some(found) = &ranking.groups {
        let body = [Block::Table(groups(found, ranking)), Block::Words(found.verdict.clone())];
        page.fold(&format!("By {}, {}", found.by, unit(ranking)), body);
    }
    page.fold(&head_of("Findings"), [Block::Remarks(findings::of(&ranking.findings))]);
}

/// What a shared place means.
pub const SHARED: &str =
    "Cards with = share their place: their difference is below what was measured or what anybody notices.";

/// What is ordered by, as a heading.
pub fn title(ranking: &Ranking) -> String {
    let on = ranking.on.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    match &ranking.by {
        RankedBy::Job(name) => {
            let words = ranking.places.iter().find_map(|p| p.job.as_ref()).map(|job| job.title.as_str());
            match words.filter(|words| !words.is_empty() && words != name) {
                Some(words) => format!("Cards for {name}{on}: {words}"),
                None => format!("Cards for {name}{on}"),
            }
        }
        RankedBy::Test(test) => format!("Cards by {test}{on}"),
    }
}

/// What the value is, with its unit.
pub fn unit(ranking: &Ranking) -> &'static str {
    match ranking.by {
        RankedBy::Job(_) => "score of 100",
        RankedBy::Test(_) => "MB/s",
    }
}

/// A value as people write it: a score with one decimal, a speed as speeds are.
pub fn value(ranking: &Ranking, value: f64) -> String {
    match ranking.by {
        RankedBy::Job(_) if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
        _ => speed(value),
    }
}

/// A place, shared or not: `3`, `1 =`.
pub fn place(place: &RankedCard) -> String {
    if place.shared_by > 1 { format!("{} =", place.place) } else { place.place.to_string() }
}

/// How good a card is for a job, in a word.
pub fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Unfit => "unfit",
        Fit::Poor => "poor",
        Fit::Fair => "fair",
        Fit::Good => "good",
        Fit::Unknown => "not known",
    }
}

/// The same of a card at its place: one that loses data is of no use for any job.
pub fn fit_of(place: &RankedCard, found: Fit) -> &'static str {
    fit(if place.verdict.is_some() { Fit::Unfit } else { found })
}

/// What was paid.
pub fn price(price: &Price) -> String {
    let amount = if price.amount.is_finite() { format!("{:.2}", price.amount) } else { NONE.to_owned() };
    format!("{amount} {}", price.currency)
}

/// The places.
pub fn places(ranking: &Ranking) -> Table {
    let ends = |ends: [f64; 2]| interval(ends, |v| value(ranking, v));
    let table = Table::of(
        &ranking.places,
        &[
            ("place", &place),
            ("card", &|p| p.entry.name.clone()),
            (unit(ranking), &|p| value(ranking, p.value)),
            ("95 % interval", &|p| p.ci95.map(ends).unwrap_or_default()),
            ("runs", &|p| p.entry.runs.to_string()),
            ("fit", &|p| p.job.as_ref().map(|job| fit_of(p, job.fit).to_owned()).unwrap_or_default()),
            ("verdict", &|p| p.verdict.map(|verdict| verdict::word(verdict).to_owned()).unwrap_or_default()),
            ("price", &|p| p.price.as_ref().map(price).unwrap_or_default()),
            ("per price", &per_price),
        ],
    );
    table.left_aligned(["card", "fit", "verdict"])
}

fn per_price(place: &RankedCard) -> String {
    match (place.per_price, &place.price) {
        (Some(value), Some(price)) => format!("{} / {}", printed(value), price.currency),
        (Some(value), None) => printed(value),
        (None, _) => String::new(),
    }
}

/// What is to be said of a card at its place, as sentences.
pub fn remarks(place: &RankedCard) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(job) = &place.job {
        out.extend((!job.meaning.is_empty()).then(|| job.meaning.join("; ")));
        out.extend(job.missed.iter().map(|missed| format!("misses {missed}")));
        out.extend((!job.missing.is_empty()).then(|| format!("not measured: {}", job.missing.join(", "))));
    }
    if !place.capped.is_empty() {
        out.push(format!("the host caps {}", place.capped.join(", ")));
    }
    out.extend(place.spread.as_ref().and_then(words::levels));
    out.extend(place.doubts.iter().cloned());
    out
}

/// The groups.
pub fn groups(groups: &Groups, ranking: &Ranking) -> Table {
    let value = |v: f64| value(ranking, v);
    Table::of(
        &groups.groups,
        &[
            (groups.by.as_str(), &|g| g.name.clone()),
            ("cards", &|g| g.cards.to_string()),
            ("mean", &|g| value(g.mean)),
            ("median", &|g| value(g.median)),
            ("worst", &|g| value(g.worst)),
            ("best", &|g| value(g.best)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use cardscope_model::verify::Verdict;

    #[test]
    fn cards_that_are_equal_share_a_place() {
        insta::assert_snapshot!(page(&sample::ranking(3)).text(), @r#"
        Best for pi-boot: Alder Swift 64GB; 1 other is not noticeably worse.

        Best first
          place  card                score of 100  95 % interval  runs  fit       price
          1 =    Alder Swift 64GB            91.5    87.5 … 94.5    10  good   9.90 EUR
          1 =    Birch Endure 128GB          71.5    67.5 … 74.5    10  good  10.90 EUR
          3      Cedar 32GB                  51.5    47.5 … 54.5    10  fair  11.90 EUR
          (a wider terminal also shows: per price)
          Cards with = share their place: their difference is below what was measured or
          what anybody notices.

        Card by card
          Alder Swift 64GB: boot: 18.0 s; the host caps sequential read
          Birch Endure 128GB: boot: 19.0 s
          Cedar 32GB: boot: 20.0 s

        Not ranked
          Fir 8GB: random writes were not measured

        By mark, score of 100
          mark  cards  mean  median  worst  best
          A2        2  80.0    81.0   70.0  91.5
          what the mark says about the score for "pi-boot" cannot be told from chance
          with 3 cards; 12 % of the spread between cards lies between the groups (by
          chance alone: 0.410)
        "#);
    }

    #[test]
    fn a_fake_is_named_one_and_never_the_best() {
        let mut ranking = sample::ranking(3);
        ranking.places.rotate_left(2);
        (ranking.places[2].verdict, ranking.places[0].place) = (Some(Verdict::Limbo), 1);
        (ranking.places[1].place, ranking.places[2].place) = (2, 3);
        let page = page(&ranking).text();
        assert!(page.starts_with("Best for pi-boot: Cedar 32GB.\n"), "{page}");
        assert!(page.contains("FAKE") && page.contains("unfit"), "{page}");
        ranking.places.retain(|place| place.verdict.is_some());
        assert!(answer(&ranking).starts_with("No card can be recommended"));
    }

    #[test]
    fn of_cards_that_share_the_first_place_the_fastest_is_named_with_what_is_known() {
        let mut ranking = sample::ranking(2);
        ranking.by = RankedBy::Test("SEQ1M Q1T1 read".parse().unwrap());
        ranking.places.iter_mut().for_each(|place| place.entry.runs = 1);
        assert_eq!(
            answer(&ranking),
            "Alder Swift 64GB is fastest (91.5 MB/s); 1 other is not significantly slower."
        );
        assert!(page(&ranking).text().contains("one run each"));
    }

    #[test]
    fn an_order_without_cards_says_so_and_names_who_could_not_be_placed() {
        let page = page(&sample::ranking(0)).text();
        assert!(
            page.starts_with("No card could be ranked for pi-boot.")
                && page.contains("Fir 8GB: random writes"),
            "{page}"
        );
    }
}
