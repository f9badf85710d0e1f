//! What goes wrong with a card whatever its capacity is: bits that flip, units that go bad, commands that fail, the
//! moment at which it vanishes. None of it is timing; what costs time only stands in the other tables.

use super::check::{SECTOR, Verdict, whole_sectors};
use super::fake::chosen_units;
use serde::{Deserialize, Serialize};

/// Faults; which places they hit is the seed's choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Bytes written to the card before any of the following begins, but for vanishing; 0 for a card that was born
    /// with them.
    pub begin_after_bytes: u64,
    /// Size of the units that go bad.
    pub unit_bytes: u64,
    /// Share of the units that lose what is in them; a lost block reads as `fake.lost` says.
    pub lost_share: f64,
    /// Share of the units of which each read and each write fails.
    pub failing_share: f64,
    /// Probability for each sector written that one of its bits is the wrong one, each time it is read.
    pub flip_p: f64,
    /// Probability for each sector read that one of its bits is wrong this time.
    pub read_flip_p: f64,
    /// Probability that a read fails; the next try may not.
    pub read_error_p: f64,
    /// Probability that a write fails.
    pub write_error_p: f64,
    /// The card answers no more after so many bytes written.
    pub vanish_after_bytes: Option<u64>,
    /// The same after so many reads and writes.
    pub vanish_after_ios: Option<u64>,
    /// The same after so many seconds of its clock.
    pub vanish_after_s: Option<f64>,
}

impl Default for Faults {
    fn default() -> Self {
        Faults {
            begin_after_bytes: 0,
            unit_bytes: 4 << 20,
            lost_share: 0.0,
            failing_share: 0.0,
            flip_p: 0.0,
            read_flip_p: 0.0,
            read_error_p: 0.0,
            write_error_p: 0.0,
            vanish_after_bytes: None,
            vanish_after_ios: None,
            vanish_after_s: None,
        }
    }
}

/// More flips than this are no flips any more.
const MOST_FLIPS: f64 = 0.01;

impl Faults {
    /// True where the card has none.
    #[must_use]
    pub fn none(&self) -> bool {
        let Faults { begin_after_bytes, unit_bytes, .. } = *self;
        *self == Faults { begin_after_bytes, unit_bytes, ..Faults::default() }
    }

    pub(super) fn check(&self, announced: u64) -> Verdict {
        let unit = ("faults.unit_bytes", self.unit_bytes);
        chosen_units(unit, ("faults.lost_share", self.lost_share), announced)?;
        chosen_units(unit, ("faults.failing_share", self.failing_share), announced)?;
        for (key, value, most) in [
            ("faults.flip_p", self.flip_p, MOST_FLIPS),
            ("faults.read_flip_p", self.read_flip_p, MOST_FLIPS),
            ("faults.read_error_p", self.read_error_p, 1.0),
            ("faults.write_error_p", self.write_error_p, 1.0),
        ] {
            if !(0.0..=most).contains(&value) {
                return Err(format!("{key} = {value} must be 0 to {most}"));
            }
        }
        whole_sectors("faults.vanish_after_bytes", self.vanish_after_bytes.unwrap_or(SECTOR))?;
        match self.vanish_after_s {
            Some(s) if !(0.0..=1e9).contains(&s) => {
                Err(format!("faults.vanish_after_s = {s} must be 0 to 1000000000 seconds"))
            }
            _ => Ok(()),
        }
    }
}
