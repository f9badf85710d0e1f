//! One quantity over time, smoothed so that single outliers do not decide.

use cardscope_model::statistics::median_in_place;

pub(super) use crate::robust::MAD_SCALE;

/// Running median of odd `width`; at the ends of what is there.
pub(super) fn smoothed(values: &[f64], width: usize) -> Vec<f64> {
    running(values, width, |window| median_in_place(window).unwrap_or_default())
}

/// A running quantile, to the next value that is there.
pub(super) fn running_quantile(values: &[f64], width: usize, q: f64) -> Vec<f64> {
    running(values, width, |window| {
        let place = (q * (window.len() - 1) as f64).round() as usize;
        *window.select_nth_unstable_by(place, f64::total_cmp).1
    })
}

fn running(values: &[f64], width: usize, statistic: impl Fn(&mut [f64]) -> f64) -> Vec<f64> {
    let half = width / 2;
    let mut window = Vec::with_capacity(width);
    (0..values.len())
        .map(|i| {
            window.clear();
            window.extend_from_slice(&values[i.saturating_sub(half)..(i + half + 1).min(values.len())]);
            statistic(&mut window)
        })
        .collect()
}

/// Scatter from one value to the next, blind to levels: robust deviation of the differences over √2.
pub(super) fn scatter(values: &[f64]) -> f64 {
    let mut steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    median_in_place(&mut steps).unwrap_or_default() * MAD_SCALE / std::f64::consts::SQRT_2
}

/// Fills what is missing with the value before it; `None` where there is none at all.
pub(super) fn filled(values: &[Option<f64>]) -> Option<Vec<f64>> {
    let first = values.iter().flatten().next().copied()?;
    let mut last = first;
    Some(
        values
            .iter()
            .map(|value| {
                last = value.unwrap_or(last);
                last
            })
            .collect(),
    )
}

/// Stretches of true values: first and one behind the last; those up to `bridge` apart are one.
pub(super) fn stretches(mask: &[bool], bridge: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (i, _) in mask.iter().enumerate().filter(|(_, is)| **is) {
        match found.last_mut() {
            Some((_, end)) if i - *end <= bridge => *end = i + 1,
            _ => found.push((i, i + 1)),
        }
    }
    found
}
