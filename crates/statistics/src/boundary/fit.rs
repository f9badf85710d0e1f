//! Fit of boundary levels: one extra time from the page size on and one from the erase block size on. All pairs of sizes,
//! including none, are compared by BIC, with a χ² that no single level can dominate.

use super::BoundaryLevel;
use super::candidate_sizes::{CandidateUnits, is_boundary};
use crate::page_size::gauss_eliminate;

/// Squared deviation (4 σ) above which a level hardly adds cost, since a single bad place must not decide.
const CLIP_SQUARE: f64 = 16.0;

/// Slow growth beyond it, so that the nearer of two fits that both miss a level wins.
const TAIL_GROWTH: f64 = 4.0;

fn clipped_square(off: f64) -> f64 {
    let square = off * off;
    if square <= CLIP_SQUARE { square } else { CLIP_SQUARE + TAIL_GROWTH * (square / CLIP_SQUARE).ln() }
}

/// Rounds of reweighting. Heights converge to a percent in five.
const SOFT_ROUNDS: usize = 6;

const EFFECT_PARAMETERS: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitStep {
    pub bytes: u64,
    pub height: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EffectChoice {
    /// Unit and height, None if the fit without the effect is better.
    pub step: Option<UnitStep>,
    pub confidence: f64,
    /// BIC advantage over the best alternative.
    pub lead: f64,
    pub nearest: Option<UnitStep>,
    pub none: f64,
    /// Candidates that are not excluded, most likely first. 0 stands for none.
    pub open: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LevelFit {
    pub offset: f64,
    pub page: EffectChoice,
    pub unit: EffectChoice,
    /// Ratio of the scatter to the errors of the levels, at least 1.
    pub scatter: f64,
}

impl LevelFit {
    pub fn expected_extra(&self, level: u64) -> f64 {
        let of = |choice: &EffectChoice| {
            choice.step.filter(|s| is_boundary(s.bytes, level)).map_or(0.0, |s| s.height)
        };
        self.offset + of(&self.page) + of(&self.unit)
    }
}

/// Pair of candidates, 0 for none, with its best heights.
#[derive(Debug, Clone, Copy)]
struct UnitAccount {
    page: u64,
    unit: u64,
    /// Offset, height at the page, height at the unit.
    heights: [f64; 3],
    bic: f64,
}

pub fn fit_levels(levels: &[BoundaryLevel], candidates: &CandidateUnits) -> Option<LevelFit> {
    if levels.len() < 4 {
        return None;
    }
    let first = all_accounts(levels, candidates, 1.0);
    let scatter = residual_scatter(levels, best_account(&first)?);
    let all = all_accounts(levels, candidates, scatter);
    let best = *best_account(&all)?;
    let page = marginal_choice(&all, best, |a| (a.page, a.heights[1]));
    let unit = marginal_choice(&all, best, |a| (a.unit, a.heights[2]));
    Some(LevelFit { offset: best.heights[0], page, unit, scatter })
}

pub fn height_error(levels: &[BoundaryLevel], unit: u64) -> f64 {
    let weight = |on: bool| {
        let side = levels.iter().filter(|l| is_boundary(unit, l.bytes) == on);
        side.map(|l| l.error.powi(-2)).sum::<f64>()
    };
    (1.0 / weight(true) + 1.0 / weight(false)).sqrt()
}

/// Searches a further step above the erase blocks (segments of the mapping table). `left` are the residuals of the first
/// fit. None if there are none.
pub fn fit_segment(left: &[BoundaryLevel], segments: &[u64]) -> Option<EffectChoice> {
    let none = UnitAccount { page: 0, unit: 0, heights: [0.0; 3], bic: single_step_chi2(left, 0, 0.0) };
    let penalty = EFFECT_PARAMETERS * (left.len() as f64).max(2.0).ln();
    let one = |segment: u64| {
        let on = || left.iter().filter(|l| is_boundary(segment, l.bytes));
        let weights: f64 = on().map(|l| 1.0 / l.error.powi(2)).sum();
        let weighted: f64 = on().map(|l| l.extra / l.error.powi(2)).sum();
        let heights = [0.0, 0.0, weighted / weights];
        let bic = single_step_chi2(left, segment, heights[2]) + penalty;
        (weights > 0.0 && heights[2] > 0.0).then_some(UnitAccount { page: 0, unit: segment, heights, bic })
    };
    let all: Vec<UnitAccount> = [none].into_iter().chain(segments.iter().filter_map(|s| one(*s))).collect();
    let best = *best_account(&all).filter(|_| !left.is_empty())?;
    Some(marginal_choice(&all, best, |a| (a.unit, a.heights[2])))
}

fn single_step_chi2(left: &[BoundaryLevel], segment: u64, height: f64) -> f64 {
    let off = |l: &BoundaryLevel| (l.extra - extra_at(&[0.0, 0.0, height], 0, segment, l.bytes)) / l.error;
    left.iter().map(|l| clipped_square(off(l))).sum()
}

fn best_account(all: &[UnitAccount]) -> Option<&UnitAccount> {
    all.iter().min_by(|a, b| a.bic.total_cmp(&b.bic))
}

fn all_accounts(levels: &[BoundaryLevel], candidates: &CandidateUnits, scatter: f64) -> Vec<UnitAccount> {
    let none = std::iter::once(0);
    let pages: Vec<u64> = none.clone().chain(candidates.pages.iter().copied()).collect();
    let units: Vec<u64> = none.chain(candidates.units.iter().copied()).collect();
    let fits = |page: u64, unit: u64| page == 0 || unit == 0 || unit.is_multiple_of(page);
    let pairs = pages.iter().flat_map(|p| units.iter().map(move |u| (*p, *u)));
    pairs.filter(|(p, u)| fits(*p, *u)).filter_map(|(p, u)| fit_account(levels, p, u, scatter)).collect()
}

fn fit_account(levels: &[BoundaryLevel], page: u64, unit: u64, scatter: f64) -> Option<UnitAccount> {
    let effects = f64::from(u8::from(page != 0)) + f64::from(u8::from(unit != 0));
    let penalty = effects * EFFECT_PARAMETERS * (levels.len() as f64).ln();
    let points: Vec<LevelPoint> = levels.iter().map(|l| LevelPoint::new(l, page, unit, scatter)).collect();
    // First a robust fit by absolute distances, which a few outliers cannot bend, then least squares of the levels close
    // to it.
    let mut soft = solve_heights(&points, page, unit, |_| 1.0);
    for _ in 0..SOFT_ROUNDS {
        let heights = soft?;
        soft = solve_heights(&points, page, unit, |p| 1.0 / p.standardized_residual(&heights).abs().max(1.0));
    }
    let soft = soft?;
    let near = solve_heights(&points, page, unit, |p| {
        f64::from(u8::from(p.standardized_residual(&soft).powi(2) <= CLIP_SQUARE))
    });
    let positive = |h: &[f64; 3]| (page == 0 || h[1] > 0.0) && (unit == 0 || h[2] > 0.0);
    let heights = [Some(soft), near].into_iter().flatten().filter(positive);
    let cost = |h: &[f64; 3]| {
        points.iter().map(|p| clipped_square(p.standardized_residual(h))).sum::<f64>() + penalty
    };
    let costs = heights.map(|h| (h, cost(&h)));
    let (heights, bic) = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(UnitAccount { page, unit, heights, bic })
}

struct LevelPoint {
    page: f64,
    unit: f64,
    extra: f64,
    error: f64,
}

impl LevelPoint {
    fn new(level: &BoundaryLevel, page: u64, unit: u64, scatter: f64) -> LevelPoint {
        let on = |unit: u64| f64::from(u8::from(is_boundary(unit, level.bytes)));
        LevelPoint { page: on(page), unit: on(unit), extra: level.extra, error: level.error * scatter }
    }

    fn standardized_residual(&self, heights: &[f64; 3]) -> f64 {
        (self.extra - heights[0] - heights[1] * self.page - heights[2] * self.unit) / self.error
    }
}

/// Weighted least squares of offset and heights, None if the solution is not unique.
fn solve_heights(
    points: &[LevelPoint],
    page: u64,
    unit: u64,
    trust: impl Fn(&LevelPoint) -> f64,
) -> Option<[f64; 3]> {
    let mut system = [[0.0; 4]; 3];
    for point in points {
        let weight = trust(point) / (point.error * point.error);
        let row = [1.0, point.page, point.unit, point.extra];
        for (line, a) in system.iter_mut().zip(row) {
            line.iter_mut().zip(row).for_each(|(cell, b)| *cell += weight * a * b);
        }
    }
    // Effects that the fit does not use are 0.
    for (place, _) in [(1, page), (2, unit)].iter().filter(|(_, bytes)| *bytes == 0) {
        system[*place] = [0.0; 4];
        system[*place][*place] = system[0][0];
    }
    let least = 1e-9 * system[0][0];
    gauss_eliminate(&mut system, least)?;
    Some([0, 1, 2].map(|i| system[i][3] / system[i][i]))
}

fn extra_at(heights: &[f64; 3], page: u64, unit: u64, level: u64) -> f64 {
    let on = |unit: u64, height: f64| if is_boundary(unit, level) { height } else { 0.0 };
    heights[0] + on(page, heights[1]) + on(unit, heights[2])
}

/// Ratio of residuals to errors, by the median, so that a few outliers do not make the whole card look uncertain.
fn residual_scatter(levels: &[BoundaryLevel], account: &UnitAccount) -> f64 {
    let off = |l: &BoundaryLevel| {
        ((l.extra - extra_at(&account.heights, account.page, account.unit, l.bytes)) / l.error).abs()
    };
    let mut all: Vec<f64> = levels.iter().map(off).collect();
    // Half of all normal deviates lie within 0.6745 standard deviations.
    cardscope_model::statistics::median_in_place(&mut all).map_or(1.0, |m| (m / 0.6745).max(1.0))
}

fn marginal_choice(
    all: &[UnitAccount],
    best: UnitAccount,
    of: impl Fn(&UnitAccount) -> (u64, f64),
) -> EffectChoice {
    // Unit, unnormalized probability, and its best BIC.
    let mut weights: Vec<(u64, f64, f64)> = Vec::new();
    for account in all {
        let bytes = of(account).0;
        let weight = (-(account.bic - best.bic) / 2.0).exp();
        match weights.iter_mut().find(|w| w.0 == bytes) {
            Some(known) => *known = (bytes, known.1 + weight, known.2.min(account.bic)),
            None => weights.push((bytes, weight, account.bic)),
        }
    }
    let total: f64 = weights.iter().map(|w| w.1).sum();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let chosen = weights.first().map_or(0, |w| w.0);
    let least = |bytes: u64| all.iter().filter(|a| of(a).0 == bytes).min_by(|a, b| a.bic.total_cmp(&b.bic));
    let step = |bytes: u64| least(bytes).map(|a| UnitStep { bytes, height: of(a).1 });
    let others = weights.iter().filter(|w| w.0 != chosen).map(|w| w.2).fold(f64::INFINITY, f64::min);
    let own = weights.iter().find(|w| w.0 == chosen).map_or(best.bic, |w| w.2);
    EffectChoice {
        step: step(chosen).filter(|s| s.bytes != 0),
        confidence: weights.first().map_or(0.0, |w| w.1 / total),
        lead: others - own,
        none: weights.iter().find(|w| w.0 == 0).map_or(0.0, |w| w.1 / total),
        nearest: weights.iter().find(|w| w.0 != 0).and_then(|w| step(w.0)),
        open: weights.iter().filter(|w| w.1 > total * MIN_PROBABILITY).map(|w| w.0).collect(),
    }
}

const MIN_PROBABILITY: f64 = 1e-3;
