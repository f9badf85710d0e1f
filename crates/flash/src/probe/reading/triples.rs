//! Triples of reads before, on and behind a boundary, several boundaries at a time in one random order: what drifts
//! cancels, and no read follows another one of its own boundary, whose unit the controller might still hold.

use super::reads::{ReadDeadline, ReadTester};
use super::survey::ReadSurvey;
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_model::statistics::median;
use cardscope_statistics::boundary::{BoundaryLevel, LevelFit, TRIMMED_WIDER, trimmed};
use std::collections::BTreeMap;

/// Boundaries whose reads are mixed.
pub(super) const BOUNDARIES: usize = 10;

/// Draws for a boundary with data on both sides of it, where places without data answer differently.
const TRIES: usize = 24;

/// A level with fewer triples says nothing yet.
const LEAST: usize = 4;

/// From so many triples on a level is known to scatter more than the others.
const OWN_SPREAD: usize = 24;

/// No clock and no card is steadier than this share of a read's time.
const LEAST_ERROR: f64 = 2e-4;

/// Times of a triple in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadTriple {
    /// The unit whose boundary it is.
    pub(super) level: u64,
    /// Mean of the reads before and behind.
    pub(super) beside: f64,
    /// What the read on the boundary takes longer.
    pub(super) extra: f64,
}

/// Times the boundaries of these levels, each somewhere else, as far as there is time.
pub(super) fn triples(
    reads: &mut ReadTester<'_, '_, '_>,
    survey: &ReadSurvey,
    levels: &[u64],
    end: ReadDeadline,
) -> Result<Vec<ReadTriple>, ProbeStop> {
    let mut boundaries = Vec::new();
    for level in levels {
        if let Some(at) = boundary(reads, survey, *level, end)? {
            boundaries.push((*level, at));
        }
    }
    let (len, order) = (reads.two_sectors(), order(reads, boundaries.len()));
    let mut times = vec![[None; 3]; boundaries.len()];
    for (which, kind) in order {
        if end.is_there(reads.context) {
            break;
        }
        times[which][kind] = reads.context.read(part(boundaries[which].1, kind, len))?;
    }
    let usable = |t: f64| survey.modes.is_none_or(|m| t > m.split);
    let triple = |(level, times): (u64, &[Option<f64>; 3])| match times {
        [Some(pre), Some(on), Some(post)] if usable(*pre) && usable(*post) => {
            let beside = (pre + post) / 2.0;
            Some(ReadTriple { level, beside, extra: on - beside })
        }
        _ => None,
    };
    Ok(boundaries.iter().map(|b| b.0).zip(&times).filter_map(triple).collect())
}

/// The read before, on or behind a boundary.
fn part(at: u64, kind: usize, len: u64) -> CardExtent {
    CardExtent { offset: at - len + kind as u64 * len / 2, len: len as u32 }
}

/// A random multiple of the level by a factor that holds neither 2 nor 3, so that it is one of no larger level.
fn boundary(
    reads: &mut ReadTester<'_, '_, '_>,
    survey: &ReadSurvey,
    level: u64,
    end: ReadDeadline,
) -> Result<Option<u64>, ProbeStop> {
    let len = reads.two_sectors();
    let most = reads.len.saturating_sub(len) / level;
    let places = 2 * (most / 6) + u64::from(most % 6 >= 1) + u64::from(most % 6 >= 5);
    if places == 0 {
        return Ok(None);
    }
    for _ in 0..if survey.modes.is_some() { TRIES } else { 1 } {
        let n = reads.context.random.below(places);
        let at = level * (6 * (n / 2) + 1 + 4 * (n % 2));
        if survey.modes.is_none() && !survey.warm {
            return Ok(Some(at));
        }
        if end.is_there(reads.context) {
            return Ok(None);
        }
        // Backwards: a read that continues the last one would answer too fast.
        let sides = (reads.context.read(part(at, 2, len))?, reads.context.read(part(at, 0, len))?);
        if let (Some(post), Some(pre)) = sides
            && survey.modes.is_none_or(|m| pre > m.split && post > m.split)
        {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// All parts of so many boundaries in a random order, in which no two neighbours belong to one boundary.
fn order(reads: &mut ReadTester<'_, '_, '_>, boundaries: usize) -> Vec<(usize, usize)> {
    let mut order: Vec<(usize, usize)> = (0..boundaries).flat_map(|b| (0..3).map(move |k| (b, k))).collect();
    reads.context.random.shuffle(&mut order);
    for i in 1..order.len() {
        if order[i].0 == order[i - 1].0
            && let Some(other) = (i + 1..order.len()).find(|j| order[*j].0 != order[i].0)
        {
            order.swap(i, other);
        }
    }
    order
}

/// Triples by level.
#[derive(Debug, Default)]
pub(super) struct TripleLevels {
    extras: BTreeMap<u64, Vec<f64>>,
    beside: Vec<f64>,
}

impl TripleLevels {
    pub(super) fn add(&mut self, triples: &[ReadTriple]) {
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
    pub(super) fn levels(&self) -> Vec<BoundaryLevel> {
        let (common, least) = (self.spread(), self.base() * LEAST_ERROR);
        let level = |(bytes, extras): (&u64, &Vec<f64>)| {
            let (extra, own) = trimmed(extras).filter(|_| extras.len() >= LEAST)?;
            let spread = if extras.len() >= OWN_SPREAD { own.max(common) } else { common };
            let error = TRIMMED_WIDER * spread / (extras.len() as f64).sqrt();
            Some(BoundaryLevel { bytes: *bytes, extra, error: error.max(least) })
        };
        self.extras.iter().filter_map(level).collect()
    }
}

/// What the search for page and erase block came to.
pub(super) struct UnitSearch {
    pub(super) levels: TripleLevels,
    pub(super) fit: Option<LevelFit>,
    pub(super) points: Vec<BoundaryLevel>,
}
