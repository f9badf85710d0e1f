//! Effective page size from the cost of writes of different sizes: a write that covers a part of a page pays extra
//! (docs/reference/flash.md#cost-of-a-write).

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeTime {
    pub bytes: f64,
    pub seconds: f64,
    /// Standard error of the median, in seconds.
    pub error: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageBend {
    /// Page size in bytes, None if the times form a straight line.
    pub page: Option<f64>,
    pub confidence: f64,
    pub extra: f64,
}

pub const PAGE_COUNT: usize = 8;

pub const CANDIDATE_PAGES: [f64; PAGE_COUNT] =
    [2048.0, 4096.0, 8192.0, 12288.0, 16384.0, 24576.0, 32768.0, 49152.0];

/// Relative error of the model, because real cards do not follow a straight line exactly.
const MODEL_ERROR: f64 = 0.01;

const MIN_EXTRA_SHARE: f64 = 0.04;

/// Least extra time in seconds. Writing a part of a page requires reading the rest, which takes 25 µs on the fastest flash
/// (docs/reference/flash.md#pages).
const MIN_EXTRA_S: f64 = 25e-6;

/// Least log-likelihood ratio over a straight line: ΔBIC of 12, as for reads.
const MIN_EVIDENCE: f64 = 6.0;

/// Least misfit by which a bent line without a step is preferred. If only one size is below the page, both fit equally.
const MIN_BENT_ADVANTAGE: f64 = 0.5;

/// Finds the page size, None for fewer than five sizes.
pub fn find_page(times: &[SizeTime]) -> Option<PageBend> {
    if times.len() < 5 {
        return None;
    }
    let penalty = (times.len() as f64).ln();
    let straight = fit_page(times, None)?;
    let bent = CANDIDATE_PAGES.iter().filter_map(|size| fit_bent_line(times, *size));
    let bent = bent.map(|line| line.misfit).fold(f64::INFINITY, f64::min);
    // Log-likelihood ratio of each page to a straight line.
    let mut likelihood = [0.0; PAGE_COUNT];
    let mut extras = [0.0; PAGE_COUNT];
    for (i, page) in CANDIDATE_PAGES.iter().enumerate() {
        let Some(found) = fit_page(times, Some(*page)) else { continue };
        extras[i] = found.extra;
        let at_page = found.fixed + found.per_byte * page;
        let bends = bent + MIN_BENT_ADVANTAGE < found.misfit;
        likelihood[i] = match found.extra > (MIN_EXTRA_SHARE * at_page).max(MIN_EXTRA_S) && !bends {
            true => (straight.misfit - found.misfit - 2.0 * penalty) / 2.0,
            false => f64::NEG_INFINITY,
        };
    }
    let best = (0..PAGE_COUNT).max_by(|a, b| likelihood[*a].total_cmp(&likelihood[*b]))?;
    let top = likelihood[best].max(0.0);
    let all: f64 = likelihood.iter().map(|l| (l - top).exp()).sum::<f64>() + (-top).exp();
    let found = likelihood[best] > MIN_EVIDENCE;
    let confidence = if found { 1.0 } else { (-top).exp() } / all;
    let extra = if found { extras[best] } else { 0.0 };
    Some(PageBend { page: found.then_some(CANDIDATE_PAGES[best]), confidence, extra })
}

#[derive(Debug, Clone, Copy)]
struct BendFit {
    fixed: f64,
    per_byte: f64,
    extra: f64,
    misfit: f64,
}

/// Weighted least squares of a fixed time, a time per byte, an extra below the page and an extra for each cut page. Extras
/// must not be negative.
fn fit_page(times: &[SizeTime], page: Option<f64>) -> Option<BendFit> {
    let Some(page) = page else { return solve_weighted(times, &[]) };
    let below = |t: &SizeTime| f64::from(t.bytes < page);
    // Consecutive writes that are not a multiple of the page begin or end within one now and then.
    let cuts = |t: &SizeTime| if t.bytes < page { 0.0 } else { mean_cut_ends(t.bytes, page) };
    let with_below: Vec<f64> = times.iter().map(below).collect();
    let with_cuts: Vec<f64> = times.iter().map(cuts).collect();
    let is_cut = with_cuts.iter().any(|c| *c > 0.0);
    let both = is_cut.then(|| solve_weighted(times, &[&with_below, &with_cuts])).flatten();
    both.filter(|f| f.extra > 0.0).or_else(|| solve_weighted(times, &[&with_below]))
}

/// Fits a line with a smaller slope below `size` and no step. Such a bend comes from a controller whose own work grows
/// with the size of a write, not from a page.
fn fit_bent_line(times: &[SizeTime], size: f64) -> Option<BendFit> {
    let short: Vec<f64> = times.iter().map(|t| (size - t.bytes).max(0.0) / 1024.0).collect();
    solve_weighted(times, &[&short])
}

fn mean_cut_ends(bytes: f64, page: f64) -> f64 {
    let cut = (1..=16).filter(|n| (f64::from(*n) * bytes) % page != 0.0).count();
    2.0 * cut as f64 / 16.0
}

fn solve_weighted(times: &[SizeTime], extras: &[&[f64]]) -> Option<BendFit> {
    let n = 2 + extras.len();
    let row = |i: usize| {
        let mut row = vec![1.0, times[i].bytes / 1024.0];
        row.extend(extras.iter().map(|e| e[i]));
        row
    };
    let weight = |t: &SizeTime| 1.0 / (t.error.powi(2) + (MODEL_ERROR * t.seconds).powi(2));
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for (i, t) in times.iter().enumerate() {
        let (x, w) = (row(i), weight(t));
        for a in 0..n {
            for b in 0..n {
                matrix[a][b] += w * x[a] * x[b];
            }
            matrix[a][n] += w * x[a] * t.seconds;
        }
    }
    gauss_eliminate(&mut matrix, 1e-12)?;
    let found: Vec<f64> = (0..n).map(|i| matrix[i][n] / matrix[i][i]).collect();
    if found[2..].iter().any(|extra| *extra < 0.0) {
        return None;
    }
    let predicted = |i: usize| row(i).iter().zip(&found).map(|(x, c)| x * c).sum::<f64>();
    let misfit = times.iter().enumerate().map(|(i, t)| weight(t) * (t.seconds - predicted(i)).powi(2)).sum();
    let extra = found.get(2).copied().unwrap_or(0.0);
    Some(BendFit { fixed: found[0], per_byte: found[1] / 1024.0, extra, misfit })
}

/// Gaussian elimination with the largest pivot and the right side in the last column, down to a diagonal matrix. None if a
/// pivot is at most `least`, so that the solution is not unique.
pub(crate) fn gauss_eliminate<R: AsRef<[f64]> + AsMut<[f64]> + Clone>(
    system: &mut [R],
    least: f64,
) -> Option<()> {
    let n = system.len();
    for column in 0..n {
        let size = |row: &usize| system[*row].as_ref()[column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        system.swap(column, pivot);
        let top = system[column].clone();
        let top = top.as_ref();
        if top[column].is_nan() || top[column].abs() <= least {
            return None;
        }
        for (_, row) in system.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let row = row.as_mut();
            let factor = row[column] / top[column];
            row.iter_mut().zip(top).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    const SIZES_KIB: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0];

    fn card(page_kib: Option<f64>, extra_ms: f64, seed: u64) -> Vec<SizeTime> {
        let mut random = SeededRandom::from_state(seed);
        let time = |kib: &f64| {
            let page = page_kib.unwrap_or(0.001);
            let cut = if *kib < page { 1.0 } else { mean_cut_ends(*kib, page) };
            let extra = if page_kib.is_some() { extra_ms * cut } else { 0.0 };
            let seconds = (1.5 + kib / 12.0 + extra) * 1e-3;
            SizeTime {
                bytes: kib * 1024.0,
                seconds: seconds * (0.01 * random.normal()).exp(),
                error: 0.01 * seconds,
            }
        };
        SIZES_KIB.iter().map(time).collect()
    }

    #[test]
    fn every_page_size_is_found_at_half_a_millisecond() {
        for page in [8.0, 16.0, 24.0, 32.0, 48.0] {
            for seed in 0..40 {
                let found = page_of(page, seed);
                assert_eq!(found.page, Some(page * 1024.0), "{seed}: {found:?}");
            }
        }
    }

    fn page_of(kib: f64, seed: u64) -> PageBend {
        find_page(&card(Some(kib), 0.5, seed)).unwrap()
    }

    /// Fake card whose controller time grows from 4 KiB on (random card 7000424).
    #[test]
    fn bend_without_a_step_is_no_page() {
        let of = |seed| {
            let mut random = SeededRandom::from_state(seed);
            let time = |kib: &f64| {
                let seconds = (2.04 + 0.388 * kib + 0.0865 * (kib - 4.0).max(0.0)) * 1e-3;
                let noise = (0.005 * random.normal()).exp();
                SizeTime { bytes: kib * 1024.0, seconds: seconds * noise, error: 0.005 * seconds }
            };
            SIZES_KIB.iter().map(time).collect::<Vec<_>>()
        };
        let wrong: Vec<u64> = (0..400).filter(|seed| find_page(&of(*seed)).unwrap().page.is_some()).collect();
        // Without the model of a bent line 395 of the answers are wrong.
        assert!(wrong.len() <= 8, "{wrong:?}");
    }

    #[test]
    fn straight_line_is_no_page() {
        let wrong =
            (0..200).filter(|seed| find_page(&card(None, 0.0, *seed)).unwrap().page.is_some()).count();
        assert!(wrong <= 2, "{wrong} of 200");
        assert_eq!(find_page(&[]), None);
    }
}
