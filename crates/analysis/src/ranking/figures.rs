//! From what was measured of a card to the figures that a job asks for.
//!
//! Each figure comes from one setting, the one with most runs: figures measured under several are not mixed. What that
//! means for the card is said as doubts.

use super::lasting::{AfterCache, Lasting};
use cardscope_model::archived::SummaryRow;
use cardscope_model::job::{Figure, Figures};
use cardscope_model::setting::Setting;
use cardscope_model::statistics::distinct;
use cardscope_model::test_name::{Op, Order, TestName};
use cardscope_model::units::KIB;
use std::sync::Arc;

/// Blocks from here on are sequential transfers; SD cards reach their full speed at some 128 KiB.
const LARGE: u64 = 128 * KIB;

/// Block of the random figures.
const SMALL: u64 = 4 * KIB;

/// Words of a setting that make a card look faster or slower than it is.
pub(super) const RIG: [&str; 4] = ["cooling", "board", "reader", "size"];

/// Fewer runs do not show how far a card varies.
const FEW_RUNS: u32 = 3;

/// A figure over its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    pub(super) figure: Figure,
    pub(super) mean: f64,
    pub(super) sd: Option<f64>,
    /// Of the bench; `None` where a document of another verb says it.
    pub(super) runs: Option<u32>,
}

/// Everything known of one card.
#[derive(Debug, Clone, Default)]
pub(super) struct OfCard {
    pub(super) known: Vec<Known>,
    /// Capacity in GB (10^9 bytes), which no run is needed for.
    pub(super) capacity_gb: Option<f64>,
    /// What is at best so good: seen in short tests, asked of long ones.
    pub(super) assumed: Vec<Figure>,
    pub(super) settings: Vec<Arc<Setting>>,
    pub(super) doubts: Vec<String>,
}

impl OfCard {
    /// The means, as jobs take them.
    pub(super) fn figures(&self) -> Figures {
        self.figures_of(&self.known.iter().map(|known| known.mean).collect::<Vec<f64>>())
    }

    /// The same with other values in place of the means.
    pub(super) fn figures_of(&self, values: &[f64]) -> Figures {
        let mut figures = Figures { capacity_gb: self.capacity_gb, ..Figures::default() };
        for (known, value) in self.known.iter().zip(values) {
            figures.set(known.figure, *value);
        }
        figures
    }

    /// Runs behind the figure with fewest.
    pub(super) fn runs(&self) -> u32 {
        self.known.iter().filter_map(|k| k.runs).min().unwrap_or(0)
    }
}

/// Whether a test says something about a figure.
fn feeds(figure: Figure, test: TestName) -> bool {
    let large = test.pattern.order == Order::Sequential && test.pattern.block >= LARGE;
    let alone = test.pattern.queue == 1 && test.pattern.threads == 1;
    let small = test.pattern.order == Order::Random && test.pattern.block == SMALL && alone;
    match figure {
        Figure::ReadMbS => large && test.op == Op::Read,
        Figure::WriteMbS | Figure::SustainedWriteMbS => large && test.op == Op::Write,
        Figure::RandomReadIops => small && test.op == Op::Read,
        Figure::RandomWriteIops => small && test.op == Op::Write,
        Figure::LongestWriteS => test.op == Op::Write && (large || small),
        Figure::CapacityGb => false,
    }
}

/// The tests that say something about any figure of a job; the others need not be read.
pub fn is_of_use(test: TestName) -> bool {
    Figure::ALL.into_iter().any(|figure| feeds(figure, test))
}

/// The figures of one card, from all its rows and from what is known of long runs.
pub(super) fn of_card(rows: &[SummaryRow], lasting: Lasting, capacity_bytes: Option<u64>) -> OfCard {
    let mut card = OfCard::default();
    for figure in Figure::ALL {
        if let Some((known, row)) = best(figure, rows) {
            card.known.push(known);
            if !card.settings.contains(&row.setting) {
                card.settings.push(Arc::clone(&row.setting));
            }
        }
    }
    card.last(lasting);
    card.capacity_gb = capacity_bytes.map(|bytes| bytes as f64 / 1e9);
    card.doubts = doubts(&card.settings, card.runs(), rows);
    card
}

