//! Spread table: how much the runs of cards vary, from the built-in table and the series of the archive. All verbs use this
//! table for confidence intervals, so that the same mean always gets the same interval.

use crate::card_key::{NotCard, find_not_cards};
use crate::error::Result;
use cardscope_model::archive_rows::SummaryRow;
use cardscope_model::card::CardFacts;
use cardscope_statistics::priors::{KnownSeries, SpreadKind, SpreadTable, learn_spread};
use cardscope_store::Archive;
use std::collections::{BTreeMap, HashMap};

/// Series of a kind from which the archive overrides the built-in table. Fewer are less reliable than the table.
const LEAST_SERIES: usize = 20;

/// Newest series of a kind that are used. Further ones would add nothing.
const MOST_SERIES: usize = 2000;

/// Runs that a series needs for an estimate of its spread.
const LEAST_RUNS: u32 = 3;

/// Spread table with the data of an archive.
pub fn spread_table(archive: Option<&mut Archive>) -> Result<SpreadTable> {
    let Some(archive) = archive else { return Ok(SpreadTable::shipped().clone()) };
    let not_cards = find_not_cards(archive)?;
    table_excluding(archive, &not_cards)
}

/// The same if the targets to exclude are already known.
pub fn table_excluding(archive: &mut Archive, not_cards: &HashMap<String, NotCard>) -> Result<SpreadTable> {
    let rows = archive.summaries(|_| true)?;
    // The limit keeps the first series of each kind, so the newest come first.
    let of_cards = rows.iter().rev().filter(|row| !not_cards.contains_key(&row.card_id));
    Ok(learn_table(of_cards))
}

/// Built-in table, updated with these series.
fn learn_table<'a>(rows: impl Iterator<Item = &'a SummaryRow>) -> SpreadTable {
    let mut series: BTreeMap<String, (SpreadKind, Vec<KnownSeries>)> = BTreeMap::new();
    let none = CardFacts::default();
    for row in rows.filter(|row| row.n >= LEAST_RUNS) {
        let kind = SpreadKind::new(&none, Some(&row.setting), row.test);
        let (_, list) = series.entry(kind.table_key()).or_insert_with(|| (kind, Vec::new()));
        let spread = row.sd.filter(|_| list.len() < MOST_SERIES);
        list.extend(spread.and_then(|sd| KnownSeries::from_mean(row.mean, sd, row.n)));
    }
    let mut table = SpreadTable::shipped().clone();
    for (name, (kind, seen)) in series {
        if seen.len() >= LEAST_SERIES {
            let known = table.spread_of_kind(kind).clone();
            let strength = known.series.max(LEAST_SERIES as f64);
            table.kinds.insert(name, learn_spread(&seen, &known, strength));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::test_name::{IoOrder, TestOp};
    use cardscope_statistics::priors::SpreadSubject;

    fn steady(cards: usize) -> Vec<SummaryRow> {
        let row = |card: usize| SummaryRow {
            card_id: card.to_string(),
            setting: std::sync::Arc::default(),
            test: "RND4K Q1T1 write".parse().unwrap(),
            step: None,
            n: 5,
            mean: 2.0 + card as f64,
            sd: Some(0.002 * (2.0 + card as f64)),
            median: 2.0,
            best: 2.0,
            worst: 2.0,
            max_latency_us: None,
            last: None,
        };
        (0..cards).map(row).collect()
    }

    #[test]
    fn table_learns_from_many_steady_cards_but_not_from_few() {
        let kind =
            SpreadKind { express: false, subject: SpreadSubject::Test(IoOrder::Random, TestOp::Write) };
        let shipped = SpreadTable::shipped();
        assert_eq!(learn_table(steady(5).iter()).spread_of_kind(kind), shipped.spread_of_kind(kind));
        let of = |table: &SpreadTable| table.spread_of_kind(kind).deviation[..3].iter().sum::<f64>();
        let learned = learn_table(steady(100).iter());
        assert!(of(&learned) > 1.5 * of(shipped), "{:?}", learned.spread_of_kind(kind).deviation);
    }
}
