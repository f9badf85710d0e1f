//! Computes the figures that a job requires from the measurements of a card.
//!
//! Each figure is taken from one setting, never from a mix: from the setting nearest to the job, which has the largest test
//! area, since a small one fits into a cache, then a used card rather than a fresh one, then the most runs. Doubts state
//! what this means for the card.

use super::sustained::{AfterCache, SustainedFigures};
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::job::{Figure, Figures};
use cardscope_model::setting::Setting;
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MIB, SpeedMbS};
use cardscope_statistics::priors::{NormalMixture, SpreadKind, SpreadTable, UsualSpeed};
use std::sync::Arc;

/// Least block of sequential transfers; SD cards reach their full speed at some 128 KiB.
const LARGE_BLOCK: u64 = 128 * KIB;

/// Block of the random figures.
const SMALL_BLOCK: u64 = 4 * KIB;

/// Figures of which more is better.
const SPEED_FIGURES: [Figure; 5] = [
    Figure::ReadMbS,
    Figure::WriteMbS,
    Figure::SustainedWriteMbS,
    Figure::RandomReadIops,
    Figure::RandomWriteIops,
];

/// Words of a setting that affect how fast a card looks.
pub(super) const RIG_WORDS: [&str; 4] = ["cooling", "board", "reader", "size"];

/// Runs below which the variation of a card is unknown.
const FEW_RUNS: u32 = 3;

/// A figure over its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KnownFigure {
    pub(super) figure: Figure,
    pub(super) mean: f64,
    /// 95 % interval for any unit of the model.
    pub(super) ci95: [f64; 2],
    /// Runs of the benchmark; `None` for a figure from the document of another verb.
    pub(super) runs: Option<u32>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct CardFigures {
    pub(super) figures: Vec<KnownFigure>,
    /// GB (10^9 bytes); needs no run.
    pub(super) capacity_gb: Option<f64>,
    /// Best cases: figures from short tests that a job requires of long ones.
    pub(super) best_cases: Vec<Figure>,
    pub(super) settings: Vec<Arc<Setting>>,
    pub(super) doubts: Vec<String>,
    /// Collapse of small writes under a queue.
    pub(super) collapse: Option<String>,
}

impl CardFigures {
    pub(super) fn mean_figures(&self) -> Figures {
        self.figures_with_values(&self.figures.iter().map(|known| known.mean).collect::<Vec<f64>>())
    }

    /// Figures with other values in place of the means.
    pub(super) fn figures_with_values(&self, values: &[f64]) -> Figures {
        let mut figures = Figures { capacity_gb: self.capacity_gb, ..Figures::default() };
        for (known, value) in self.figures.iter().zip(values) {
            figures.set(known.figure, *value);
        }
        figures
    }

    /// Speeds for one unit of currency at this price.
    pub(super) fn speeds_per_price(&self, price: f64) -> Figures {
        let mut figures = Figures::default();
        for known in self.figures.iter().filter(|known| SPEED_FIGURES.contains(&known.figure)) {
            figures.set(known.figure, known.mean / price);
        }
        figures
    }

    /// Runs of the figure with the fewest.
    pub(super) fn fewest_runs(&self) -> u32 {
        self.figures.iter().filter_map(|k| k.runs).min().unwrap_or(0)
    }
}

/// True if a test contributes to a figure.
fn contributes_to(figure: Figure, test: TestName) -> bool {
    let large = test.pattern.order == IoOrder::Sequential && test.pattern.block >= LARGE_BLOCK;
    let alone = test.pattern.queue == 1 && test.pattern.threads == 1;
    let small = test.pattern.order == IoOrder::Random && test.pattern.block == SMALL_BLOCK && alone;
    match figure {
        Figure::ReadMbS => large && test.op == TestOp::Read,
        Figure::WriteMbS | Figure::SustainedWriteMbS => large && test.op == TestOp::Write,
        Figure::RandomReadIops => small && test.op == TestOp::Read,
        Figure::RandomWriteIops => small && test.op == TestOp::Write,
        Figure::LongestWriteS => test.op == TestOp::Write && (large || small),
        Figure::CapacityGb => false,
    }
}

