//! Speed levels of a series: change points by binary segmentation of speed and read times together, so that a step that
//! only reads show is found too.

use super::{SeriesSlice, fill_gaps, neighbour_scatter, running_median};
use cardscope_model::statistics::median;

/// Slices in a block: one second.
const BLOCK_SLICES: usize = 4;

/// Least blocks of a level.
const MIN_LEVEL_BLOCKS: usize = 2;

/// Scatter of the speed from which blocks are enlarged (docs/reference/flash.md#pslc-cache) …
const MAX_BLOCK_SCATTER: f64 = 0.08;

/// … as long as at least so many are left.
const MIN_BLOCKS: usize = 24;

/// Least step, as a logarithm. Cards vary by a few percent without a cause.
pub(super) const MIN_LOG_STEP: f64 = 0.07;

/// Cost of a further level in units of log-likelihood, for each doubling of the number of blocks.
const LEVEL_PENALTY: f64 = 8.0;

/// Slices at the beginning that are examined one by one, because a cache of a few dozen MiB is full before the first
/// blocks are …
const OPENING_SLICES: usize = 10;

/// … of which at least so many must be faster, each of them …
const MIN_FAST_SLICES: usize = 2;

/// … by this logarithm: the end of a cache is below 82 % (docs/reference/flash.md#causes-of-a-slow-spell) …
const MIN_OPENING_STEP: f64 = 0.2;

/// … and by so many times the scatter.
const OPENING_SCATTER: f64 = 6.0;

/// Range of constant speed.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedRange {
    pub from: usize,
    /// End, exclusive.
    pub to: usize,
    /// Median speed in bytes per second.
    pub speed: f64,
    pub ci95: [f64; 2],
    /// Median time of small reads in seconds.
    pub probe_s: Option<f64>,
    /// Median time of long reads in seconds.
    pub long_read_s: Option<f64>,
}

/// Logarithms of all quantities by block.
struct SliceBlock {
    /// Slices in a block.
    each: usize,
    /// A row for each quantity.
    rows: Vec<SpeedRow>,
    /// Indices of the slices that count.
    places: Vec<usize>,
}

struct SpeedRow {
    sums: Vec<f64>,
    squares: Vec<f64>,
    variance: f64,
}

impl SpeedRow {
    fn new(values: &[f64]) -> Self {
        let calm = running_median(values, 3);
        // A card of constant speed has no scatter, so a minimum below any clock's resolution is used.
        let deviation = neighbour_scatter(values).max(0.005);
        let prefix = |value: &dyn Fn(f64) -> f64| {
            let mut sums = vec![0.0];
            calm.iter().for_each(|v| sums.push(sums[sums.len() - 1] + value(*v)));
            sums
        };
        SpeedRow { sums: prefix(&|v| v), squares: prefix(&|v| v * v), variance: deviation * deviation }
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        (self.sums[to] - self.sums[from]) / (to - from) as f64
    }

    fn level_cost(&self, from: usize, to: usize) -> f64 {
        let (sum, count) = (self.sums[to] - self.sums[from], (to - from) as f64);
        (self.squares[to] - self.squares[from] - sum * sum / count).max(0.0) / (2.0 * self.variance)
    }
}

/// Least slices of a level whose read times are judged.
pub(super) const MIN_READ_SLICES: usize = BLOCK_SLICES * MIN_LEVEL_BLOCKS;

/// Levels of a series, in order. Slices in `skip` (stalls, bursts) do not count. Writes may be fast for less than the
/// shortest level.
pub(super) fn find_speed_levels(slices: &[SeriesSlice], skip: &[bool], writes: bool) -> Vec<SpeedRange> {
    let places: Vec<usize> = (0..slices.len()).filter(|i| !skip[*i] && slices[*i].seconds > 0.0).collect();
    if places.len() < MIN_READ_SLICES {
        return Vec::new();
    }
    let blocks = calm_blocks(slices, places);
    let count = blocks.rows[0].sums.len() - 1;
    let mut ends = vec![0, count];
    split_range(&blocks, 0, count, &mut ends);
    ends.sort_unstable();
    let all = blocks.places.len();
    let slice_of = |end: usize| if end == count { all } else { end * blocks.each };
    let mut bounds: Vec<usize> = ends.into_iter().map(slice_of).collect();
    if writes && let Some(fast) = fast_opening(slices, &blocks.places[..bounds[1]]) {
        bounds.insert(1, fast);
    }
    merge_seams(slices, &blocks.places, bounds)
}

/// Levels between `bounds`. If speed and reads step in different blocks, the range between the steps is merged with the
/// neighbour of the same speed.
fn merge_seams(slices: &[SeriesSlice], places: &[usize], mut bounds: Vec<usize>) -> Vec<SpeedRange> {
    bounds.dedup();
    let of = |from: usize, to: usize| level_of_slices(slices, &places[from..to]);
    let mut at = 0;
    while bounds.len() > 2 && at + 1 < bounds.len() {
        let (from, to) = (bounds[at], bounds[at + 1]);
        let apart = |other: SpeedRange| (of(from, to).speed / other.speed).ln().abs();
        let before = at.checked_sub(1).map(|b| (apart(of(bounds[b], from)), at));
        let after = bounds.get(at + 2).map(|end| (apart(of(to, *end)), at + 1));
        let nearest = [before, after].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        match nearest.filter(|(apart, _)| to - from <= MIN_READ_SLICES && *apart < MIN_LOG_STEP) {
            Some((_, seam)) => {
                bounds.remove(seam);
                at = at.saturating_sub(1);
            }
            None => at += 1,
        }
    }
    bounds.windows(2).map(|w| of(w[0], w[1])).collect()
}

