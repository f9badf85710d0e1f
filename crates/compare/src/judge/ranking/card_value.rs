//! Computes the one value by which a card is ranked.

use super::figures::{self, CardFigures, PurchaseBasis, interval_around};
use super::sustained::SustainedFigures;
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::comparison::{NOTABLE_CHANGE, Spread, iops_at_speed};
use cardscope_model::host::Host;
use cardscope_model::job::{self, Figure, Figures, Job, JobScore};
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MB, SpeedMbS, three_digits};
use cardscope_statistics::priors::NormalMixture;
use cardscope_statistics::significance::{self, RankedValue};

/// Block of the random reads that a host limits.
const SMALL_BLOCK: u64 = 4 * KIB;

/// Goal of a ranking.
#[derive(Debug, Clone)]
pub struct RankingGoal {
    pub measure: RankingMeasure,
    /// Host that limits the cards, if given.
    pub host: Option<Host>,
}

/// Value by which cards are ranked.
#[derive(Debug, Clone)]
pub enum RankingMeasure {
    /// Score for a job.
    Job(Job),
    /// Speed in one test.
    Test(TestName),
}

impl RankingGoal {
    /// Name of the value, for sentences.
    pub fn value_name(&self) -> String {
        match &self.measure {
            RankingMeasure::Job(job) => format!("the score for {:?}", job.name),
            RankingMeasure::Test(test) => test.to_string(),
        }
    }
}

/// A card with its value, before it has a place.
pub(super) struct ValuedCard<'a> {
    pub(super) card: &'a StoredCard,
    pub(super) value: f64,
    pub(super) ci95: Option<[f64; 2]>,
    pub(super) runs: u32,
    pub(super) job: Option<JobScore>,
    pub(super) spread: Option<Spread>,
    /// Distribution of the value: of the logarithm of a speed, or of a score.
    pub(super) contender: RankedValue,
    pub(super) figures: CardFigures,
    pub(super) capped: Vec<String>,
}

/// Value of a card, or the reason why it has none.
pub(super) fn card_value<'a>(
    asked: &RankingGoal,
    bought: PurchaseBasis<'a>,
    rows: &[SummaryRow],
    lasting: SustainedFigures,
) -> Result<ValuedCard<'a>, String> {
    match &asked.measure {
        RankingMeasure::Job(job) => value_for_job(asked, job, bought, rows, lasting),
        RankingMeasure::Test(test) => value_for_test(asked, *test, bought, rows),
    }
}

fn value_for_job<'a>(
    asked: &RankingGoal,
    job: &Job,
    bought: PurchaseBasis<'a>,
    rows: &[SummaryRow],
    lasting: SustainedFigures,
) -> Result<ValuedCard<'a>, String> {
    let card = bought.card;
    let mut of = figures::card_figures(bought, rows, lasting, capacity_bytes(card));
    let (figures, capped) = match &asked.host {
        Some(host) => host.cap_figures(&of.mean_figures()),
        None => (of.mean_figures(), Vec::new()),
    };
    let score = job::score_with_upper_bounds(job, &figures, &of.best_cases);
    let value = score.score.ok_or_else(|| format!("not measured: {}", score.missing.join(", ")))?;
    let ci95 = score_interval(asked, &of, |figures| job::clamped_points(job, figures));
    let ordered = |figures: &Figures| job::unclamped_points(job, figures);
    let runs = of.fewest_runs();
    of.doubts.extend(best_case_doubts(job, &of, &score));
    of.doubts.extend(slower_bus_doubt(asked, card));
    let place = ordered(&figures).unwrap_or(value);
    let contender =
        RankedValue { known: score_distribution(place, score_interval(asked, &of, ordered)), value: place };
    Ok(ValuedCard { card, value, ci95, runs, job: Some(score), spread: None, contender, figures: of, capped })
}

/// Standard errors from the mean to an end of a 95 % interval.
const NORMAL95: f64 = 1.96;

/// Scores are printed to a tenth of a point.
const LEAST_SCORE_ERROR: f64 = 0.05;

/// Distribution of a score: a normal one of the interval's width.
fn score_distribution(value: f64, ci95: Option<[f64; 2]>) -> NormalMixture {
    let half = ci95.map_or(0.0, |[low, high]| (high - low) / 2.0);
    NormalMixture::single(value, (half / NORMAL95).max(LEAST_SCORE_ERROR).powi(2))
}

/// Doubt about an SD Express card on a host without PCIe lanes for it.
fn slower_bus_doubt(asked: &RankingGoal, card: &StoredCard) -> Option<String> {
    let host = asked.host.as_ref()?;
    let without = !host.express && cardscope_statistics::priors::is_express(&card.facts, None);
    without.then(|| format!("SD Express; in {} it is a UHS-I card", host.title))
}

