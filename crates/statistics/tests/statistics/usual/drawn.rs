//! Series drawn from the spread table, with parameters between its entries, which the method does not know.

use cardscope_model::random::SeededRandom;
use cardscope_statistics::priors::{KindSpread, SpreadTable, lists};

/// Kind of series with its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Law {
    Steady { deviation: f64, correlation: f64 },
    Jumping { deviation: f64, slow: f64, stay: f64, step: f64 },
}

/// Draws from a list by its shares, moved by up to half a step, evenly on a linear or logarithmic scale.
fn pick(shares: &[f64], list: &[f64], random: &mut SeededRandom, logarithmic: bool) -> f64 {
    let mut left = random.unit_interval() * shares.iter().sum::<f64>();
    let at = shares.iter().position(|share| {
        left -= share;
        left <= 0.0
    });
    let at = at.unwrap_or(list.len() - 1);
    let by = random.unit_interval() - 0.5;
    let next = if by > 0.0 { (at + 1).min(list.len() - 1) } else { at.saturating_sub(1) };
    if logarithmic {
        (list[at].ln() * (1.0 - by.abs()) + list[next].ln() * by.abs()).exp()
    } else {
        list[at] * (1.0 - by.abs()) + list[next] * by.abs()
    }
}

impl Law {
    pub(super) fn draw(spread: &KindSpread, random: &mut SeededRandom) -> Law {
        if random.unit_interval() < spread.jumping {
            Law::Jumping {
                deviation: pick(&spread.within, &lists::DEVIATIONS[..lists::LEVEL_DEVIATIONS], random, true),
                slow: pick(&spread.slow, &lists::SLOW_SHARES, random, false),
                stay: pick(&spread.stay, &lists::STAY_PROBABILITIES, random, false),
                step: spread.factor.ln() + spread.factor_deviation * random.normal(),
            }
        } else {
            Law::Steady {
                deviation: pick(&spread.deviation, &lists::DEVIATIONS, random, true),
                correlation: pick(&spread.correlation, &lists::CORRELATIONS, random, false),
            }
        }
    }

    /// Speeds of `count` runs in MB/s around a usual speed, given as its logarithm.
    pub(super) fn runs(self, usual: f64, count: usize, random: &mut SeededRandom) -> Vec<f64> {
        match self {
            Law::Steady { deviation, correlation: by } => {
                let mut off = random.normal();
                let mut run = |_| {
                    let now = off;
                    off = by * off + (1.0 - by * by).sqrt() * random.normal();
                    (usual + deviation * now).exp()
                };
                (0..count).map(&mut run).collect()
            }
            Law::Jumping { deviation, slow, stay, step } => {
                let mut at_slow = random.unit_interval() < slow;
                let mut run = |place| {
                    if place > 0 && random.unit_interval() > stay {
                        at_slow = random.unit_interval() < slow;
                    }
                    let level = if at_slow { -step * (1.0 - slow) } else { step * slow };
                    (usual + level + deviation * random.normal()).exp()
                };
                (0..count).map(&mut run).collect()
            }
        }
    }
}

/// Distance of two cards by the table.
pub(super) fn apart(table: &SpreadTable, random: &mut SeededRandom) -> f64 {
    pick(&table.cards, &lists::CARD_DISTANCES, random, true) * random.normal()
}
