//! A target that answers at once and keeps nothing: what is left to time is the engine itself.

use crate::content::{Content, Match};
use crate::target::{Completion, Io, Plan, Region, Target, TargetError, TargetInfo, place_area};
use cardscope_model::units::Nanos;
use std::time::{Duration, Instant};

/// Answers every I/O at once, on the real clock.
#[derive(Debug)]
pub struct NullTarget {
    info: TargetInfo,
    epoch: Instant,
    waiting: Vec<u32>,
}

impl NullTarget {
    /// A null target that announces `bytes`.
    pub fn new(bytes: u64) -> Self {
        let info = TargetInfo {
            name: "null".to_owned(),
            bytes,
            sector: 512,
            io_path: "null",
            file_system: None,
            whole_card: true,
        };
        NullTarget { info, epoch: Instant::now(), waiting: Vec::new() }
    }

    fn refuse() -> TargetError {
        TargetError::Unsupported("the null target has no content".to_owned())
    }
}

impl Target for NullTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }
    fn now(&mut self) -> Nanos {
        self.epoch.elapsed().as_nanos() as Nanos
    }
    fn plan(&mut self, plan: &Plan) -> Result<(), TargetError> {
        self.waiting.reserve(plan.depth as usize);
        Ok(())
    }
    #[inline]
    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        self.waiting.push(io.slot);
        Ok(())
    }
    #[inline]
    fn complete(&mut self, _at_least: usize, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let at = self.now();
        done.extend(self.waiting.drain(..).map(|slot| Completion { slot, at, result: Ok(()) }));
        Ok(())
    }
    fn flush(&mut self) -> Result<(), TargetError> {
        Ok(())
    }
    fn discard(&mut self, _range: Region) -> Result<(), TargetError> {
        Ok(())
    }
    fn idle(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        place_area(self.info.bytes, bytes)
    }
    fn reopen(&mut self) -> Result<(), TargetError> {
        Ok(())
    }
    fn buffer(&mut self, _slot: u32) -> Result<&mut [u8], TargetError> {
        Err(Self::refuse())
    }
    fn compare(&mut self, _slot: u32, _expected: Content) -> Result<Match, TargetError> {
        Err(Self::refuse())
    }
}