impl OfCard {
    /// Puts what long runs showed in place of what short ones did; where there are none, the latter is the best case.
    fn last(&mut self, lasting: Lasting) {
        match lasting.after_cache {
            AfterCache::Measured(mb_s) => self.know(Figure::SustainedWriteMbS, mb_s),
            AfterCache::NoCache => {}
            AfterCache::Unknown => self.assumed.push(Figure::SustainedWriteMbS),
        }
        match lasting.longest_write_s {
            Some(longest) => {
                let short = self.known.iter().find(|k| k.figure == Figure::LongestWriteS).map(|k| k.mean);
                let longest = short.map_or(longest, |short| short.max(longest));
                if longest > 0.0 {
                    self.know(Figure::LongestWriteS, longest);
                }
            }
            None => self.assumed.push(Figure::LongestWriteS),
        }
    }

    fn know(&mut self, figure: Figure, mean: f64) {
        self.known.retain(|known| known.figure != figure);
        // The greatest of many has no spread; a speed behind the cache has that of a single run.
        let sd = (figure == Figure::LongestWriteS).then_some(0.0);
        self.known.push(Known { figure, mean, sd, runs: None });
    }
}

/// The row that decides a figure: of the setting with most runs the fastest pattern.
fn best(figure: Figure, rows: &[SummaryRow]) -> Option<(Known, &SummaryRow)> {
    let usable = |row: &&SummaryRow| {
        feeds(figure, row.test) && value(figure, row).is_some() && !is_of_a_cache(row.step.as_deref())
    };
    // Of two settings with as many runs the one that was measured first: `max_by_key` would take the last.
    let most = rows.iter().rev().filter(usable).max_by_key(|row| row.n)?;
    let same = rows.iter().filter(usable).filter(|row| row.setting == most.setting && row.n == most.n);
    // The longest write of all, but the best speed.
    let row =
        same.max_by(|a, b| value(figure, a).unwrap_or(0.0).total_cmp(&value(figure, b).unwrap_or(0.0)))?;
    let mean = value(figure, row)?;
    let sd = row.sd.map(|sd| sd * mean / row.mean).filter(|sd| sd.is_finite());
    let sd = if figure == Figure::LongestWriteS { Some(0.0) } else { sd };
    Some((Known { figure, mean, sd, runs: Some(row.n) }, row))
}

/// Importers name what the host's page cache answered so; it says nothing about a card.
pub(super) fn is_of_a_cache(step: Option<&str>) -> bool {
    step.is_some_and(|step| step.to_lowercase().contains("cache"))
}

/// A row in the unit of a figure.
fn value(figure: Figure, row: &SummaryRow) -> Option<f64> {
    let value = match figure {
        Figure::RandomReadIops | Figure::RandomWriteIops => row.mean * 1e6 / SMALL as f64,
        Figure::LongestWriteS => row.max_latency_us? / 1e6,
        _ => row.mean,
    };
    (value > 0.0).then_some(value)
}

