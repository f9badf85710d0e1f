//! Each card over its largest test area, which is nearest to use: differences between cards there, and the effect of the
//! area on cards that were also measured over a small one (docs/reference/reports.md#microsd-speed-comparison).

use super::columns::{ComparedColumn, TestKey, test_keys};
use cardscope_model::comparison::{AreaEffect, TestRange};
use cardscope_model::statistics::distinct_values;

/// Least ratio between a large and a small area.
const LEAST_AREA_RATIO: u64 = 4;

/// Least cards of a field; fewer are a pair.
const LEAST_CARDS: usize = 3;

/// Columns of each card, in the order of first appearance.
pub(super) fn columns_by_card(columns: &[ComparedColumn]) -> Vec<Vec<&ComparedColumn>> {
    let of = |card: &str| columns.iter().filter(|column| column.entry.card_id == card).collect();
    distinct_values(columns.iter().map(|column| column.entry.card_id.as_str())).into_iter().map(of).collect()
}

/// Name of a card without its settings.
pub(super) fn card_name(own: &[&ComparedColumn]) -> String {
    own.first().and_then(|column| column.entry.name.split(" · ").next()).unwrap_or_default().to_owned()
}

/// Bytes of the largest area of a column; 0 if unknown.
pub(super) fn area_bytes(column: &ComparedColumn) -> u64 {
    column.entry.settings.iter().filter_map(|setting| setting.size_bytes).max().unwrap_or(0)
}

/// Combines a card's columns: each test once, from the column with the largest area; of equal ones the first.
pub(super) fn combine_columns(own: &[&ComparedColumn]) -> Option<ComparedColumn> {
    let mut own: Vec<&ComparedColumn> = own.to_vec();
    own.sort_by_key(|column| std::cmp::Reverse(area_bytes(column)));
    let (nearest, others) = own.split_first()?;
    let mut joined = (*nearest).clone();
    joined.entry.name = card_name(&own);
    for (key, values) in others.iter().flat_map(|column| &column.tests) {
        if joined.tests.iter().all(|(known, _)| known != key) {
            joined.tests.push((key.clone(), values.clone()));
        }
    }
    Some(joined)
}

/// Difference between fastest and slowest card in each test that at least three cards have.
pub(super) fn speed_differences(columns: &[ComparedColumn]) -> Vec<TestRange> {
    let cards = columns_by_card(columns);
    let of = |key: &TestKey| {
        let value = |own: &Vec<&ComparedColumn>| {
            let speeds = own.iter().rev().filter_map(|c| Some((area_bytes(c), c.mean_speed(key)?)));
            Some((card_name(own), speeds.max_by_key(|(size, _)| *size)?.1))
        };
        let mut all: Vec<(String, f64)> = cards.iter().filter_map(value).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ((fastest, most), (slowest, least)) = (all.first()?.clone(), all.last()?.clone());
        (all.len() >= LEAST_CARDS).then(|| TestRange {
            test: key.0,
            step: key.1.clone(),
            cards: all.len() as u32,
            fastest,
            fastest_mb_s: most,
            slowest,
            slowest_mb_s: least,
            factor: most / least,
        })
    };
    test_keys(columns.iter()).into_iter().filter_map(of).collect()
}

/// Effect of the area: each card's smallest area against its largest one, in tests that it has over both.
pub(super) fn area_effects(columns: &[ComparedColumn]) -> Vec<AreaEffect> {
    columns_by_card(columns).iter().flat_map(|own| card_area_effects(own)).collect()
}

pub(super) fn card_area_effects(own: &[&ComparedColumn]) -> Vec<AreaEffect> {
    let sized = own.iter().filter(|column| area_bytes(column) > 0);
    let smallest = sized.clone().min_by_key(|column| area_bytes(column));
    let both = smallest.zip(sized.max_by_key(|column| area_bytes(column)));
    let Some((small, large)) = both else { return Vec::new() };
    let bytes = [area_bytes(small), area_bytes(large)];
    if bytes[1] < LEAST_AREA_RATIO.saturating_mul(bytes[0]) {
        return Vec::new();
    }
    let effect = |(key, _): &(TestKey, _)| {
        let mb_s = [small.mean_speed(key)?, large.mean_speed(key)?];
        let (test, step) = key.clone();
        Some(AreaEffect { name: card_name(own), test, step, bytes, mb_s })
    };
    small.tests.iter().filter_map(effect).collect()
}
