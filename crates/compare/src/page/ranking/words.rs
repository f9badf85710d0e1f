//! What an order is by, its values and its prices, in words.

use cardscope_model::card::CardPrice;
use cardscope_model::ranking::{RankedBy, Ranking};
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};

/// What the cards are in order for, as the end of a sentence.
pub(crate) fn what(ranking: &Ranking) -> String {
    match &ranking.by {
        RankedBy::Job(name) => format!("for {name}"),
        RankedBy::Test(test) => format!("in {test}"),
    }
}

/// What the value is, with its unit.
pub(crate) fn unit(ranking: &Ranking) -> &'static str {
    match ranking.by {
        RankedBy::Job(_) => "score of 100",
        RankedBy::Test(_) => "MB/s",
    }
}

/// A value as people write it: a score with one decimal, a speed as speeds are.
pub(crate) fn value(ranking: &Ranking, value: f64) -> String {
    match ranking.by {
        RankedBy::Job(_) if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
        _ => speed(value),
    }
}

/// What was paid.
pub(crate) fn price(price: &CardPrice) -> String {
    let amount = if price.amount.is_finite() { format!("{:.2}", price.amount) } else { NONE.to_owned() };
    format!("{amount} {}", price.currency)
}
