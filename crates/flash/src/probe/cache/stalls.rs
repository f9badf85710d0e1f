//! Stalls in a long write: number, length, and their period in bytes (docs/reference/flash.md#garbage-collection).

use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::quantile;
use cardscope_statistics::period::strongest_period;

const MIB: f64 = 1048576.0;

const STALL_FACTOR: f64 = 8.0;

/// Fewest stalls, or with at least one stall fewest bytes, for a rate.
const LEAST_STALLS: usize = 10;
const LEAST_BYTES: f64 = 1e9;

/// Candidate periods if the erase block is unknown.
const PERIODS_MIB: [f64; 13] = [4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0, 512.0];

const MAX_CHANCE: f64 = 0.01;

const WARM_UP_WRITES: usize = 8;

/// Share by which the typical time follows each write.
const FOLLOW_SHARE: f64 = 0.05;

#[derive(Debug, Clone)]
pub(super) struct CacheStalls {
    periods: Vec<f64>,
    places: Vec<f64>,
    lengths: Vec<f64>,
    bytes: f64,
    writes: usize,
    /// Typical seconds per byte: a running median that moves by a fixed share towards each write.
    usual: f64,
}

impl CacheStalls {
    pub(super) fn new(unit: Option<u64>) -> Self {
        let multiples = unit.map(|unit| [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|k| k * unit as f64).to_vec());
        CacheStalls {
            periods: multiples.unwrap_or_else(|| PERIODS_MIB.map(|mib| mib * MIB).to_vec()),
            places: Vec::new(),
            lengths: Vec::new(),
            bytes: 0.0,
            writes: 0,
            usual: 0.0,
        }
    }

    pub(super) fn add_write(&mut self, place: u64, bytes: f64, seconds: f64) {
        let rate = seconds / bytes;
        self.bytes += bytes;
        self.writes += 1;
        if self.writes == 1 {
            self.usual = rate;
        }
        if self.writes > WARM_UP_WRITES && rate > STALL_FACTOR * self.usual {
            self.places.push(place as f64);
            self.lengths.push(seconds - self.usual * bytes);
        }
        self.usual *= if rate > self.usual { 1.0 + FOLLOW_SHARE } else { 1.0 - FOLLOW_SHARE };
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        if self.lengths.len() < LEAST_STALLS && (self.bytes < LEAST_BYTES || self.lengths.is_empty()) {
            return None;
        }
        let k = self.lengths.len() as f64;
        let per_gb = |count: f64| count / (self.bytes / 1e9);
        // Poisson interval of a count.
        let half = 1.96 * (k + 1.0).sqrt();
        let length = |q: f64| quantile(&self.lengths, q).unwrap_or(0.0) * 1e3;
        let [rate, least, most] = [k, (k - half).max(0.0), k + half].map(per_gb);
        let verdict = "Some sequential writes take many times as long during the card's housekeeping.";
        let finding = Finding::new("write-stalls", FindingWeight::Note, 0.9, verdict)
            .because("stalls", self.lengths.len())
            .because("per GB", format!("{rate:.2} ({least:.2} to {most:.2})"))
            .because("median stall", format!("{:.0} ms", length(0.5)))
            .because("99 % below", format!("{:.0} ms", length(0.99)));
        let periodic = strongest_period(&self.places, &self.periods).filter(|p| p.chance < MAX_CHANCE);
        let period = periodic.map(|p| format!("{:.0} MiB", p.period / MIB));
        Some(finding.because_some("period", period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodic_stalls_are_counted_with_their_period() {
        let mut stalls = CacheStalls::new(Some(32 << 20));
        for i in 0..400u64 {
            let seconds = if i % 16 == 15 { 0.5 } else { 0.02 };
            stalls.add_write(i * (4 << 20), f64::from(4 << 20), seconds);
        }
        let finding = stalls.finding().unwrap();
        let evidence = |what: &str| finding.evidence.iter().find(|(w, _)| w == what).unwrap().1.clone();
        assert_eq!((evidence("stalls"), evidence("period")), ("25".to_owned(), "64 MiB".to_owned()));
        assert!(evidence("median stall").starts_with("48"), "{finding:?}");
    }

    #[test]
    fn even_writes_have_no_stalls() {
        let mut stalls = CacheStalls::new(None);
        (0..400u64).for_each(|i| stalls.add_write(i << 22, 4e6, 0.02 + 0.001 * (i % 7) as f64));
        assert_eq!(stalls.finding(), None);
    }
}
