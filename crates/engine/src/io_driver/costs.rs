//! Cost model of a card's I/Os, to estimate how long more of them will take.
//!
//! An I/O costs a fixed time, measured on small I/Os, and a time per byte, measured on large ones. If a card has become
//! slower than its average, the latest I/Os count.

use crate::target::IoDirection;

/// I/Os of at most this many bytes show the fixed cost.
const SMALL_IO: u64 = 64 << 10;

/// Weight of each new I/O in the moving average.
const DECAY: f64 = 1.0 / 16.0;

#[derive(Debug, Clone, Copy, Default)]
pub struct IoCosts {
    /// Reads, then writes.
    kinds: [CostKind; 2],
    flush: RunningMean,
}

#[derive(Debug, Clone, Copy, Default)]
struct CostKind {
    /// Seconds of a small I/O.
    small: RunningMean,
    /// Seconds per byte of a large I/O.
    byte: RunningMean,
}

/// Average over all values, and moving average over the latest.
#[derive(Debug, Clone, Copy, Default)]
struct RunningMean {
    count: f64,
    all: f64,
    latest: f64,
}

impl RunningMean {
    fn add_value(&mut self, value: f64) {
        self.count += 1.0;
        self.all += (value - self.all) / self.count;
        self.latest += (value - self.latest) * DECAY.max(1.0 / self.count);
    }

    fn get(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.all.max(self.latest))
    }
}

impl IoCosts {
    pub(super) fn add_io(&mut self, direction: IoDirection, bytes: u64, seconds: f64) {
        let alone = self.fixed_seconds();
        let kind = &mut self.kinds[direction as usize];
        if bytes <= SMALL_IO {
            kind.small.add_value(seconds);
        } else {
            kind.byte.add_value((seconds - alone).max(0.0) / bytes as f64);
        }
    }

    pub(super) fn add_flush(&mut self, seconds: f64) {
        self.flush.add_value(seconds);
    }

    /// Estimated seconds of a flush; 0 before the first.
    pub fn flush_seconds(&self) -> f64 {
        self.flush.get().unwrap_or_default()
    }

    /// Estimated seconds of `ios` I/Os with `bytes` in all; 0 before the first I/O.
    pub fn estimate(&self, direction: IoDirection, ios: u64, bytes: u64) -> f64 {
        let (this, other) = self.kind_and_other(direction);
        let byte = this.byte.get().or(other.byte.get()).unwrap_or_default();
        let large = bytes > ios * SMALL_IO;
        let each = if large { self.fixed_seconds() } else { self.small_io_seconds(direction) };
        ios as f64 * each + bytes as f64 * byte
    }

    /// Fixed seconds of any I/O, from the faster direction: small writes may make the card move a whole erase block,
    /// which large sequential ones do not.
    fn fixed_seconds(&self) -> f64 {
        self.small_io_seconds(IoDirection::Read).min(self.small_io_seconds(IoDirection::Write))
    }

    /// Fixed seconds of an I/O; those of the other direction if none was measured in this one.
    fn small_io_seconds(&self, direction: IoDirection) -> f64 {
        let (this, other) = self.kind_and_other(direction);
        this.small.get().or(other.small.get()).unwrap_or_default()
    }

    fn kind_and_other(&self, direction: IoDirection) -> (&CostKind, &CostKind) {
        (&self.kinds[direction as usize], &self.kinds[1 - direction as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_exact_after_one_small_and_one_large_io() {
        let mut costs = IoCosts::default();
        assert_eq!(costs.estimate(IoDirection::Read, 5, 1 << 20), 0.0);
        let card = |bytes: u64| 0.2 + bytes as f64 / 50e6;
        costs.add_io(IoDirection::Read, 4096, card(4096));
        costs.add_io(IoDirection::Read, 4 << 20, card(4 << 20));
        for direction in [IoDirection::Read, IoDirection::Write] {
            let expected = 10.0 * 0.2 + 80e6 / 50e6;
            assert!((costs.estimate(direction, 10, 80_000_000) - expected).abs() < 0.01);
        }
    }

    #[test]
    fn estimate_follows_card_that_became_slower() {
        let mut costs = IoCosts::default();
        (0..1000).for_each(|_| costs.add_io(IoDirection::Write, 4096, 0.001));
        (0..64).for_each(|_| costs.add_io(IoDirection::Write, 4096, 0.1));
        assert!(costs.estimate(IoDirection::Write, 1, 0) > 0.09);
    }
}
