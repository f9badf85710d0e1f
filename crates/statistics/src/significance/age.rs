//! Ageing: change of a card's speed over months.
//!
//! Sen's slope (median of the slopes between all pairs of sessions) with Kendall's test (Journal of the American Statistical
//! Association 1968) is robust against single sessions with a full cache. Results within eighteen hours form one session and
//! count by their median, because they share the state of the card.

use super::{NOTABLE_CHANGE, SIGNIFICANCE_LEVEL};
use crate::estimate::NORMAL_QUANTILE_975;
use cardscope_model::statistics::{median, quantile_of_sorted, sorted_copy};
use statrs::distribution::{ContinuousCDF, Normal};

/// Least sessions for a slope. Even four are in order by chance in 2 of 24 cases.
const MIN_SESSIONS: usize = 4;

/// Limit of sessions, since the number of pairs grows with the square. More are joined with their neighbours.
const MAX_SESSIONS: usize = 300;

/// Length of a session in days. Daily sessions stay separate, and one that continues past midnight stays whole.
const SESSION_DAYS: f64 = 0.75;

const YEAR_DAYS: f64 = 365.25;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgeEffect {
    pub sessions: u32,
    pub years: f64,
    pub per_year: f64,
    pub ci95: [f64; 2],
    /// Change per year in percent of the median, None if that is 0.
    pub percent_per_year: Option<f64>,
    pub p: f64,
    /// True if the trend is significant (5 %) and the total change exceeds 3 %, the least that users notice.
    pub real: bool,
}

/// Trend of (day, value) pairs with any origin of days. None for fewer than four sessions of finite values.
pub fn age_trend(points: &[(f64, f64)]) -> Option<AgeEffect> {
    let sessions = session_medians(points);
    let (first, last) = (sessions.first()?.0, sessions.last()?.0);
    if sessions.len() < MIN_SESSIONS {
        return None;
    }
    let pairs =
        || sessions.iter().enumerate().flat_map(|(i, a)| sessions[i + 1..].iter().map(move |b| (a, b)));
    let slopes =
        sorted_copy(&pairs().map(|(a, b)| (b.1 - a.1) / (b.0 - a.0) * YEAR_DAYS).collect::<Vec<f64>>());
    let score: f64 = pairs().map(|(a, b)| if a.1 == b.1 { 0.0 } else { (b.1 - a.1).signum() }).sum();
    let n = sessions.len() as f64;
    // Standard deviation of Kendall's score for n sessions in random order.
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let share = NORMAL_QUANTILE_975 * deviation / slopes.len() as f64 / 2.0;
    let per_year = quantile_of_sorted(&slopes, 0.5)?;
    let middle = median(&sessions.iter().map(|s| s.1).collect::<Vec<f64>>())?;
    let years = (last - first) / YEAR_DAYS;
    let p = (2.0 * Normal::standard().sf((score.abs() - 1.0).max(0.0) / deviation)).min(1.0);
    Some(AgeEffect {
        sessions: sessions.len() as u32,
        years,
        per_year,
        ci95: [quantile_of_sorted(&slopes, 0.5 - share)?, quantile_of_sorted(&slopes, 0.5 + share)?],
        percent_per_year: (middle != 0.0).then(|| 100.0 * per_year / middle.abs()),
        p,
        real: p < SIGNIFICANCE_LEVEL && (per_year * years).abs() > NOTABLE_CHANGE * middle.abs(),
    })
}

fn session_medians(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut known: Vec<(f64, f64)> =
        points.iter().copied().filter(|(day, value)| day.is_finite() && value.is_finite()).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sessions = Vec::new();
    let mut rest = &known[..];
    while let Some((first, _)) = rest.first() {
        let (session, later) = rest.split_at(rest.partition_point(|(day, _)| *day <= first + SESSION_DAYS));
        sessions.extend(median_point(session));
        rest = later;
    }
    let joined = sessions.len().div_ceil(MAX_SESSIONS).max(1);
    sessions.chunks(joined).filter_map(median_point).collect()
}

fn median_point(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let of = |f: fn(&(f64, f64)) -> f64| median(&points.iter().map(f).collect::<Vec<f64>>());
    Some((of(|p| p.0)?, of(|p| p.1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;
    use proptest::prelude::*;

    /// Monthly sessions of three runs with a yearly change, and 2 % of noise between sessions.
    fn card(months: usize, change: f64, random: &mut SeededRandom) -> Vec<(f64, f64)> {
        let month = |i: usize| 30.4 * i as f64;
        let mut session = |i: usize| {
            let level = 80.0 * (1.0 + change * month(i) / YEAR_DAYS) * (1.0 + 0.02 * random.normal());
            [0.1, 0.2, 0.3].map(|hour| (month(i) + hour, level * (1.0 + 0.005 * random.normal())))
        };
        (0..months).flat_map(&mut session).collect()
    }

    #[test]
    fn yearly_loss_of_a_tenth_is_found() {
        let found = age_trend(&card(12, -0.10, &mut SeededRandom::from_state(1))).unwrap();
        assert!(found.real && found.sessions == 12, "{found:?}");
        assert!((found.percent_per_year.unwrap() + 10.0).abs() < 4.0, "{found:?}");
        assert!(found.ci95[0] < -8.0 && -8.0 < found.ci95[1] && found.ci95[1] < 0.0, "{found:?}");
    }

    #[test]
    fn runs_of_one_day_are_one_session() {
        let afternoon: Vec<(f64, f64)> =
            (0..40).map(|i| (100.5 + 0.01 * f64::from(i), 90.0 - f64::from(i))).collect();
        assert_eq!(age_trend(&afternoon), None);
    }

    #[test]
    fn age_handles_extreme_inputs() {
        assert_eq!(age_trend(&[(f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)]), None);
        let standing = age_trend(&[(0.0, 0.0), (50.0, 0.0), (100.0, 0.0), (150.0, 0.0)]).unwrap();
        assert_eq!((standing.real, standing.per_year, standing.percent_per_year), (false, 0.0, None));
        let mut random = SeededRandom::from_state(5);
        let long: Vec<(f64, f64)> = (0..9000).map(|d| (f64::from(d), 50.0 + random.normal())).collect();
        let found = age_trend(&long).unwrap();
        assert!(found.sessions <= 300 && !found.real, "{found:?}");
    }

    proptest! {
        #[test]
        fn age_is_within_its_interval_and_reverses_with_time(
            points in prop::collection::vec((0.0..2000.0f64, 0.0..500.0f64), 0..40),
        ) {
            let Some(found) = age_trend(&points) else { return Ok(()) };
            prop_assert!(found.ci95[0] <= found.per_year && found.per_year <= found.ci95[1]);
            prop_assert!((0.0..=1.0).contains(&found.p));
            let mirrored: Vec<(f64, f64)> = points.iter().map(|(day, value)| (*day, 500.0 - value)).collect();
            let turned = age_trend(&mirrored).unwrap();
            prop_assert!((turned.per_year + found.per_year).abs() < 1e-6 * (1.0 + found.per_year.abs()));
        }
    }
}