/// True for tests that contribute to a figure of any job, and for queued small writes; no others need to be read.
pub fn is_relevant_test(test: TestName) -> bool {
    let small = test.pattern.order == IoOrder::Random && test.pattern.block == SMALL_BLOCK;
    (small && test.op == TestOp::Write) || Figure::ALL.into_iter().any(|figure| contributes_to(figure, test))
}

/// Figures of one card from all its rows and from long runs.
pub(super) fn card_figures(
    bought: PurchaseBasis<'_>,
    rows: &[SummaryRow],
    lasting: SustainedFigures,
    capacity_bytes: Option<u64>,
) -> CardFigures {
    let mut card = CardFigures::default();
    for figure in Figure::ALL {
        if let Some((known, row)) = deciding_row(figure, bought, rows) {
            card.figures.push(known);
            if !card.settings.contains(&row.setting) {
                card.settings.push(Arc::clone(&row.setting));
            }
        }
    }
    card.apply_long_runs(bought, lasting);
    card.capacity_gb = capacity_bytes.map(|bytes| bytes as f64 / 1e9);
    card.doubts = setting_doubts(&card.settings, card.fewest_runs(), rows);
    card.collapse = queue_collapse(rows);
    card
}

impl CardFigures {
    /// Replaces figures of short runs by those of long runs. Without long runs the former become best cases.
    fn apply_long_runs(&mut self, bought: PurchaseBasis<'_>, lasting: SustainedFigures) {
        match lasting.after_cache {
            AfterCache::Measured(mb_s) => {
                let interval = bought.single_run_interval(mb_s, LONG_WRITE);
                self.set_figure(Figure::SustainedWriteMbS, mb_s, interval);
            }
            AfterCache::NoCache => {}
            AfterCache::Unknown => self.best_cases.push(Figure::SustainedWriteMbS),
        }
        let Some(longest) = lasting.longest_write_s else {
            return self.best_cases.push(Figure::LongestWriteS);
        };
        let short = self.figures.iter().find(|k| k.figure == Figure::LongestWriteS);
        let longest = short.map_or(longest, |short| short.mean.max(longest));
        if longest > 0.0 {
            // The maximum of many values has no spread.
            self.set_figure(Figure::LongestWriteS, longest, [longest; 2]);
        }
    }

    fn set_figure(&mut self, figure: Figure, mean: f64, ci95: [f64; 2]) {
        self.figures.retain(|known| known.figure != figure);
        self.figures.push(KnownFigure { figure, mean, ci95, runs: None });
    }
}

/// Pattern of a long write by `sustain`.
const LONG_WRITE: TestName = TestName {
    pattern: AccessPattern { order: IoOrder::Sequential, block: MIB, queue: 1, threads: 1 },
    op: TestOp::Write,
};

/// Sort key by which the setting nearest to a job is the greatest.
pub(super) fn nearness(row: &SummaryRow) -> (u64, bool, u32) {
    let used = row.setting.value("state").is_some_and(|state| state == "used" || state == "overwritten");
    (row.setting.size_bytes.unwrap_or(0), used, row.n)
}

/// Row that determines a figure: the fastest pattern in the setting nearest to the job.
fn deciding_row<'a>(
    figure: Figure,
    bought: PurchaseBasis<'_>,
    rows: &'a [SummaryRow],
) -> Option<(KnownFigure, &'a SummaryRow)> {
    let value = |row: &SummaryRow| figure_value(figure, row).filter(|_| contributes_to(figure, row.test));
    let usable = |row: &&SummaryRow| value(row).is_some() && !is_page_cache(row.step.as_deref());
    // Of two equally near settings the one measured first counts; `max_by_key` returns the last, hence `rev`.
    let nearest = rows.iter().rev().filter(usable).max_by_key(|row| nearness(row))?;
    let same = rows.iter().filter(usable).filter(|row| row.setting == nearest.setting && row.n == nearest.n);
    // For the longest write this is the greatest of all, for a speed the fastest pattern.
    let valued = same.filter_map(|row| Some((row, value(row)?)));
    let (row, mean) = valued.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let ci95 = match figure {
        Figure::LongestWriteS => [mean; 2],
        _ => interval_around(mean, &bought.unit_speed(row)?),
    };
    Some((KnownFigure { figure, mean, ci95, runs: Some(row.n) }, row))
}

