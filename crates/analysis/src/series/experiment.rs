//! Heat or a cache? Where the series leaves it open, the card is left alone for half a minute and asked again
//! (flash-behaviour 4.1, "active experiment"): heat goes with time whatever is done, a cache empties for writes only.

use super::Named;

/// Reads that gained so much by a pause were slowed by heat.
const READS_GAIN: f64 = 1.11;

/// Writes that gained so much found room in a cache, where reads gained nothing.
const WRITES_GAIN: f64 = 1.22;

/// Speeds around the pause, in any unit that is the same for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experiment {
    /// Reads just before the pause.
    pub reads_before: f64,
    /// Reads just after it.
    pub reads_after: f64,
    /// Writes before.
    pub writes_before: f64,
    /// Writes after.
    pub writes_after: f64,
    /// Writes after half a minute more of reading, in which the card could clean up but not cool down.
    pub writes_later: f64,
}

impl Experiment {
    /// Whether writes were faster after the pause than this by so much as only room in a cache explains.
    #[must_use]
    pub fn writes_beat(&self, speed: f64) -> bool {
        self.writes_after.max(self.writes_later) > WRITES_GAIN * speed
    }

    /// What the pause showed; both may hold.
    #[must_use]
    pub fn named(&self) -> Vec<Named> {
        let gain = |after: f64, before: f64| if before > 0.0 { after / before } else { 1.0 };
        let reads = gain(self.reads_after, self.reads_before);
        let writes = gain(self.writes_after.max(self.writes_later), self.writes_before);
        let heat = reads > READS_GAIN;
        // What heat took from the writes it took from the reads, too, within a quarter (flash-behaviour 2.3).
        let cache = if heat { writes > 1.35 * reads } else { writes > WRITES_GAIN };
        [(heat, Named::Throttling), (cache, Named::CacheEnd)]
            .into_iter()
            .filter_map(|(there, cause)| there.then_some(cause))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHE: Experiment = Experiment {
        reads_before: 750.0,
        reads_after: 748.0,
        writes_before: 290.0,
        writes_after: 610.0,
        writes_later: 610.0,
    };

    #[test]
    fn a_cache_gives_writes_back_and_takes_nothing_from_reads() {
        assert_eq!(CACHE.named(), [Named::CacheEnd]);
    }

    #[test]
    fn a_card_that_cooled_down_reads_and_writes_faster() {
        // Lexar without a fan: reads 0.72, writes 0.83 of the cool level.
        let heat = Experiment {
            reads_before: 540.0,
            reads_after: 750.0,
            writes_before: 234.0,
            writes_after: 282.0,
            writes_later: 240.0,
        };
        assert_eq!(heat.named(), [Named::Throttling]);
        let both = Experiment { writes_after: 600.0, ..heat };
        assert_eq!(both.named(), [Named::Throttling, Named::CacheEnd]);
    }

    #[test]
    fn a_card_that_a_pause_does_nothing_to_has_neither() {
        let settled = Experiment { writes_after: 295.0, writes_later: 291.0, ..CACHE };
        assert_eq!(settled.named(), []);
    }
}
