//! Simulated card that records its accesses, and stalls on request.

use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::target::{IoDirection, IoRequest, Target, TargetError};
use cardscope_simulator::SimTarget;
use std::time::Duration;

pub struct WatchedCard {
    card: SimTarget,
    pub written: ByteRanges,
    pub lowest_write: u64,
    pub unwritten_reads: u64,
    ios: u64,
    /// Number of the I/O after which it stalls, and the directions that stall.
    pub stall_rule: Option<(u64, DirectionFilter)>,
}

pub type DirectionFilter = fn(IoDirection) -> bool;

/// Length of a stall.
pub const STALL_TIME: Duration = Duration::from_secs(60);

impl WatchedCard {
    pub fn new(card: SimTarget) -> WatchedCard {
        WatchedCard {
            card,
            written: ByteRanges::default(),
            lowest_write: u64::MAX,
            unwritten_reads: 0,
            ios: 0,
            stall_rule: None,
        }
    }
}

impl Target for WatchedCard {
    cardscope_engine::delegate_target!(
        [card] info, now, plan, complete, flush, discard, idle, area, ping, reopen, buffer, compare
    );

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let end = io.offset + u64::from(io.len);
        match io.direction {
            IoDirection::Write => {
                self.lowest_write = self.lowest_write.min(io.offset);
                self.written.add(io.offset, end);
            }
            IoDirection::Read => {
                let known = self.written.contains(io.offset, end);
                self.unwritten_reads += u64::from(!known);
            }
        }
        self.ios += 1;
        if self.stall_rule.is_some_and(|(from, which)| self.ios > from && which(io.direction)) {
            self.card.idle(STALL_TIME);
        }
        self.card.submit(io)
    }
}