/// Ratio of queued to single small writes below which a card collapses under a queue (0.035 MB/s at Q32, MicroSD speed
/// comparison, WHL #96).
const COLLAPSED_SHARE: f64 = 0.5;

/// Collapse of small writes under a queue, as a phrase.
fn queue_collapse(rows: &[SummaryRow]) -> Option<String> {
    let small = |row: &&SummaryRow| {
        let pattern = row.test.pattern;
        row.test.op == TestOp::Write && pattern.order == IoOrder::Random && pattern.block == SMALL_BLOCK
    };
    let flight = |row: &SummaryRow| row.test.pattern.queue * row.test.pattern.threads;
    let queued = rows.iter().filter(small).filter(|row| flight(row) > 1);
    let slowest = queued.min_by(|a, b| a.mean.total_cmp(&b.mean))?;
    let alone = |row: &&SummaryRow| flight(row) == 1 && row.setting == slowest.setting;
    let single = rows.iter().filter(small).find(alone)?;
    let (requests, to, from) = (flight(slowest), SpeedMbS(slowest.mean), SpeedMbS(single.mean));
    let phrase =
        || format!("writes with {requests} requests in flight collapse to {to} (one at a time: {from})");
    (slowest.mean < COLLAPSED_SHARE * single.mean).then(phrase)
}

/// True for a step that readers marked as answered by the host's page cache instead of the card.
pub(super) fn is_page_cache(step: Option<&str>) -> bool {
    step.is_some_and(|step| step.to_lowercase().contains("cache"))
}

/// Value of a row in the unit of a figure.
fn figure_value(figure: Figure, row: &SummaryRow) -> Option<f64> {
    let value = match figure {
        Figure::RandomReadIops | Figure::RandomWriteIops => row.mean * 1e6 / SMALL_BLOCK as f64,
        Figure::LongestWriteS => row.max_latency_us? / 1e6,
        _ => row.mean,
    };
    (value > 0.0).then_some(value)
}

/// Figures of a test by which cards are ranked: IOPS for small blocks. Its speed in MB/s is the value ranked by.
pub(super) fn test_figures(row: &SummaryRow, ci95: [f64; 2]) -> Vec<KnownFigure> {
    let known = |figure: Figure| {
        let mean = figure_value(figure, row).filter(|_| contributes_to(figure, row.test))?;
        let ci95 = ci95.map(|end| mean * end / row.mean);
        Some(KnownFigure { figure, mean, ci95, runs: Some(row.n) })
    };
    [Figure::RandomReadIops, Figure::RandomWriteIops].into_iter().filter_map(known).collect()
}

/// Doubts about figures from these settings and this number of runs; `rows` are all rows of the card.
pub(super) fn setting_doubts(settings: &[Arc<Setting>], runs: u32, rows: &[SummaryRow]) -> Vec<String> {
    let mut doubts = Vec::new();
    let tools = distinct_values(settings.iter().map(|s| s.recipe.as_str()));
    doubts.extend((tools.len() > 1).then(|| format!("results of several tools: {}", tools.join(", "))));
    for word in RIG_WORDS {
        let used = distinct_values(settings.iter().filter_map(|s| s.value(word)));
        let all = distinct_values(rows.iter().filter_map(|row| row.setting.value(word)));
        let others: Vec<String> = all.into_iter().filter(|value| !used.contains(value)).collect();
        if !others.is_empty() && !used.is_empty() {
            doubts.push(format!("{word} {}; also measured: {}", used.join(", "), others.join(", ")));
        }
    }
    doubts.extend((runs < FEW_RUNS).then(|| "fewer than three runs: its scatter is unknown".to_owned()));
    doubts
}

