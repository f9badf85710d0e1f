//! Triples of reads before, on and after a boundary. The reads of several boundaries are mixed in random order, so
//! drift cancels, and no read follows another one of the same boundary, which the controller's buffer could answer.

use super::options::Result;
use super::read_tester::{ReadDeadline, ReadTester};
use super::survey::ReadSurvey;
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::statistics::median;
use cardscope_statistics::boundary::{BoundaryLevel, LevelFit, TRIMMED_ERROR_RATIO, trimmed_mean};
use std::collections::BTreeMap;

pub(super) const BOUNDARIES: usize = 10;

/// Attempts to find a boundary with data on both sides, on cards with unwritten areas.
const MAX_DRAWS: usize = 24;

const MIN_TRIPLES: usize = 4;

/// Least triples for which a level's own scatter replaces the common one, if larger.
const OWN_SCATTER_TRIPLES: usize = 24;

/// Least error of a level, as a share of a read's time.
const MIN_ERROR_SHARE: f64 = 2e-4;

/// Times of a triple, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadTriple {
    pub(super) level: u64,
    /// Mean of the reads before and after.
    pub(super) mean_s: f64,
    /// Extra time of the read on the boundary.
    pub(super) extra_s: f64,
}

/// Times one boundary of each of `levels`, at random positions, until `end`.
pub(super) fn time_triples(
    reads: &mut ReadTester,
    survey: &ReadSurvey,
    levels: &[u64],
    end: ReadDeadline,
) -> Result<Vec<ReadTriple>> {
    let mut boundaries = Vec::new();
    for level in levels {
        if let Some(at) = draw(reads, survey, *level, end)? {
            boundaries.push((*level, at));
        }
    }
    let (len, order) = (reads.two_sectors_bytes(), shuffle_parts(reads, boundaries.len()));
    let mut times = vec![[None; 3]; boundaries.len()];
    for (which, kind) in order {
        if end.is_reached(reads.context) {
            break;
        }
        times[which][kind] = reads.context.time_read(triple_extent(boundaries[which].1, kind, len))?;
    }
    // Reads of unwritten positions are dropped, since they need no flash access and cross no boundary.
    let usable = |t: f64| survey.modes.is_none_or(|m| t > m.split);
    let triple = |(level, times): (u64, &[Option<f64>; 3])| match times {
        [Some(pre), Some(on), Some(post)] if usable(*pre) && usable(*post) => {
            let beside = (pre + post) / 2.0;
            Some(ReadTriple { level, mean_s: beside, extra_s: on - beside })
        }
        _ => None,
    };
    Ok(boundaries.iter().map(|b| b.0).zip(&times).filter_map(triple).collect())
}

/// Read before (0), on (1) or after (2) a boundary.
fn triple_extent(at: u64, kind: usize, len: u64) -> CardExtent {
    CardExtent { offset: at - len + kind as u64 * len / 2, len: len as u32 }
}

/// Random boundary of the level that is not one of a larger level: the factor has no divisor 2 or 3.
fn draw(reads: &mut ReadTester, survey: &ReadSurvey, level: u64, end: ReadDeadline) -> Result<Option<u64>> {
    let len = reads.two_sectors_bytes();
    let most = reads.len.saturating_sub(len) / level;
    let places = 2 * (most / 6) + u64::from(most % 6 >= 1) + u64::from(most % 6 >= 5);
    if places == 0 {
        return Ok(None);
    }
    for _ in 0..if survey.modes.is_some() { MAX_DRAWS } else { 1 } {
        let n = reads.context.random.below(places);
        let at = level * (6 * (n / 2) + 1 + 4 * (n % 2));
        if survey.modes.is_none() && !survey.needs_warm_up {
            return Ok(Some(at));
        }
        if end.is_reached(reads.context) {
            return Ok(None);
        }
        // In descending order, since a read that continues the previous one is served by read-ahead.
        let post = reads.context.time_read(triple_extent(at, 2, len))?;
        let sides = reads.context.time_read(triple_extent(at, 0, len))?.zip(post);
        let is_slow = |(pre, post)| survey.modes.is_none_or(|m| pre > m.split && post > m.split);
        if sides.is_some_and(is_slow) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Parts of all boundaries in random order, without neighbours of the same boundary.
fn shuffle_parts(reads: &mut ReadTester, boundaries: usize) -> Vec<(usize, usize)> {
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

#[derive(Debug, Default)]
pub(super) struct TripleLevels {
    extras: BTreeMap<u64, Vec<f64>>,
    beside: Vec<f64>,
}

impl TripleLevels {
    pub(super) fn add(&mut self, triples: &[ReadTriple]) {
        for triple in triples {
            self.extras.entry(triple.level).or_default().push(triple.extra_s);
            self.beside.push(triple.mean_s);
        }
    }

    pub(super) fn triple_count(&self) -> usize {
        self.beside.len()
    }

    /// Median time of a read that crosses no boundary, in seconds.
    pub(super) fn plain_read_s(&self) -> f64 {
        median(&self.beside).unwrap_or(0.0)
    }

    /// Scatter of one triple, in seconds: the median of all levels, since noise does not depend on the boundary.
    pub(super) fn triple_scatter(&self) -> f64 {
        let all: Vec<f64> = self.extras.values().filter_map(|e| trimmed_mean(e)).map(|t| t.1).collect();
        median(&all).unwrap_or(0.0)
    }

    /// Extra time and error of each level in seconds, in ascending order of size.
    pub(super) fn levels(&self) -> Vec<BoundaryLevel> {
        let (common, least) = (self.triple_scatter(), self.plain_read_s() * MIN_ERROR_SHARE);
        let level = |(bytes, extras): (&u64, &Vec<f64>)| {
            let (extra, own) = trimmed_mean(extras).filter(|_| extras.len() >= MIN_TRIPLES)?;
            let spread = if extras.len() >= OWN_SCATTER_TRIPLES { own.max(common) } else { common };
            let error = TRIMMED_ERROR_RATIO * spread / (extras.len() as f64).sqrt();
            Some(BoundaryLevel { bytes: *bytes, extra, error: error.max(least) })
        };
        self.extras.iter().filter_map(level).collect()
    }
}

pub(super) struct UnitSearch {
    pub(super) levels: TripleLevels,
    pub(super) fit: Option<LevelFit>,
    pub(super) points: Vec<BoundaryLevel>,
}
