//! Text forms of a ranking's criterion, values and prices.

use cardscope_model::card::CardPrice;
use cardscope_model::ranking::{RankedBy, Ranking};
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};

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
