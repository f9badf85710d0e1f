//! What a card cost and when, as lists write it: `(6.81€, 05/2016)`, `$8 on Amazon`.

use crate::dates::date;
use crate::numbers::number;
use cardscope_model::card::{Event, EventKind, Price};

/// Signs and names of currencies, and their codes in ISO 4217.
const CURRENCIES: [(&str, &str); 7] = [
    ("€", "EUR"),
    ("EUR", "EUR"),
    ("US$", "USD"),
    ("USD", "USD"),
    ("$", "USD"),
    ("£", "GBP"),
    ("GBP", "GBP"),
];

/// An amount of money at the start of a text, and what follows it.
pub(super) fn price(text: &str) -> Option<(Price, &str)> {
    let text = text.trim();
    let sign = |text: &str| CURRENCIES.iter().find(|(sign, _)| text.starts_with(sign)).copied();
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len())
    };
    let (amount, currency, rest) = if let Some((sign, currency)) = sign(text) {
        let text = text[sign.len()..].trim_start();
        let (amount, rest) = text.split_at(digits(text));
        (amount, currency, rest)
    } else {
        let (amount, rest) = text.split_at(digits(text));
        let rest = rest.trim_start();
        let (sign, currency) = sign(rest)?;
        (amount, currency, &rest[sign.len()..])
    };
    let amount = number(amount.trim_end_matches([',', '.'])).filter(|amount| *amount >= 0.0)?;
    Some((Price { amount, currency: currency.to_owned() }, rest.trim()))
}

/// What brackets behind a card tell of its purchase; `None` where they tell something else.
pub(super) fn bought(brackets: &str) -> Option<Event> {
    let mut event = Event { date: None, kind: EventKind::Bought, price: None, note: None, source: None };
    let mut notes: Vec<&str> = Vec::new();
    for part in brackets.split(", ").map(str::trim) {
        if let (None, Some((price, rest))) = (&event.price, price(part)) {
            event.price = Some(price);
            notes.extend(Some(rest).filter(|rest| !rest.is_empty()));
        } else if let (None, Some(month)) = (&event.date, month(part)) {
            event.date = Some(month);
        } else {
            notes.push(part);
        }
    }
    let free = notes.first().is_some_and(|note| note.to_lowercase().starts_with("free"));
    event.note = Some(notes.join(", ")).filter(|note| !note.is_empty());
    (event.price.is_some() || event.date.is_some() || free).then_some(event)
}

/// `05/2016`, `2016-05`, `2016` or a whole date.
fn month(text: &str) -> Option<String> {
    if let Some(date) = date(text) {
        return Some(date);
    }
    let numbers: Vec<u32> = text.split(['/', '-']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (year, month) = match *numbers.as_slice() {
        [year] => return (1990..2100).contains(&year).then(|| year.to_string()),
        [first, second] if first > 12 => (first, second),
        [first, second] => (second, first),
        _ => return None,
    };
    ((1990..2100).contains(&year) && (1..=12).contains(&month)).then(|| format!("{year}-{month:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_was_bought_has_price_and_month() {
        let event = bought("12.34€ with a reader, 07/2021").unwrap();
        assert_eq!(event.price, Some(Price { amount: 12.34, currency: "EUR".to_owned() }));
        assert_eq!((event.date.as_deref(), event.note.as_deref()), (Some("2021-07"), Some("with a reader")));
        let comma = bought("€ 9,50, 2020").unwrap();
        assert_eq!((comma.price.unwrap().amount, comma.date.as_deref()), (9.5, Some("2020")));
    }

    #[test]
    fn a_card_that_was_free_was_bought_without_a_price() {
        let event = bought("free after a dispute").unwrap();
        assert_eq!((event.price, event.note.as_deref()), (None, Some("free after a dispute")));
    }

    #[test]
    fn brackets_about_something_else_are_no_purchase() {
        for text in ["unknown origin", "52GB real", "13/2021", "€", "up to 2GB, 32GB", ""] {
            assert_eq!(bought(text), None, "{text}");
        }
    }

    #[test]
    fn dollars_stand_before_their_amount() {
        let (price, rest) = price("$8 on Amazon").unwrap();
        assert_eq!((price.amount, price.currency.as_str(), rest), (8.0, "USD", "on Amazon"));
    }
}
