//! Purchase advice of a ranking, as sentences of a reviewer, and its criterion, values and prices as text.

use crate::page::comparison::answer::short_names;
use cardscope_model::card::CardPrice;
use cardscope_model::ranking::{RankedBy, RankedCard, Ranking, RankingDecision};
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};
use cardscope_page::figure::{ANSWER_COLUMNS, answer_line, join_names, percent, pluralize};
use unicode_width::UnicodeWidthStr;

/// Answer of a ranking: the card to buy, or the fastest one, in a line; with full names if these fit.
pub(crate) fn ranking_answer(ranking: &Ranking) -> String {
    let Some(decision) = &ranking.decision else {
        return match (ranking.places.is_empty(), ranking.excluded.iter().any(|card| card.avoid)) {
            (false, _) => format!("No card measured so far is fit {}.", criterion_phrase(ranking)),
            (true, true) => "No card can be recommended: each of them loses data.".to_owned(),
            (true, false) => {
                let excluded = match ranking.excluded.len() {
                    0 => String::new(),
                    1 => ": 1 is left out; name one to rank it".to_owned(),
                    n => format!(": {n} are left out; name one to rank it"),
                };
                answer_line(&format!("No card could be ranked {}{excluded}", criterion_phrase(ranking)))
            }
        };
    };
    let whole = purchase_sentence(ranking, decision, &decision.buy);
    if whole.width() < ANSWER_COLUMNS {
        return answer_line(&whole);
    }
    let all: Vec<&str> = ranking.places.iter().map(|place| place.entry.name.as_str()).collect();
    let short = short_names(&all);
    let short = |name: &String| Some(short[all.iter().position(|known| known == name)?].clone());
    let names: Vec<String> = decision.buy.iter().map(|name| short(name).unwrap_or(name.clone())).collect();
    answer_line(&purchase_sentence(ranking, decision, &names))
}

fn purchase_sentence(ranking: &Ranking, decision: &RankingDecision, names: &[String]) -> String {
    let chance = percent(decision.probability);
    // Of many equal cards none is singled out.
    let first = ranking.places.first().map_or(0.0, |place| place.value);
    let alike = ranking.places.iter().filter(|p| p.placement.tier == 1 || p.value >= first).count();
    if let ([_], true) = (names, decision.probability < 0.5 && alike > 1) {
        let cards = pluralize(alike as u64, "card");
        return match &ranking.by {
            RankedBy::Job(job) => format!("{cards} are equally good for {job}"),
            RankedBy::Test(test) => format!("{cards} are equally fast in {test}"),
        };
    }
    match (&ranking.by, names) {
        (RankedBy::Job(job), [first]) => {
            format!("Buy {first} for {job} (best of the ranked cards: {chance})")
        }
        (RankedBy::Job(job), [first, second, ..]) => format!("Buy {first} or {second} for {job}"),
        (RankedBy::Test(test), [first]) => {
            let speed = ranking.places.first().map(|p| format_value(ranking, p.value)).unwrap_or_default();
            format!("{first} is fastest in {test}: {speed} MB/s ({chance})")
        }
        (RankedBy::Test(test), [first, second, ..]) => format!("{first} or {second} is fastest in {test}"),
        (_, []) => String::new(),
    }
}

/// Further advice: a better value at another price, what is undecided, and cards to avoid.
pub(crate) fn purchase_reasons(ranking: &Ranking) -> Vec<String> {
    let Some(decision) = &ranking.decision else { return Vec::new() };
    let mut said = Vec::new();
    let bought = |place: &&RankedCard| decision.buy.contains(&place.entry.name);
    let caveat = |p: &RankedCard| Some(format!("Caveat of {}: {}.", p.entry.name, p.caveat.as_ref()?));
    if let [first, second, ..] = &decision.buy[..] {
        let chance = percent(decision.probability);
        let settle = |more| format!("; {} of each would probably settle it", pluralize(more, "more run"));
        let more = decision.more_runs.map(settle).unwrap_or_default();
        said.push(format!("Undecided between {first} ({chance} to be the best) and {second}{more}."));
    }
    said.extend(ranking.places.iter().filter(bought).filter_map(caveat));
    if let Some(instead) = &decision.instead {
        let below = format_price(&instead.below);
        said.push(match &instead.costs {
            Some(costs) => {
                format!("Better value: {} for {} (worth up to {below}).", instead.name, format_price(costs))
            }
            None => format!("{} is the better value if it costs less than {below}.", instead.name),
        });
    }
    let avoid = decision.avoid.iter().map(|(name, reason)| format!("{name} ({reason})"));
    let avoid: Vec<String> = avoid.collect();
    said.extend((!avoid.is_empty()).then(|| format!("Avoid {}.", join_names(&avoid))));
    said
}

/// Criterion, as the end of a sentence.
pub(crate) fn criterion_phrase(ranking: &Ranking) -> String {
    match &ranking.by {
        RankedBy::Job(name) => format!("for {name}"),
        RankedBy::Test(test) => format!("in {test}"),
    }
}

/// Unit of the values.
pub(crate) fn value_unit(ranking: &Ranking) -> &'static str {
    match ranking.by {
        RankedBy::Job(_) => "score of 100",
        RankedBy::Test(_) => "MB/s",
    }
}

/// A score with one decimal, or a speed with three digits.
pub(crate) fn format_value(ranking: &Ranking, value: f64) -> String {
    match ranking.by {
        RankedBy::Job(_) if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
        _ => speed(value),
    }
}

pub(crate) fn format_price(price: &CardPrice) -> String {
    let amount = if price.amount.is_finite() { format!("{:.2}", price.amount) } else { NONE.to_owned() };
    format!("{amount} {}", price.currency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples as sample;

    #[test]
    fn equal_cards_on_a_limiting_host_are_counted() {
        let mut ranking = sample::ranking(12);
        for place in &mut ranking.places {
            (place.value, place.placement.tier) = (25.0, if place.placement.place <= 8 { 1 } else { 2 });
        }
        let decision = ranking.decision.as_mut().unwrap();
        (decision.buy, decision.probability) = (decision.buy[..1].to_vec(), 0.083);
        assert_eq!(ranking_answer(&ranking), "12 cards are equally good for pi-boot.");
        ranking.by = RankedBy::Test("SEQ1M Q1T1 read".parse().unwrap());
        assert_eq!(ranking_answer(&ranking), "12 cards are equally fast in SEQ1M Q1T1 read.");
    }

    #[test]
    fn caveat_of_the_advised_card_is_stated() {
        let mut ranking = sample::ranking(2);
        let collapse = "queued writes collapse to 0.0302 MB/s";
        for place in &mut ranking.places {
            place.caveat = Some(collapse.to_owned());
        }
        let name = ranking.decision.as_ref().unwrap().buy[0].clone();
        let said = purchase_reasons(&ranking);
        assert!(said.contains(&format!("Caveat of {name}: {collapse}.")), "{said:?}");
        assert_eq!(
            said.iter().filter(|reason| reason.contains("collapse")).count(),
            1,
            "of what is bought: {said:?}"
        );
    }
}
