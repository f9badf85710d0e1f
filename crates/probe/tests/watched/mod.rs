//! A simulated card that notes where it is read and written, and that stalls when it is told to.

use cardscope_engine::content::{Content, Match};
use cardscope_engine::target::{Completion, Direction, Io, Plan, Region, Target, TargetError, TargetInfo};
use cardscope_model::units::Nanos;
use cardscope_probe::ranges::Ranges;
use cardscope_simulator::SimTarget;
use std::time::Duration;

/// A card that notes where it is read and written, and takes a minute for some I/Os.
pub(crate) struct Watched {
    card: SimTarget,
    pub(crate) written: Ranges,
    pub(crate) lowest_write: u64,
    pub(crate) reads_of_what_was_never_written: u64,
    ios: u64,
    /// From which I/O on, and which of them, it stalls.
    pub(crate) stalls: Option<(u64, Which)>,
}

pub(crate) type Which = fn(Direction) -> bool;

/// A stall.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

impl Watched {
    pub(crate) fn new(card: SimTarget) -> Watched {
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
    fn info(&self) -> &TargetInfo {
        self.card.info()
    }
    fn now(&mut self) -> Nanos {
        self.card.now()
    }
    fn plan(&mut self, plan: &Plan) -> Result<(), TargetError> {
        self.card.plan(plan)
    }
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
    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.card.complete(at_least, done)
    }
    fn flush(&mut self) -> Result<(), TargetError> {
        self.card.flush()
    }
    fn discard(&mut self, range: Region) -> Result<(), TargetError> {
        self.card.discard(range)
    }
    fn idle(&mut self, time: Duration) {
        self.card.idle(time);
    }
    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        self.card.area(bytes)
    }
    fn ping(&mut self) -> Result<Option<Nanos>, TargetError> {
        self.card.ping()
    }
    fn reopen(&mut self) -> Result<(), TargetError> {
        self.card.reopen()
    }
    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        self.card.buffer(slot)
    }
    fn compare(&mut self, slot: u32, expected: Content) -> Result<Match, TargetError> {
        self.card.compare(slot, expected)
    }
}
