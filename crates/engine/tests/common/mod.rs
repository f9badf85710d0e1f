//! A target in virtual time with a fixed latency, which remembers what was asked of it, and an observer that
//! remembers what it was told.

use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::runner::{PassRecorder, RecorderError, StopRule};
use cardscope_engine::target::{
    IoCompletion, IoRequest, LanePlan, Target, TargetError, TargetInfo, TargetRegion, place_area,
};
use cardscope_model::caveat::Caveat;
use cardscope_model::result::LoopSample;
use cardscope_model::units::Nanos;
use std::collections::VecDeque;
use std::time::Duration;

/// Answers each I/O after `latency`, any number at once; a flush takes `flush`.
pub(crate) struct Clockwork {
    info: TargetInfo,
    now: Nanos,
    pub(crate) latency: Nanos,
    pub(crate) flush: Nanos,
    pending: VecDeque<(Nanos, u32, bool)>,
    pub(crate) ios: Vec<IoRequest>,
    pub(crate) plans: Vec<LanePlan>,
    pub(crate) deepest: usize,
    pub(crate) flushes: u32,
    pub(crate) idled: Duration,
    pub(crate) caches_dropped: u32,
    pub(crate) discarded: Vec<TargetRegion>,
    /// Counts I/Os; this one and all later ones fail.
    pub(crate) fails_at: Option<usize>,
    /// Raised when this many I/Os were submitted.
    pub(crate) interrupt_at: Option<(usize, InterruptFlag)>,
}

impl Clockwork {
    pub(crate) fn new(bytes: u64, latency: Nanos) -> Self {
        let info = TargetInfo {
            name: "clockwork".into(),
            bytes,
            sector: 512,
            io_path: "clockwork",
            file_system: None,
            whole_card: true,
        };
        Clockwork {
            info,
            now: 0,
            latency,
            flush: 0,
            pending: VecDeque::new(),
            ios: Vec::new(),
            plans: Vec::new(),
            deepest: 0,
            flushes: 0,
            idled: Duration::ZERO,
            caches_dropped: 0,
            discarded: Vec::new(),
            fails_at: None,
            interrupt_at: None,
        }
    }

    /// The same target as a directory on a file system would describe itself.
    pub(crate) fn on(mut self, file_system: &str) -> Self {
        self.info.file_system = Some(file_system.to_owned());
        self.info.whole_card = false;
        self
    }
}

impl Target for Clockwork {
    fn info(&self) -> &TargetInfo {
        &self.info
    }
    fn now(&mut self) -> Nanos {
        self.now
    }
    fn plan(&mut self, plan: &LanePlan) -> Result<(), TargetError> {
        self.pending.clear();
        self.plans.push(*plan);
        Ok(())
    }
    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let failed = self.fails_at.is_some_and(|n| self.ios.len() >= n);
        self.ios.push(*io);
        self.pending.push_back((self.now + self.latency, io.slot, failed));
        self.deepest = self.deepest.max(self.pending.len());
        if let Some((n, interrupt)) = &self.interrupt_at
            && self.ios.len() == *n
        {
            interrupt.raise();
        }
        Ok(())
    }
    fn complete(&mut self, _at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        let Some((at, ..)) = self.pending.front().copied() else { return Ok(()) };
        self.now = at;
        while let Some((_, slot, failed)) = self.pending.pop_front_if(|(t, ..)| *t <= at) {
            let error = TargetError::Gone { operation: "read", offset: 0, reason: "pulled out".into() };
            done.push(IoCompletion { slot, at, result: if failed { Err(error) } else { Ok(()) } });
        }
        Ok(())
    }
    fn flush(&mut self) -> Result<(), TargetError> {
        self.flushes += 1;
        self.now += self.flush;
        Ok(())
    }
    fn discard(&mut self, range: TargetRegion) -> Result<(), TargetError> {
        self.discarded.push(range);
        Ok(())
    }
    fn idle(&mut self, time: Duration) {
        self.idled += time;
        self.now += time.as_nanos() as Nanos;
    }
    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError> {
        place_area(self.info.bytes, bytes)
    }
    fn drop_caches(&mut self) -> Result<(), TargetError> {
        self.caches_dropped += 1;
        Ok(())
    }
    fn reopen(&mut self) -> Result<(), TargetError> {
        Ok(())
    }
    fn buffer(&mut self, _slot: u32) -> Result<&mut [u8], TargetError> {
        Err(TargetError::Unsupported("no content".into()))
    }
    fn compare(&mut self, _slot: u32, _expected: IoContent) -> Result<ContentMatch, TargetError> {
        Err(TargetError::Unsupported("no content".into()))
    }
}

/// Remembers everything.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(crate) samples: Vec<(usize, u32, LoopSample)>,
    pub(crate) not_measured: Vec<(usize, String)>,
    pub(crate) caveats: Vec<(usize, Caveat)>,
    pub(crate) pace: Option<Box<dyn StopRule>>,
    pub(crate) refuses_samples: bool,
}

impl PassRecorder for Notebook {
    fn sample(&mut self, test: usize, index: u32, sample: LoopSample) -> Result<(), RecorderError> {
        if self.refuses_samples {
            return Err("the disk of the archive is full".into());
        }
        self.samples.push((test, index, sample));
        Ok(())
    }
    fn not_measured(&mut self, test: usize, reason: String) {
        self.not_measured.push((test, reason));
    }
    fn add_caveat(&mut self, test: usize, caveat: Caveat) {
        self.caveats.push((test, caveat));
    }
    fn stop_rule(&mut self, _test: usize) -> Option<Box<dyn StopRule>> {
        self.pace.take()
    }
}
