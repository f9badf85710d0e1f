//! The tables of an order, laid out once for terminal, Markdown and page: places with ties, what the job makes of each
//! card, groups.

use crate::comparison::words;
use crate::figure::{NONE, interval, printed, speed};
use crate::table::Table;
use cardscope_model::card::Price;
use cardscope_model::job::Fit;
use cardscope_model::ranking::{Groups, Place, RankedBy, Ranking};

/// What a shared place means.
pub const SHARED: &str =
    "Cards with = share their place: they cannot be told apart, or differ by less than anybody notices.";

/// What is ordered by, as a heading.
#[must_use]
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
#[must_use]
pub fn unit(ranking: &Ranking) -> &'static str {
    match ranking.by {
        RankedBy::Job(_) => "score of 100",
        RankedBy::Test(_) => "MB/s",
    }
}

/// A value as people write it: a score with one decimal, a speed as speeds are.
#[must_use]
pub fn value(ranking: &Ranking, value: f64) -> String {
    match ranking.by {
        RankedBy::Job(_) if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
        _ => speed(value),
    }
}

/// A place, shared or not: `3`, `1 =`.
#[must_use]
pub fn place(place: &Place) -> String {
    if place.shared_by > 1 { format!("{} =", place.place) } else { place.place.to_string() }
}

/// How good a card is for a job, in a word.
#[must_use]
pub fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Unfit => "unfit",
        Fit::Poor => "poor",
        Fit::Fair => "fair",
        Fit::Good => "good",
        Fit::Unknown => "not known",
    }
}

/// What was paid.
#[must_use]
pub fn price(price: &Price) -> String {
    let amount = if price.amount.is_finite() { format!("{:.2}", price.amount) } else { NONE.to_owned() };
    format!("{amount} {}", price.currency)
}

/// The places.
#[must_use]
pub fn places(ranking: &Ranking) -> Table {
    let head = ["place", "card", unit(ranking), "95 % interval", "runs", "fit", "price", "per price"];
    let mut table = Table::new(head).to_the_left([1, 5]);
    for entry in &ranking.places {
        table.row([
            place(entry),
            entry.entry.name.clone(),
            value(ranking, entry.value),
            entry.ci95.map(|ends| interval(ends, |v| value(ranking, v))).unwrap_or_default(),
            entry.entry.runs.to_string(),
            entry.job.as_ref().map(|job| fit(job.fit).to_owned()).unwrap_or_default(),
            entry.price.as_ref().map(price).unwrap_or_default(),
            per_price(entry),
        ]);
    }
    table.drop_blank_columns();
    table
}

fn per_price(place: &Place) -> String {
    match (place.per_price, &place.price) {
        (Some(value), Some(price)) => format!("{} / {}", printed(value), price.currency),
        (Some(value), None) => printed(value),
        (None, _) => String::new(),
    }
}

/// What is to be said of a card at its place, as sentences.
#[must_use]
pub fn remarks(place: &Place) -> Vec<String> {
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
#[must_use]
pub fn groups(groups: &Groups, ranking: &Ranking) -> Table {
    let value = |v: f64| value(ranking, v);
    let mut table = Table::new([
        groups.by.clone(),
        "cards".into(),
        "mean".into(),
        "median".into(),
        "worst".into(),
        "best".into(),
    ]);
    for g in &groups.groups {
        let cells = [
            g.name.clone(),
            g.cards.to_string(),
            value(g.mean),
            value(g.median),
            value(g.worst),
            value(g.best),
        ];
        table.row(cells);
    }
    table
}
