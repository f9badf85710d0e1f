//! The fit: one extra time from the page on, another from the erase block on, each possibly absent. All pairs are
//! tried, weighed by BIC with a χ² that no single level can dominate.

use super::BoundaryLevel;
use super::levels::{CandidateUnits, divides};
use crate::bend::eliminate;

/// Beyond four deviations a level counts hardly more: one place on a real card that does not fit must not decide.
const CLIP: f64 = 16.0;

/// How slowly it goes on growing there, so that of two accounts that both miss a level the nearer one is preferred.
const TAIL: f64 = 4.0;

/// What a level adds to χ².
fn weighed(off: f64) -> f64 {
    let square = off * off;
    if square <= CLIP { square } else { CLIP + TAIL * (square / CLIP).ln() }
}

/// Rounds of reweighting; the heights settle to a percent in five.
const SOFT_ROUNDS: usize = 6;

/// An effect costs two parameters: where it begins, and how large it is.
const PARAMETERS: f64 = 2.0;

/// Extra time from a unit on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitStep {
    /// The unit in bytes.
    pub bytes: u64,
    /// Extra time of a read across it, in the unit of the levels.
    pub height: f64,
}

/// What was chosen for one effect.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectChoice {
    /// The unit and its height; `None` where no effect is the better account.
    pub step: Option<UnitStep>,
    /// Probability of the choice among all that were considered.
    pub confidence: f64,
    /// How much worse the best other choice is, in BIC.
    pub lead: f64,
    /// The most probable unit, also where none was chosen, and its height.
    pub nearest: Option<UnitStep>,
    /// Probability that there is no such effect.
    pub none: f64,
    /// Units that are not yet excluded (0 stands for none), most probable first.
    pub open: Vec<u64>,
}

/// The account of all levels.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelFit {
    /// Extra time where no unit is crossed; about 0.
    pub offset: f64,
    /// Effective page.
    pub page: EffectChoice,
    /// Erase block.
    pub unit: EffectChoice,
    /// How much more the levels scatter around it than their errors say; at least 1.
    pub scatter: f64,
}

impl LevelFit {
    /// What it expects at a level.
    pub fn at(&self, level: u64) -> f64 {
        let of =
            |choice: &EffectChoice| choice.step.filter(|s| divides(s.bytes, level)).map_or(0.0, |s| s.height);
        self.offset + of(&self.page) + of(&self.unit)
    }
}

/// One pair of units, or of none, with its best heights.
#[derive(Debug, Clone, Copy)]
struct UnitAccount {
    page: u64,
    unit: u64,
    /// Offset, height at the page, height at the unit.
    heights: [f64; 3],
    bic: f64,
}

/// Finds the best account of the levels. `None` for fewer than four levels.
pub fn fit(levels: &[BoundaryLevel], candidates: &CandidateUnits) -> Option<LevelFit> {
    if levels.len() < 4 {
        return None;
    }
    let first = accounts(levels, candidates, 1.0);
    let scatter = scatter(levels, best(&first)?);
    let all = accounts(levels, candidates, scatter);
    let best = *best(&all)?;
    let heights = |a: &UnitAccount| (a.heights[1], a.heights[2]);
    let page = choice(&all, best, |a| (a.page, heights(a).0));
    let unit = choice(&all, best, |a| (a.unit, heights(a).1));
    Some(LevelFit { offset: best.heights[0], page, unit, scatter })
}

/// Standard error of the height of a step at a unit: the levels that cross it against those that do not.
pub fn height_error(levels: &[BoundaryLevel], unit: u64) -> f64 {
    let weight = |on: bool| {
        let side = levels.iter().filter(|l| divides(unit, l.bytes) == on);
        side.map(|l| l.error.powi(-2)).sum::<f64>()
    };
    (1.0 / weight(true) + 1.0 / weight(false)).sqrt()
}

/// Looks for one more extra time above the levels of erase blocks. The levels' extra times are what a fit of the
/// lower ones left over. `None` for no levels.
pub fn fit_segment(left: &[BoundaryLevel], segments: &[u64]) -> Option<EffectChoice> {
    let none = UnitAccount { page: 0, unit: 0, heights: [0.0; 3], bic: left_over(left, 0, 0.0) };
    let penalty = PARAMETERS * (left.len() as f64).max(2.0).ln();
    let one = |segment: u64| {
        let (weighted, weights) = left
            .iter()
            .filter(|l| divides(segment, l.bytes))
            .map(|l| (l.extra / l.error.powi(2), 1.0 / l.error.powi(2)))
            .fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        let heights = [0.0, 0.0, weighted / weights];
        let bic = left_over(left, segment, heights[2]) + penalty;
        (weights > 0.0 && heights[2] > 0.0).then_some(UnitAccount { page: 0, unit: segment, heights, bic })
    };
    let all: Vec<UnitAccount> =
        std::iter::once(none).chain(segments.iter().filter_map(|s| one(*s))).collect();
    let best = *best(&all).filter(|_| !left.is_empty())?;
    Some(choice(&all, best, |a| (a.unit, a.heights[2])))
}

/// χ² of levels around a single step.
fn left_over(left: &[BoundaryLevel], segment: u64, height: f64) -> f64 {
    let off = |l: &BoundaryLevel| (l.extra - at(&[0.0, 0.0, height], 0, segment, l.bytes)) / l.error;
    left.iter().map(|l| weighed(off(l))).sum()
}

