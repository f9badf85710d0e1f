//! Scatter of the times.

use super::check::{Verdict, seconds, share};
use serde::{Deserialize, Serialize};

/// Scatter: each cost is multiplied by exp(N(0, σ)), and now and then a hiccup is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// σ of a read's logarithm.
    pub read_sigma: f64,
    /// σ of a write's logarithm.
    pub write_sigma: f64,
    /// Probability of a hiccup per command \[p_o\].
    pub hiccup_p: f64,
    /// Mean length of a hiccup in seconds, exponentially distributed \[t_o\].
    pub hiccup_s: f64,
}

impl Noise {
    pub(super) fn check(&self) -> Verdict {
        share("noise.read_sigma", self.read_sigma)?;
        share("noise.write_sigma", self.write_sigma)?;
        share("noise.hiccup_p", self.hiccup_p)?;
        seconds("noise.hiccup_s", self.hiccup_s)
    }
}
