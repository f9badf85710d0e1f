//! Lasting fall of speed in a long write, where a cache ends (docs/reference/flash.md#pslc-cache). Robust against single
//! slow chunks and noisy series.

use crate::robust::robust_deviation;
use cardscope_model::statistics::median;

const WINDOW_CHUNKS: usize = 7;

const LOWER_WINDOWS: usize = 3;

/// Least fall, as a logarithm: 15 %.
const MIN_LOG_FALL: f64 = 0.16;

const MIN_CHUNKS_BEFORE: usize = 5;

/// Scatter above which chunks are joined before the search.
const MAX_SCATTER: f64 = 0.08;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteChunk {
    pub bytes: f64,
    pub seconds: f64,
}

impl WriteChunk {
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes / self.seconds
    }

    fn join_all(chunks: &[WriteChunk]) -> Option<WriteChunk> {
        chunks
            .iter()
            .copied()
            .reduce(|a, b| WriteChunk { bytes: a.bytes + b.bytes, seconds: a.seconds + b.seconds })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedFall {
    /// Bytes before the fall, interpolated within a chunk.
    pub bytes: f64,
    pub chunks: usize,
    /// Speed before it, in bytes per second.
    pub before: f64,
    /// Speed after it, in bytes per second.
    pub after: f64,
    /// Size of the fall in standard errors of the window's median.
    pub sigmas: f64,
}

/// Finds the first fall that lasts to the end of the series.
pub fn find_fall(chunks: &[WriteChunk]) -> Option<SpeedFall> {
    let joined = chunks_to_join(chunks)?;
    let units: Vec<WriteChunk> = chunks.chunks(joined).filter_map(WriteChunk::join_all).collect();
    let logs: Vec<f64> = units.iter().map(|c| c.bytes_per_second().ln()).collect();
    let last = logs.len();
    let enough = last >= MIN_CHUNKS_BEFORE + WINDOW_CHUNKS + LOWER_WINDOWS - 1;
    let fell = enough && (0..LOWER_WINDOWS).all(|back| is_lower(&logs[..last - back]));
    fell.then(|| locate_fall(chunks, &units, &logs, joined)).flatten()
}

/// Number of chunks to join so that their speeds scatter little, judged by the steps between neighbours: a fall is a single
/// step, noise is many. None if there are too few chunks.
fn chunks_to_join(chunks: &[WriteChunk]) -> Option<usize> {
    let mut joined = 1;
    while chunks.len() / joined >= MIN_CHUNKS_BEFORE + WINDOW_CHUNKS {
        let units = chunks.chunks_exact(joined).filter_map(WriteChunk::join_all);
        let logs: Vec<f64> = units.map(|c| c.bytes_per_second().ln()).collect();
        let steps: Vec<f64> = logs.windows(2).map(|w| w[1] - w[0]).collect();
        let scatter = robust_deviation(&steps, 0.0).unwrap_or(0.0) / std::f64::consts::SQRT_2;
        if scatter <= MAX_SCATTER {
            return Some(joined);
        }
        joined *= 2;
    }
    None
}

fn is_lower(logs: &[f64]) -> bool {
    let (before, window) = logs.split_at(logs.len() - WINDOW_CHUNKS);
    let (Some(level), Some(now)) = (median(before), median(window)) else { return false };
    let spread = robust_deviation(before, level).unwrap_or(0.0);
    now - level < -MIN_LOG_FALL.max(3.5 * spread / (WINDOW_CHUNKS as f64).sqrt())
}

/// Splits the series into two levels with the least absolute deviation, and interpolates within the chunk at the split.
fn locate_fall(all: &[WriteChunk], units: &[WriteChunk], logs: &[f64], joined: usize) -> Option<SpeedFall> {
    let cost = |part: &[f64]| {
        let level = median(part).unwrap_or(0.0);
        part.iter().map(|v| (v - level).abs()).sum::<f64>()
    };
    let splits = 1..logs.len().saturating_sub(2);
    let at = splits.min_by(|a, b| {
        let total = |i: usize| cost(&logs[..i]) + cost(&logs[i..]);
        total(*a).total_cmp(&total(*b))
    })?;
    let (before, after) = (median(&logs[..at])?, median(&logs[at..])?);
    let spread = robust_deviation(&logs[..at], before)?.max(0.01);
    let (before, after) = (before.exp(), after.exp());
    // The fall may lie in the last unit before the split or in the first one after it.
    let edge = |i: usize| units.get(i).map_or(0.0, |unit| bytes_before_fall(*unit, before, after));
    let whole: f64 = units[..at - 1].iter().map(|unit| unit.bytes).sum();
    let bytes = whole + edge(at - 1) + edge(at);
    let sigmas = (before / after).ln() / (1.25 * spread / (WINDOW_CHUNKS as f64).sqrt());
    Some(SpeedFall { bytes, chunks: (at * joined).min(all.len()), before, after, sigmas })
}

fn bytes_before_fall(chunk: WriteChunk, before: f64, after: f64) -> f64 {
    let slow = chunk.bytes / after;
    let fast = chunk.bytes / before;
    (chunk.bytes * (slow - chunk.seconds) / (slow - fast)).clamp(0.0, chunk.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    const MIB: f64 = 1048576.0;

    fn series(levels: &[(usize, f64)], scatter: f64, seed: u64) -> Vec<WriteChunk> {
        let mut random = SeededRandom::from_state(seed);
        let bytes = 16.0 * MIB;
        let chunk = |mb_s: &f64, random: &mut SeededRandom| {
            let stall = if random.unit_interval() < 0.05 { 3.0 } else { 1.0 };
            let rate = mb_s * 1e6 * (scatter * random.normal()).exp() / stall;
            WriteChunk { bytes, seconds: bytes / rate }
        };
        levels
            .iter()
            .flat_map(|(n, mb_s)| (0..*n).map(|_| chunk(mb_s, &mut random)).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn cache_end_is_located_within_percents() {
        for seed in 0..100 {
            let found =
                find_fall(&series(&[(60, 80.0), (12, 45.0)], 0.04, seed)).unwrap_or_else(|| panic!("{seed}"));
            let expected = 60.0 * 16.0 * MIB;
            assert!((found.bytes / expected - 1.0).abs() < 0.08, "{seed}: {found:?}");
            assert!((found.after / 45e6 - 1.0).abs() < 0.06, "{seed}: {found:?}");
        }
    }

    #[test]
    fn stalls_are_no_fall() {
        let falls = |scatter: f64| {
            let alarms = |seed: &u64| {
                let all = series(&[(120, 20.0)], scatter, *seed);
                (15..all.len()).any(|n| find_fall(&all[..n]).is_some())
            };
            (0..50).filter(alarms).count()
        };
        assert_eq!(falls(0.03), 0);
        assert!(falls(0.15) <= 6, "{}", falls(0.15));
    }

    #[test]
    fn fall_is_interpolated_within_a_chunk() {
        let mut all = series(&[(30, 80.0)], 0.0, 1_000_003);
        all.iter_mut().for_each(|c| c.seconds = c.bytes / 80e6);
        let mixed = 16.0 * MIB * (0.25 / 80e6 + 0.75 / 20e6);
        all.push(WriteChunk { bytes: 16.0 * MIB, seconds: mixed });
        all.extend((0..12).map(|_| WriteChunk { bytes: 16.0 * MIB, seconds: 16.0 * MIB / 20e6 }));
        let found = find_fall(&all).unwrap();
        assert!((found.bytes / (30.25 * 16.0 * MIB) - 1.0).abs() < 0.002, "{found:?}");
    }
}