/// Basis for the figures of one card.
#[derive(Clone, Copy)]
pub(super) struct PurchaseBasis<'a> {
    pub(super) card: &'a StoredCard,
    pub(super) table: &'a SpreadTable,
}

impl PurchaseBasis<'_> {
    /// Logarithm of the usual speed in MB/s of a unit of the model, in one test; `None` for an invalid speed.
    pub(super) fn unit_speed(&self, row: &SummaryRow) -> Option<NormalMixture> {
        let kind = SpreadKind::new(&self.card.facts, Some(&row.setting), row.test);
        let usual = UsualSpeed::from_mean(row.mean, row.sd, row.n, self.table.spread_of_kind(kind))?;
        Some(usual.log_speed().widened(self.between_units()))
    }

    /// 95 % interval of a figure that was measured once, as by a long write. Its spread is that of a single run of the test.
    pub(super) fn single_run_interval(&self, mean: f64, test: TestName) -> [f64; 2] {
        let spread = self.table.spread_of_kind(SpreadKind::new(&self.card.facts, None, test));
        let usual = UsualSpeed::from_mean(mean, None, 1, spread);
        let known = usual.map(|usual| usual.log_speed().widened(self.between_units()));
        known.map_or([mean; 2], |known| interval_around(mean, &known))
    }

    /// Variance between units of a model; it decreases with the number of measured units.
    fn between_units(&self) -> f64 {
        self.table.units.deviation.powi(2) * (1.0 + 1.0 / f64::from(self.card.units.max(1)))
    }
}

