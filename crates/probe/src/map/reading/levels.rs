//! What was timed so far, level by level, as the fit wants it.

use super::window::Triple;
use cardscope_analysis::boundary::{Fit, Level, TRIMMED_WIDER, trimmed};
use cardscope_model::statistics::median;
use std::collections::BTreeMap;

/// A level with fewer triples says nothing yet.
const LEAST: usize = 4;

/// From so many triples on a level is known to scatter more than the others.
const OWN_SPREAD: usize = 24;

/// No clock and no card is steadier than this share of a read's time.
const LEAST_ERROR: f64 = 2e-4;

/// Triples by level.
#[derive(Debug, Default)]
pub(super) struct Levels {
    extras: BTreeMap<u64, Vec<f64>>,
    beside: Vec<f64>,
}

impl Levels {
    pub(super) fn add(&mut self, triples: &[Triple]) {
        for triple in triples {
            self.extras.entry(triple.level).or_default().push(triple.extra);
            self.beside.push(triple.beside);
        }
    }

    /// How many there are.
    pub(super) fn triples(&self) -> usize {
        self.beside.len()
    }

    /// Typical time of a read that crosses nothing, in seconds.
    pub(super) fn base(&self) -> f64 {
        median(&self.beside).unwrap_or(0.0)
    }

    /// Deviation of one triple, in seconds: the middle of the levels', since noise knows no boundaries.
    pub(super) fn spread(&self) -> f64 {
        let all: Vec<f64> = self.extras.values().filter_map(|e| trimmed(e)).map(|t| t.1).collect();
        median(&all).unwrap_or(0.0)
    }

    /// The levels with their extra times and errors in seconds, ascending.
    pub(super) fn levels(&self) -> Vec<Level> {
        let (common, least) = (self.spread(), self.base() * LEAST_ERROR);
        let level = |(bytes, extras): (&u64, &Vec<f64>)| {
            let (extra, own) = trimmed(extras).filter(|_| extras.len() >= LEAST)?;
            let spread = if extras.len() >= OWN_SPREAD { own.max(common) } else { common };
            let error = TRIMMED_WIDER * spread / (extras.len() as f64).sqrt();
            Some(Level { bytes: *bytes, extra, error: error.max(least) })
        };
        self.extras.iter().filter_map(level).collect()
    }
}

/// What the search for page and erase block came to.
pub(super) struct Found {
    pub(super) levels: Levels,
    pub(super) fit: Option<Fit>,
    pub(super) points: Vec<Level>,
}
