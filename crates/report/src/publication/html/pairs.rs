//! Which differences are real: the order in each test with what stands between neighbours, all pairs where cards are
//! few, and two cards of the reader's choice where they are many.

use crate::comparison::{tables, words};
use crate::markup::{escaped, folded, grid};
use cardscope_model::comparison::{Comparison, Entry, Pair, Verdict};
use serde_json::{Value, json};

/// Entries up to which every pair is listed.
const LISTED: usize = 4;

/// Entries up to which the order is written with names; of more, with their numbers.
const NAMED: usize = 6;

/// Pairs up to which their table is open at first.
const OPEN: usize = 24;

pub(super) fn differences(comparison: &Comparison) -> String {
    if comparison.tests.iter().all(|test| test.pairs.is_empty()) {
        return String::new();
    }
    let mut out = String::from(
        "<p>From the fastest down by their means; numbers are those of the cards above. <b>&gt;</b> faster for sure, \
         <b>=</b> alike, <b>?</b> cannot be told apart from what was measured.</p>\n",
    );
    let name = |entry: usize| match comparison.entries.get(entry) {
        Some(card) if comparison.entries.len() <= NAMED => card.name.clone(),
        _ => tables::number(entry),
    };
    out += &grid(&tables::orders(comparison, name));
    if comparison.entries.len() <= LISTED {
        let table = tables::pairs(comparison, |_| true);
        return out + &folded("Every pair", table.rows().len() <= OPEN, &grid(&table));
    }
    out + &two(comparison)
}

/// Two cards beside each other, by the script alone, from the pairs as numbers.
fn two(comparison: &Comparison) -> String {
    let option = |(number, entry): (usize, &Entry)| {
        format!("<option value=\"{number}\">{} {}</option>", number + 1, escaped(&entry.name))
    };
    let options: String = comparison.entries.iter().enumerate().map(option).collect();
    let data = comparison.tests.iter().map(|test| {
        let pairs: String = test.pairs.iter().map(numbers).collect();
        json!({ "t": words::test(test), "p": pairs })
    });
    // Nothing in it may end the script element.
    let data = Value::from_iter(data).to_string().replace('<', "\\u003c");
    format!(
        "<div id=\"two\" hidden>\n<h3>Two cards beside each other</h3>\n<form><label>First <select id=\"one\">{options}</select></label> \
         <label>Second <select id=\"other\">{options}</select></label></form>\n\
         <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>test</th><th>second against first</th><th>95 % interval</th>\
         <th>chance alone</th><th class=\"words\">what can be said</th></tr></thead><tbody></tbody></table></div>\n</div>\n\
         <script type=\"application/json\" id=\"pairs\">{data}</script>\n"
    )
}

/// A pair in few characters: entries, factor, its interval, chance, verdict, further runs, what else differs. Factors can be
/// turned round by the script; percents that were rounded once cannot.
fn numbers(pair: &Pair) -> String {
    let verdict = match pair.verdict {
        Verdict::FirstFaster => 1,
        Verdict::SecondFaster => 2,
        Verdict::Alike => 3,
        Verdict::CannotTell => 4,
    };
    let [low, high] = pair.factor_ci95.map_or_else(Default::default, |ends| ends.map(five_digits));
    let p = pair.p.filter(|p| p.is_finite()).map(|p| format!("{p:.3}")).unwrap_or_default();
    let more = pair.more_runs.map(|n| n.to_string()).unwrap_or_default();
    let besides = if verdict <= 2 { pair.not_the_card_alone.join(" and ") } else { String::new() };
    let besides = besides.replace([',', ';'], " ");
    format!(
        "{},{},{},{low},{high},{p},{verdict},{more},{besides};",
        pair.first,
        pair.second,
        five_digits(pair.factor)
    )
}

/// Five digits that mean something; blank for what is no factor.
fn five_digits(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return String::new();
    }
    let after_the_point = (4.0 - value.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{value:.after_the_point$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_keeps_five_digits_however_small_it_is() {
        let written = [301.234_56, 1.012_345, 0.003_319_67, 123_456.0, 0.0].map(five_digits);
        assert_eq!(written, ["301.23", "1.0123", "0.0033197", "123456", ""]);
        // Turned round it is the other one's: 1 / 0.0033197 is 301.23.
        let turned = 1.0 / written[2].parse::<f64>().unwrap();
        assert!((turned - 1.0 / 0.003_319_67).abs() < 0.01, "{turned}");
    }
}