/// What is doubtful about figures from these settings and so many runs, where all rows of the card are those given.
pub(super) fn doubts(settings: &[Arc<Setting>], runs: u32, rows: &[SummaryRow]) -> Vec<String> {
    let mut said = Vec::new();
    let tools: Vec<&str> = settings.iter().map(|s| s.recipe.as_str()).collect();
    if tools.windows(2).any(|pair| pair[0] != pair[1]) {
        said.push(format!("results of several tools: {}", distinct(tools.into_iter()).join(", ")));
    }
    for word in RIG {
        let used = distinct(settings.iter().filter_map(|s| s.value(word)));
        let all = distinct(rows.iter().filter_map(|row| row.setting.value(word)));
        let left: Vec<String> = all.into_iter().filter(|value| !used.contains(value)).collect();
        if !left.is_empty() && !used.is_empty() {
            said.push(format!("{word} {}; also measured: {}", used.join(", "), left.join(", ")));
        }
    }
    if runs < FEW_RUNS {
        said.push("fewer than three runs: its scatter is unknown".to_owned());
    }
    said
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use cardscope_model::archived::StoredCard;
    use cardscope_model::card::CardFacts;
    use cardscope_model::condition::Condition;

    pub(in crate::ranking) fn card(name: &str) -> StoredCard {
        StoredCard::new(name.to_lowercase(), name.to_owned(), CardFacts::default())
    }

    pub(in crate::ranking) fn row(card: &str, test: &str, condition: &str, n: u32, mean: f64) -> SummaryRow {
        let mut words = Condition::default();
        if !condition.is_empty() {
            words.state(condition).unwrap();
        }
        let setting = Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition: words };
        SummaryRow {
            card_id: card.into(),
            setting: Arc::new(setting),
            test: test.parse().unwrap(),
            step: None,
            n,
            mean,
            sd: Some(mean / 50.0),
            median: mean,
            best: mean,
            worst: mean,
            max_latency_us: None,
            last: None,
        }
    }

    #[test]
    fn random_speeds_become_ios_a_second_and_the_fastest_sequential_pattern_counts() {
        let rows = [
            row("a", "SEQ1G Q1T1 read", "", 10, 750.0),
            row("a", "SEQ32M Q32T1 read", "", 10, 800.0),
            row("a", "SEQ4K Q1T1 read", "", 10, 2.0),
            row("a", "RND4K Q1T1 read", "", 10, 40.96),
            row("a", "RND4K Q32T1 read", "", 10, 400.0),
        ];
        let figures = of_card(&rows, Lasting::default(), Some(64_000_000_000)).figures();
        assert_eq!(figures.read_mb_s, Some(800.0));
        assert!((figures.random_read_iops.unwrap() - 10_000.0).abs() < 1e-6);
        assert_eq!((figures.write_mb_s, figures.capacity_gb), (None, Some(64.0)));
    }

    #[test]
    fn a_card_measured_mostly_with_a_fan_is_judged_so_and_the_rest_is_said() {
        let rows = [
            row("a", "SEQ1G Q1T1 read", "cooling=active", 10, 750.0),
            row("a", "SEQ1G Q1T1 read", "cooling=passive", 3, 900.0),
        ];
        let card = of_card(&rows, Lasting::default(), None);
        assert_eq!(card.figures().read_mb_s, Some(750.0));
        assert_eq!(card.doubts, ["cooling active; also measured: passive"]);
    }

    #[test]
    fn a_speed_into_a_cache_is_the_best_case_until_somebody_wrote_long() {
        let rows = [row("a", "SEQ1G Q1T1 write", "", 5, 80.0)];
        let short = of_card(&rows, Lasting::default(), None);
        assert_eq!(short.figures().sustained_write_mb_s, Some(80.0));
        assert_eq!(short.assumed, [Figure::SustainedWriteMbS, Figure::LongestWriteS]);
        let lasting = Lasting { after_cache: AfterCache::Measured(22.0), longest_write_s: Some(1.4) };
        let long = of_card(&rows, lasting, None);
        assert_eq!(long.figures().sustained_write_mb_s, Some(22.0));
        assert_eq!((long.figures().write_mb_s, long.figures().longest_write_s), (Some(80.0), Some(1.4)));
        assert_eq!((long.assumed.len(), long.runs()), (0, 5), "a document is not a run");
        let steady = Lasting { after_cache: AfterCache::NoCache, longest_write_s: Some(0.0) };
        assert_eq!(of_card(&rows, steady, None).figures().sustained_write_mb_s, Some(80.0));
    }
}
