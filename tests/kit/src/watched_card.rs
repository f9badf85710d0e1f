//! A simulated card that notes where it is read and written, and that stalls when it is told to.

use cardscope_engine::ranges::Ranges;
use cardscope_engine::target::{Direction, Io, Target, TargetError};
use cardscope_simulator::SimTarget;
use std::time::Duration;

/// A card that notes where it is read and written, and takes a minute for some I/Os.
pub struct Watched {
    card: SimTarget,
    pub written: Ranges,
    pub lowest_write: u64,
    pub reads_of_what_was_never_written: u64,
    ios: u64,
    /// From which I/O on, and which of them, it stalls.
    pub stalls: Option<(u64, Which)>,
}

pub type Which = fn(Direction) -> bool;

/// A stall.
pub const MINUTE: Duration = Duration::from_secs(60);

impl Watched {
    pub fn new(card: SimTarget) -> Watched {
        Watched {
            card,
            written: Ranges::default(),
            lowest_write: u64::MAX,
            reads_of_what_was_never_written: 0,
            ios: 0,
            stalls: None,
        }
    }
}

impl Target for Watched {
    cardscope_engine::delegate_target!(
        [card] info, now, plan, complete, flush, discard, idle, area, ping, reopen, buffer, compare
    );

    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        let end = io.offset + u64::from(io.len);
        match io.direction {
            Direction::Write => {
                self.lowest_write = self.lowest_write.min(io.offset);
                self.written.add(io.offset, end);
            }
            Direction::Read => {
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