/// Doubt about best cases among the figures that the job requires.
fn best_case_doubts(job: &Job, of: &CardFigures, score: &JobScore) -> Vec<String> {
    let figures = of.mean_figures();
    let demanded = job.demand.iter().map(|demand| demand.figure);
    let amounts = job.work.iter().flat_map(job::JobWork::needed_amounts).filter(|(_, amount)| *amount > 0.0);
    let needed: Vec<Figure> = demanded.chain(amounts.map(|(figure, _)| figure)).collect();
    let rests = of.best_cases.iter().filter(|f| needed.contains(f) && figures.get(**f).is_some());
    let named: Vec<&str> = rests.map(|figure| figure.name_and_unit().0).collect();
    let doubt = "at best, from short writes; `cardscope sustain` measures sustained writes";
    let doubt =
        (score.missed.is_empty() && !named.is_empty()).then(|| format!("{} {doubt}", named.join(" and ")));
    doubt.into_iter().collect()
}

/// Interval of the score that follows from the intervals of the figures.
fn score_interval<P: Fn(&Figures) -> Option<f64>>(
    asked: &RankingGoal,
    of: &CardFigures,
    points: P,
) -> Option<[f64; 2]> {
    let known = of.figures.iter().map(|k| significance::FigureInterval { mean: k.mean, ci95: k.ci95 });
    significance::propagate_intervals(&known.collect::<Vec<_>>(), |values| {
        let figures = of.figures_with_values(values);
        let figures = asked.host.as_ref().map_or(figures, |host| host.cap_figures(&figures).0);
        points(&figures).unwrap_or(0.0)
    })
}

/// Capacity in bytes according to the registers, else to the label.
fn capacity_bytes(card: &StoredCard) -> Option<u64> {
    let label = card.facts.capacity_label.as_deref();
    card.facts.capacity_bytes.or_else(|| cardscope_model::units::parse_size(label?).ok())
}

/// Capacity in GB (10^9 bytes).
pub(super) fn gigabytes(card: &StoredCard) -> Option<f64> {
    capacity_bytes(card).map(|bytes| bytes as f64 / 1e9)
}

fn value_for_test<'a>(
    asked: &RankingGoal,
    test: TestName,
    bought: PurchaseBasis<'a>,
    rows: &[SummaryRow],
) -> Result<ValuedCard<'a>, String> {
    let card = bought.card;
    let of_the_card = rows.iter().rev().filter(|row| !figures::is_page_cache(row.step.as_deref()));
    let nearest = of_the_card.max_by_key(|row| figures::nearness(row));
    let row = nearest.ok_or_else(|| format!("{test} was not measured"))?;
    let known = bought.unit_speed(row).ok_or_else(|| format!("{test} has no speed"))?;
    let limit = asked.host.as_ref().and_then(|host| limit_mb_s(host, test));
    let under = |mb_s: f64| limit.map_or(mb_s, |limit| mb_s.min(limit));
    let capped = limit.filter(|limit| row.mean > *limit);
    let capped = capped.map(|limit| format!("{} → {}", three_digits(row.mean), SpeedMbS(limit)));
    let settings = vec![row.setting.clone()];
    let mut doubts = figures::setting_doubts(&settings, row.n, rows);
    doubts.extend(slower_bus_doubt(asked, card));
    let ci95 = interval_around(row.mean, &known);
    let value = under(row.mean);
    let measured = figures::test_figures(row, ci95);
    // At the limit of a host, the card's own uncertainty no longer matters.
    let known = match value < row.mean {
        true => NormalMixture::single(value.ln(), NOTABLE_CHANGE.powi(2) / 100.0),
        false => known,
    };
    Ok(ValuedCard {
        card,
        value,
        ci95: Some(ci95.map(under)),
        runs: row.n,
        job: None,
        spread: Some(Spread { ci95: Some(ci95), ..row_spread(row) }),
        contender: RankedValue { known, value: value.max(f64::MIN_POSITIVE).ln() },
        figures: CardFigures { figures: measured, settings, doubts, ..CardFigures::default() },
        capped: capped.into_iter().collect(),
    })
}

/// Speed of the card itself, without the limit of the host.
fn row_spread(row: &SummaryRow) -> Spread {
    Spread {
        n: row.n,
        mean: row.mean,
        iops: iops_at_speed(row.mean, row.test.pattern.block),
        median: row.median,
        best: row.best,
        worst: row.worst,
        ..Spread::default()
    }
}