/// Number of slices at the beginning of the first level that are faster than the rest of it.
fn fast_opening(slices: &[SeriesSlice], places: &[usize]) -> Option<usize> {
    let logs: Vec<f64> = places.iter().map(|i| slices[*i].speed().max(1.0).ln()).collect();
    let most = OPENING_SLICES.min(logs.len() / 2);
    let apart = MIN_OPENING_STEP.max(OPENING_SCATTER * neighbour_scatter(&logs));
    let faster = |fast: &usize| {
        let (head, rest) = logs.split_at(*fast);
        median(head).zip(median(rest)).is_some_and(|(head_log, rest_log)| {
            head_log - rest_log > apart && head.iter().all(|l| *l - rest_log > apart / 2.0)
        })
    };
    (MIN_FAST_SLICES..=most).rev().find(faster)
}

/// Enlarges blocks until their speed hardly scatters.
fn calm_blocks(slices: &[SeriesSlice], places: Vec<usize>) -> SliceBlock {
    let mut each = BLOCK_SLICES;
    loop {
        let speeds = block_speeds(slices, &places, each);
        if neighbour_scatter(&speeds) <= MAX_BLOCK_SCATTER || places.len() / (2 * each) < MIN_BLOCKS {
            let mut rows = vec![SpeedRow::new(&speeds)];
            rows.extend(read_time_row(slices, &places, each, |s| s.probe_s));
            rows.extend(read_time_row(slices, &places, each, |s| s.long_read_s));
            return SliceBlock { each, rows, places };
        }
        each *= 2;
    }
}

/// Chunks of `each` slices. The last one includes the remainder.
fn whole_chunks(places: &[usize], each: usize) -> impl Iterator<Item = &[usize]> {
    let whole = (places.len() / each).max(1);
    (0..whole).map(move |k| &places[k * each..if k + 1 == whole { places.len() } else { (k + 1) * each }])
}

fn block_speeds(slices: &[SeriesSlice], places: &[usize], each: usize) -> Vec<f64> {
    whole_chunks(places, each)
        .map(|chunk| {
            let bytes: f64 = chunk.iter().map(|i| slices[*i].bytes as f64).sum();
            let seconds: f64 = chunk.iter().map(|i| slices[*i].seconds).sum();
            (bytes / seconds).max(1.0).ln()
        })
        .collect()
}

fn read_time_row(
    slices: &[SeriesSlice],
    places: &[usize],
    each: usize,
    value: impl Fn(&SeriesSlice) -> Option<f64>,
) -> Option<SpeedRow> {
    let of = |chunk: &[usize]| {
        let values: Vec<f64> = chunk.iter().filter_map(|i| value(&slices[*i])).collect();
        median(&values).filter(|m| *m > 0.0).map(f64::ln)
    };
    let values: Vec<Option<f64>> = whole_chunks(places, each).map(of).collect();
    fill_gaps(&values).map(|values| SpeedRow::new(&values))
}

/// Splits at the best place, then splits both parts.
fn split_range(blocks: &SliceBlock, from: usize, to: usize, ends: &mut Vec<usize>) {
    let Some((at, gain)) = best_split(blocks, from, to) else { return };
    let count = blocks.rows[0].sums.len() as f64;
    let steps = |row: &SpeedRow| (row.mean(at, to) - row.mean(from, at)).abs();
    let largest = blocks.rows.iter().map(steps).fold(0.0, f64::max);
    // Two opposite steps may cancel out in the means, so parts with a large gain are split all the same.
    let penalty = LEVEL_PENALTY * count.max(2.0).log2();
    if gain < penalty || (largest < MIN_LOG_STEP && gain < 10.0 * penalty) {
        return;
    }
    ends.push(at);
    split_range(blocks, from, at, ends);
    split_range(blocks, at, to, ends);
}

fn best_split(blocks: &SliceBlock, from: usize, to: usize) -> Option<(usize, f64)> {
    if to - from < 2 * MIN_LEVEL_BLOCKS {
        return None;
    }
    let cost = |from, to| blocks.rows.iter().map(|row| row.level_cost(from, to)).sum::<f64>();
    let whole = cost(from, to);
    let places = from + MIN_LEVEL_BLOCKS..=to - MIN_LEVEL_BLOCKS;
    places.map(|at| (at, whole - cost(from, at) - cost(at, to))).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Medians over the given slices.
pub(super) fn level_of_slices(slices: &[SeriesSlice], places: &[usize]) -> SpeedRange {
    let (from, to) = (places[0], places[places.len() - 1] + 1);
    let of = |value: fn(&SeriesSlice) -> Option<f64>| {
        median(&places.iter().filter_map(|i| value(&slices[*i])).collect::<Vec<_>>())
    };
    let speeds: Vec<f64> = places.iter().map(|i| slices[*i].speed()).collect();
    let speed = median(&speeds).unwrap_or_default();
    let (probe_s, long_read_s) = (of(|s| s.probe_s), of(|s| s.long_read_s));
    SpeedRange { from, to, speed, ci95: median_interval(&speeds), probe_s, long_read_s }
}

/// Distribution-free 95 % interval of a median: the order statistics at n/2 ± 0.98 √n.
fn median_interval(values: &[f64]) -> [f64; 2] {
    let ordered = cardscope_model::statistics::sorted_copy(values);
    let (n, half) = (values.len() as f64, 0.98 * (values.len() as f64).sqrt());
    let at = |place: f64| ordered[(place.max(0.0) as usize).min(ordered.len() - 1)];
    [at((n / 2.0 - half).floor()), at((n / 2.0 + half).ceil())]
}
