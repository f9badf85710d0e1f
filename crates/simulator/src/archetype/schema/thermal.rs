//! Heat.

use super::check::{Verdict, positive, share};
use serde::{Deserialize, Serialize};

/// What a hot card saves at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throttle {
    /// Its clock: everything takes longer.
    #[default]
    Clock,
    /// The share of the time for which its data path may be busy: what leaves it idle anyway is as fast as before.
    Duty,
}

/// Heat (model, T): one thermal node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// True where the card reports its temperature (NVMe does, SD does not).
    pub sensor: bool,
    /// Temperature around it in °C \[T_amb\].
    pub ambient_c: f64,
    /// Resistance to the surroundings without a fan, in K/W.
    pub passive_k_per_w: f64,
    /// The same with a fan.
    pub active_k_per_w: f64,
    /// Heat capacity in J/K \[C_th\].
    pub capacity_j_per_k: f64,
    /// Power at rest in W.
    pub idle_w: f64,
    /// Power while a command is under way in W \[P_op\].
    pub busy_w: f64,
    /// Added power in W while reads keep the data path busy without a pause \[e_r\].
    pub read_w: f64,
    /// The same for writes \[e_w\].
    pub write_w: f64,
    /// Light throttling from this temperature on, in °C \[TMT1\].
    pub tmt1_c: f64,
    /// Heavy throttling from this temperature on, in °C \[TMT2\].
    pub tmt2_c: f64,
    /// Kelvin below a limit at which its throttling ends.
    pub hysteresis_k: f64,
    /// What throttling slows down.
    #[serde(default)]
    pub throttle: Throttle,
    /// Speed of reads under light throttling, as a share \[f₁\].
    pub light_read: f64,
    /// Speed of writes under light throttling, as a share.
    pub light_write: f64,
    /// Power of a command under way while throttled, as a share of `busy_w`: a lower clock draws less.
    #[serde(default = "one")]
    pub throttled_busy: f64,
    /// Speed under heavy throttling, as a share \[f₂\].
    pub heavy: f64,
}

fn one() -> f64 {
    1.0
}

impl Thermal {
    pub(super) fn check(&self) -> Verdict {
        for (key, value) in [
            ("thermal.passive_k_per_w", self.passive_k_per_w),
            ("thermal.active_k_per_w", self.active_k_per_w),
            ("thermal.capacity_j_per_k", self.capacity_j_per_k),
            ("thermal.light_read", self.light_read),
            ("thermal.light_write", self.light_write),
            ("thermal.heavy", self.heavy),
            ("thermal.throttled_busy", self.throttled_busy),
        ] {
            positive(key, value)?;
        }
        for (key, value) in [
            ("thermal.light_read", self.light_read),
            ("thermal.light_write", self.light_write),
            ("thermal.heavy", self.heavy),
            ("thermal.throttled_busy", self.throttled_busy),
        ] {
            share(key, value)?;
        }
        if self.tmt1_c > self.tmt2_c {
            let Thermal { tmt1_c, tmt2_c, .. } = self;
            return Err(format!("thermal.tmt1_c = {tmt1_c} is above thermal.tmt2_c = {tmt2_c}"));
        }
        Ok(())
    }
}