/// MB/s to which a host limits a test. For random I/O only the least time of a single read of 4 KiB is a known limit.
fn limit_mb_s(host: &Host, test: TestName) -> Option<f64> {
    let pattern = test.pattern;
    let alone = pattern.queue == 1 && pattern.threads == 1;
    match (pattern.order, test.op) {
        (IoOrder::Sequential, TestOp::Read) => host.figure_limit(Figure::ReadMbS),
        (IoOrder::Sequential, TestOp::Write) => host.figure_limit(Figure::WriteMbS),
        (IoOrder::Random, TestOp::Read) if pattern.block == SMALL_BLOCK && alone => {
            host.figure_limit(Figure::RandomReadIops).map(|iops| iops * SMALL_BLOCK as f64 / MB)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::{card, row};
    use super::*;
    use cardscope_model::host;
    use cardscope_statistics::priors::SpreadTable;

    const READ: &str = "SEQ1G Q1T1 read";

    fn asked(test: &str, on: Option<&str>) -> RankingGoal {
        let host = on.map(|name| host::find_host(name).unwrap());
        RankingGoal { measure: RankingMeasure::Test(test.parse().unwrap()), host }
    }

    fn of<'a>(asked: &RankingGoal, card: &'a StoredCard, rows: &[SummaryRow]) -> ValuedCard<'a> {
        let bought = PurchaseBasis { card, table: SpreadTable::shipped() };
        card_value(asked, bought, rows, SustainedFigures::default()).unwrap()
    }

    #[test]
    fn host_limits_value_and_interval_but_not_the_cards_speed() {
        let card = card("a");
        let found = of(&asked(READ, Some("usb2")), &card, &[row("a", READ, "", 10, 90.0)]);
        assert_eq!((found.value, found.ci95), (40.0, Some([40.0, 40.0])));
        let spread = found.spread.unwrap();
        assert!(spread.mean == 90.0 && spread.ci95.is_some_and(|[low, high]| low > 70.0 && high > 90.0));
        // Near the limit only the upper end is cut.
        let near = of(&asked(READ, Some("usb2")), &card, &[row("a", READ, "", 10, 40.5)]);
        assert!(near.ci95.is_some_and(|[low, high]| low < 40.0 && high == 40.0), "{:?}", near.ci95);
    }

    #[test]
    fn host_limits_single_small_random_reads() {
        let (card, test) = (card("a"), "RND4K Q1T1 read");
        let found = of(&asked(test, Some("pi-2")), &card, &[row("a", test, "", 10, 12.0)]);
        // 4096 bytes in 493 µs.
        assert!((found.value - 4096.0 / 493.0).abs() < 1e-9, "{}", found.value);
        let queued = "RND4K Q32T1 read";
        let free = of(&asked(queued, Some("pi-2")), &card, &[row("a", queued, "", 10, 12.0)]);
        assert_eq!((free.value, free.capped.len()), (12.0, 0));
    }

    #[test]
    fn ranking_by_test_doubts_other_settings_and_few_runs() {
        let card = card("a");
        let rows = [row("a", READ, "cooling=active", 2, 90.0), row("a", READ, "cooling=passive", 1, 50.0)];
        let found = of(&asked(READ, None), &card, &rows);
        assert_eq!(
            found.figures.doubts,
            ["cooling active; also measured: passive", "fewer than three runs: its scatter is unknown"]
        );
    }

    #[test]
    fn camera_job_needs_the_speed_after_the_cache() {
        let rows = [row("a", "SEQ1G Q1T1 write", "", 5, 80.0), row("a", "SEQ1G Q1T1 read", "", 5, 90.0)];
        let mut card = card("a");
        card.facts.capacity_bytes = Some(64_000_000_000);
        let asked =
            RankingGoal { measure: RankingMeasure::Job(job::find_job("camera-4k").unwrap()), host: None };
        let fit = |lasting: SustainedFigures| {
            let bought = PurchaseBasis { card: &card, table: SpreadTable::shipped() };
            card_value(&asked, bought, &rows, lasting).unwrap()
        };
        let short = fit(SustainedFigures::default());
        assert_eq!(short.job.as_ref().map(|job| job.fit), Some(job::JobFit::Fair));
        assert!(short.figures.doubts.iter().any(|doubt| doubt.starts_with("sustained write at best")));
        let behind = |mb_s| SustainedFigures {
            after_cache: super::super::sustained::AfterCache::Measured(mb_s),
            longest_write_s: Some(0.4),
        };
        assert_eq!(fit(behind(8.0)).job.unwrap().fit, job::JobFit::Unfit);
        assert_eq!(fit(behind(60.0)).job.unwrap().fit, job::JobFit::Good);
    }
}
