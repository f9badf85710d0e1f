//! Scatter of times.
//!
//! Each I/O draws one number and looks up its factor: exp() and ln() for millions of I/Os would cost more than the rest
//! of the model. Both come from the libm crate here and in the whole model, since the C library's results differ in the
//! last bit from version to version, and a seed must give the same times on every computer.

use crate::archetype::schema;
use cardscope_model::random::SeededRandom;
use std::sync::LazyLock;

/// Factors in a table: a power of two, so that bits of the random number select one.
const TABLE_SIZE: usize = 1024;

#[derive(Debug)]
pub(crate) struct NoiseSource {
    pub(super) random: SeededRandom,
    read: Box<[f32; TABLE_SIZE]>,
    write: Box<[f32; TABLE_SIZE]>,
    /// A hiccup occurs if the upper half of the random number is below this.
    hiccup_below: u32,
    hiccup_ns: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NoiseDraw {
    pub(crate) factor: f64,
    /// Added to the cost, in ns.
    pub(crate) hiccup_ns: f64,
}

impl NoiseSource {
    pub(crate) fn new(noise: &schema::CostNoise, seed: u64) -> Self {
        NoiseSource {
            random: SeededRandom::from_state(seed),
            read: factor_table(noise.read_sigma),
            write: factor_table(noise.write_sigma),
            hiccup_below: (noise.hiccup_p * f64::from(u32::MAX)) as u32,
            hiccup_ns: noise.hiccup_s * 1e9,
        }
    }

    #[inline]
    pub(crate) fn draw_noise(&mut self, write: bool) -> NoiseDraw {
        let bits = self.random.next_u64();
        let factors = if write { &self.write } else { &self.read };
        let mut draw = NoiseDraw { factor: f64::from(factors[bits as usize % TABLE_SIZE]), hiccup_ns: 0.0 };
        if ((bits >> 32) as u32) < self.hiccup_below {
            draw.hiccup_ns = -libm::log(self.random.above_zero()) * self.hiccup_ns;
        }
        draw
    }
}

static QUANTILES: LazyLock<[f64; TABLE_SIZE]> =
    LazyLock::new(|| std::array::from_fn(|i| normal_quantile((i as f64 + 0.5) / TABLE_SIZE as f64)));

/// Factors exp(σ·z) for these quantiles z.
fn factor_table(sigma: f64) -> Box<[f32; TABLE_SIZE]> {
    Box::new(QUANTILES.map(|z| libm::exp(sigma * z) as f32))
}

/// Quantile of the normal distribution, by bisection of its distribution function.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-6.0, 6.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Distribution function of the normal distribution (Abramowitz and Stegun 26.2.17: error below 7.5e-8).
pub(crate) fn normal_cdf(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let tail = series.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    let upper = tail * libm::exp(-z * z / 2.0) / (2.0 * std::f64::consts::PI).sqrt();
    if z < 0.0 { upper } else { 1.0 - upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(sigma: f64, hiccup_p: f64) -> NoiseSource {
        let table = schema::CostNoise { read_sigma: sigma, write_sigma: 0.0, hiccup_p, hiccup_s: 0.001 };
        NoiseSource::new(&table, 1)
    }

    #[test]
    fn factors_have_the_requested_sigma() {
        let mut n = noise(0.05, 0.0);
        let logs: Vec<f64> = (0..100_000).map(|_| n.draw_noise(false).factor.ln()).collect();
        let mean = logs.iter().sum::<f64>() / 1e5;
        let sd = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
        assert!(mean.abs() < 0.001 && (sd - 0.05).abs() < 0.001, "{mean} {sd}");
        assert_eq!(n.draw_noise(true).factor, 1.0);
    }

    #[test]
    fn hiccups_have_the_requested_rate_and_length() {
        let mut n = noise(0.0, 0.01);
        let hiccups: Vec<f64> =
            (0..1_000_000).map(|_| n.draw_noise(false).hiccup_ns).filter(|h| *h > 0.0).collect();
        let mean = hiccups.iter().sum::<f64>() / hiccups.len() as f64;
        assert!((9_700..10_300).contains(&hiccups.len()), "{}", hiccups.len());
        assert!((0.95e6..1.05e6).contains(&mean), "{mean}");
    }
}