/// 95 % interval around the mean of a figure that is proportional to a speed.
pub(super) fn interval_around(mean: f64, log: &NormalMixture) -> [f64; 2] {
    let middle = log.mean();
    let [low, high] = log.central95().map(|end| mean * (end - middle).exp());
    [low.min(mean), high.max(mean)]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use cardscope_model::archive_rows::StoredCard;
    use cardscope_model::card::CardFacts;
    use cardscope_model::condition::Condition;
    use cardscope_statistics::priors::SpreadTable;

    pub(in crate::judge::ranking) fn card(name: &str) -> StoredCard {
        StoredCard::new(name.to_lowercase(), name.to_owned(), CardFacts::default())
    }

    fn known(rows: &[SummaryRow], lasting: SustainedFigures, bytes: Option<u64>) -> CardFigures {
        card_figures(PurchaseBasis { card: &card("a"), table: SpreadTable::shipped() }, rows, lasting, bytes)
    }

    pub(in crate::judge::ranking) fn row(
        card: &str,
        test: &str,
        condition: &str,
        n: u32,
        mean: f64,
    ) -> SummaryRow {
        let mut words = Condition::default();
        if !condition.is_empty() {
            words.set_stated(condition).unwrap();
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
    fn only_speeds_are_divided_by_the_price() {
        let mut slow = row("a", "SEQ1M Q1T1 write", "", 3, 20.0);
        slow.max_latency_us = Some(2e6);
        let rows =
            [row("a", "SEQ1M Q1T1 read", "", 3, 80.0), slow, row("a", "RND4K Q1T1 write", "", 3, 4.096)];
        let per_dollar = known(&rows, SustainedFigures::default(), None).speeds_per_price(8.0);
        let expected = Figures {
            read_mb_s: Some(10.0),
            write_mb_s: Some(2.5),
            sustained_write_mb_s: Some(2.5),
            random_write_iops: Some(125.0),
            ..Figures::default()
        };
        assert_eq!(per_dollar, expected);
        // A test that cards are ranked by also has IOPS if its blocks are small.
        let of = |row: &SummaryRow| {
            test_figures(row, [row.mean; 2]).iter().map(|known| known.mean).collect::<Vec<_>>()
        };
        assert_eq!([of(&rows[0]), of(&rows[2])], [vec![], vec![1000.0]]);
    }

    #[test]
    fn random_speeds_become_iops_and_the_fastest_pattern_counts() {
        let rows = [
            row("a", "SEQ1G Q1T1 read", "", 10, 750.0),
            row("a", "SEQ32M Q32T1 read", "", 10, 800.0),
            row("a", "SEQ4K Q1T1 read", "", 10, 2.0),
            row("a", "RND4K Q1T1 read", "", 10, 40.96),
            row("a", "RND4K Q32T1 read", "", 10, 400.0),
        ];
        let figures = known(&rows, SustainedFigures::default(), Some(64_000_000_000)).mean_figures();
        assert_eq!(figures.read_mb_s, Some(800.0));
        assert!((figures.random_read_iops.unwrap() - 10_000.0).abs() < 1e-6);
        assert_eq!((figures.write_mb_s, figures.capacity_gb), (None, Some(64.0)));
    }

    #[test]
    fn setting_with_most_runs_counts_and_others_are_doubts() {
        let rows = [
            row("a", "SEQ1G Q1T1 read", "cooling=active", 10, 750.0),
            row("a", "SEQ1G Q1T1 read", "cooling=passive", 3, 900.0),
        ];
        let card = known(&rows, SustainedFigures::default(), None);
        assert_eq!(card.mean_figures().read_mb_s, Some(750.0));
        assert_eq!(card.doubts, ["cooling active; also measured: passive"]);
    }

    #[test]
    fn largest_area_counts() {
        let of = |bytes: u64, mean: f64, n: u32| {
            let mut found = row("a", "RND4K Q1T1 write", "", n, mean);
            let setting = Setting { size_bytes: Some(bytes), ..(*found.setting).clone() };
            found.setting = Arc::new(setting);
            found
        };
        let card = known(&[of(64 << 20, 2.32, 5), of(1 << 30, 0.58, 1)], SustainedFigures::default(), None);
        assert!((card.mean_figures().random_write_iops.unwrap() - 0.58e6 / 4096.0).abs() < 1e-6);
        assert!(card.doubts.iter().any(|doubt| doubt.starts_with("size 1 GiB")), "{:?}", card.doubts);
    }

    #[test]
    fn collapse_under_a_queue_is_reported() {
        let rows = [row("a", "RND4K Q1T1 write", "", 1, 1.8), row("a", "RND4K Q32T1 write", "", 1, 0.035)];
        let said = known(&rows, SustainedFigures::default(), None).collapse;
        let collapse = "writes with 32 requests in flight collapse to 0.0350 MB/s (one at a time: 1.80 MB/s)";
        assert_eq!(said.as_deref(), Some(collapse));
        let rows = [row("a", "RND4K Q1T1 write", "", 1, 1.8), row("a", "RND4K Q32T1 write", "", 1, 2.0)];
        assert_eq!(known(&rows, SustainedFigures::default(), None).collapse, None);
    }

    #[test]
    fn short_write_is_a_best_case_until_a_long_run() {
        let rows = [row("a", "SEQ1G Q1T1 write", "", 5, 80.0)];
        let short = known(&rows, SustainedFigures::default(), None);
        assert_eq!(short.mean_figures().sustained_write_mb_s, Some(80.0));
        assert_eq!(short.best_cases, [Figure::SustainedWriteMbS, Figure::LongestWriteS]);
        let lasting =
            SustainedFigures { after_cache: AfterCache::Measured(22.0), longest_write_s: Some(1.4) };
        let long = known(&rows, lasting, None);
        assert_eq!(long.mean_figures().sustained_write_mb_s, Some(22.0));
        assert_eq!(
            (long.mean_figures().write_mb_s, long.mean_figures().longest_write_s),
            (Some(80.0), Some(1.4))
        );
        assert_eq!((long.best_cases.len(), long.fewest_runs()), (0, 5), "a document is not a run");
        let steady = SustainedFigures { after_cache: AfterCache::NoCache, longest_write_s: Some(0.0) };
        assert_eq!(known(&rows, steady, None).mean_figures().sustained_write_mb_s, Some(80.0));
    }
}
