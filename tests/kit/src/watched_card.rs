//! Simulated card that records its accesses, and stalls on request.

use cardscope_engine::ranges::ByteRanges;
use cardscope_engine::target::{IoDirection, IoRequest, Target, TargetError};
use cardscope_simulator::SimTarget;
use std::time::Duration;

pub struct WatchedCard {
    card: SimTarget,
    pub written: ByteRanges,
    pub lowest_write: u64,
    pub reads_of_what_was_never_written: u64,
    ios: u64,
    /// Number of the I/O after which it stalls, and the directions that stall.
    pub stalls: Option<(u64, DirectionFilter)>,
}

pub type DirectionFilter = fn(IoDirection) -> bool;

/// Length of a stall.
pub const MINUTE: Duration = Duration::from_secs(60);

impl WatchedCard {
    pub fn new(card: SimTarget) -> WatchedCard {
        WatchedCard {
            card,
            written: ByteRanges::default(),
            lowest_write: u64::MAX,
            reads_of_what_was_never_written: 0,
            ios: 0,
            stalls: None,
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
                self.reads_of_what_was_never_written += u64::from(!known);
            }
        }
        self.ios += 1;
        if self.stalls.is_some_and(|(from, which)| self.ios > from && which(io.direction)) {
            self.card.idle(MINUTE);
        }
        self.card.submit(io)
    }
}
