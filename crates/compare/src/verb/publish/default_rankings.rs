//! Default rankings of many cards.

use crate::card_lookup::CardLookup;
use crate::verb::compare::MeasurementChoice;
use crate::verb::rank::RankingKey;
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_session::error::Result;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Kinds of tests, most important first.
const TEST_KINDS: [(IoOrder, TestOp); 4] = [
    (IoOrder::Sequential, TestOp::Read),
    (IoOrder::Sequential, TestOp::Write),
    (IoOrder::Random, TestOp::Read),
    (IoOrder::Random, TestOp::Write),
];

/// Tests of the request; else the test that most cards have under the selected settings, for each of sequential and random
/// reads and writes. Empty without such tests.
pub(super) fn default_keys(
    choice: &MeasurementChoice,
    cards: &[StoredCard],
    source: &mut CardLookup,
) -> Result<Vec<RankingKey>> {
    let mut tests = choice.tests.clone();
    if tests.is_empty() {
        let mut rows = source.summaries(|_| true)?;
        rows.retain(|row| choice.is_met_by(&row.setting));
        tests = most_common_tests(cards, &rows);
    }
    Ok(tests.into_iter().map(RankingKey::Test).collect())
}

fn most_common_tests(cards: &[StoredCard], rows: &[SummaryRow]) -> Vec<TestName> {
    let ids: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut measured: HashMap<TestName, (HashSet<&str>, u64)> = HashMap::new();
    for row in rows.iter().filter(|row| ids.contains(row.card_id.as_str())) {
        let (of, runs) = measured.entry(row.test).or_default();
        of.insert(&row.card_id);
        *runs += u64::from(row.n);
    }
    let most = |(order, op)| {
        let of_kind = measured.iter().filter(|(test, _)| test.pattern.order == order && test.op == op);
        // Ties are decided by the number of runs, then by name, so that the result is always the same.
        let found = of_kind.max_by_key(|(test, (of, runs))| (of.len(), *runs, Reverse(test.to_string())));
        found.map(|(test, _)| *test)
    };
    TEST_KINDS.into_iter().filter_map(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::run::TestFigure;
    use cardscope_store::summarize_runs;

    /// Rows of one run of each test of each card.
    fn rows(measured: &[(&str, &[&str])]) -> Vec<SummaryRow> {
        let runs = measured.iter().flat_map(|(card, tests)| {
            tests.iter().map(|test| {
                let mut run = cardscope_testkit::cards::one_test_run("cooling=active", 20.0);
                run.card_id = (*card).to_owned();
                run.run.results = vec![TestFigure::from_speed(test.parse().unwrap(), 20.0)];
                run
            })
        });
        summarize_runs(&runs.collect::<Vec<_>>(), |_| true)
    }

    fn named(cards: &[&str], rows: &[SummaryRow]) -> Vec<String> {
        let cards: Vec<StoredCard> =
            cards.iter().map(|name| cardscope_testkit::cards::stored_card(name)).collect();
        most_common_tests(&cards, rows).iter().map(TestName::to_string).collect()
    }

    #[test]
    fn most_common_test_of_each_kind_is_chosen() {
        let rows = rows(&[
            ("a", &["RND4K Q1T1 write", "SEQ1M Q8T1 read", "RND4K Q1T1 mix70"]),
            ("b", &["SEQ1M Q8T1 read", "SEQ1M Q1T1 read"]),
            ("c", &["SEQ1M Q1T1 read"]),
            ("d", &["SEQ1M Q1T1 read", "RND4K Q32T1 write"]),
        ]);
        // Both random writes have the same number of cards, so the name decides.
        assert_eq!(named(&["a", "b", "c", "d"], &rows), ["SEQ1M Q1T1 read", "RND4K Q1T1 write"]);
        // Tests of other cards do not count.
        assert_eq!(named(&["a"], &rows), ["SEQ1M Q8T1 read", "RND4K Q1T1 write"]);
        assert_eq!(named(&["e"], &rows), [""; 0]);
    }
}