fn best(all: &[UnitAccount]) -> Option<&UnitAccount> {
    all.iter().min_by(|a, b| a.bic.total_cmp(&b.bic))
}

/// Every pair in which the page divides the unit, with heights that are not negative.
fn accounts(levels: &[BoundaryLevel], candidates: &CandidateUnits, scatter: f64) -> Vec<UnitAccount> {
    let none = std::iter::once(0);
    let pages: Vec<u64> = none.clone().chain(candidates.pages.iter().copied()).collect();
    let units: Vec<u64> = none.chain(candidates.units.iter().copied()).collect();
    let fits = |page: u64, unit: u64| page == 0 || unit == 0 || unit.is_multiple_of(page);
    let pairs = pages.iter().flat_map(|p| units.iter().map(move |u| (*p, *u)));
    pairs.filter(|(p, u)| fits(*p, *u)).filter_map(|(p, u)| account(levels, p, u, scatter)).collect()
}

fn account(levels: &[BoundaryLevel], page: u64, unit: u64, scatter: f64) -> Option<UnitAccount> {
    let effects = f64::from(u8::from(page != 0)) + f64::from(u8::from(unit != 0));
    let penalty = effects * PARAMETERS * (levels.len() as f64).ln();
    let points: Vec<LevelPoint> = levels.iter().map(|l| LevelPoint::new(l, page, unit, scatter)).collect();
    // First the line that the sum of distances likes best, which a few odd levels cannot bend; then the squares of
    // those that lie near it.
    let mut soft = solve(&points, page, unit, |_| 1.0);
    for _ in 0..SOFT_ROUNDS {
        let heights = soft?;
        soft = solve(&points, page, unit, |p| 1.0 / p.off(&heights).abs().max(1.0));
    }
    let soft = soft?;
    let near = solve(&points, page, unit, |p| f64::from(u8::from(p.off(&soft).powi(2) <= CLIP)));
    let positive = |h: &[f64; 3]| (page == 0 || h[1] > 0.0) && (unit == 0 || h[2] > 0.0);
    let heights = [Some(soft), near].into_iter().flatten().filter(positive);
    let cost = |h: &[f64; 3]| points.iter().map(|p| weighed(p.off(h))).sum::<f64>() + penalty;
    let costs = heights.map(|h| (h, cost(&h)));
    let (heights, bic) = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(UnitAccount { page, unit, heights, bic })
}

/// A level as one account sees it: which units it is a multiple of, as 0 or 1.
struct LevelPoint {
    page: f64,
    unit: f64,
    extra: f64,
    error: f64,
}

impl LevelPoint {
    fn new(level: &BoundaryLevel, page: u64, unit: u64, scatter: f64) -> LevelPoint {
        let on = |unit: u64| f64::from(u8::from(divides(unit, level.bytes)));
        LevelPoint { page: on(page), unit: on(unit), extra: level.extra, error: level.error * scatter }
    }

    /// How many errors it lies above the account.
    fn off(&self, heights: &[f64; 3]) -> f64 {
        (self.extra - heights[0] - heights[1] * self.page - heights[2] * self.unit) / self.error
    }
}

/// Least squares for offset and heights, each level with a weight besides its error; `None` where the levels do not
/// tell them apart.
fn solve(
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
    // What an account does without is 0.
    for (place, _) in [(1, page), (2, unit)].iter().filter(|(_, bytes)| *bytes == 0) {
        system[*place] = [0.0; 4];
        system[*place][*place] = system[0][0];
    }
    let least = 1e-9 * system[0][0];
    eliminate(&mut system, least)?;
    Some([0, 1, 2].map(|i| system[i][3] / system[i][i]))
}

/// Extra time of an account at a level.
fn at(heights: &[f64; 3], page: u64, unit: u64, level: u64) -> f64 {
    let on = |unit: u64, height: f64| if divides(unit, level) { height } else { 0.0 };
    heights[0] + on(page, heights[1]) + on(unit, heights[2])
}

/// How much wider than their errors the levels lie around an account. The middle of the residuals is taken, so that
/// a few odd levels do not make a card look uncertain as a whole.
fn scatter(levels: &[BoundaryLevel], account: &UnitAccount) -> f64 {
    let off = |l: &BoundaryLevel| {
        ((l.extra - at(&account.heights, account.page, account.unit, l.bytes)) / l.error).abs()
    };
    let mut all: Vec<f64> = levels.iter().map(off).collect();
    // A normal deviate lies within 0.6745 deviations half of the time.
    cardscope_model::statistics::median_in_place(&mut all).map_or(1.0, |m| (m / 0.6745).max(1.0))
}

/// The probabilities of what the accounts say of one effect, the other left open.
fn choice(all: &[UnitAccount], best: UnitAccount, of: impl Fn(&UnitAccount) -> (u64, f64)) -> EffectChoice {
    // By unit: probability (not yet of sum 1), and its best account.
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
        open: weights.iter().filter(|w| w.1 > total * STILL_OPEN).map(|w| w.0).collect(),
    }
}

/// A unit less probable than this is excluded.
const STILL_OPEN: f64 = 1e-3;
