//! The pSLC cache (model, C): clean blocks take writes fast until they are used up. Then the card cleans between
//! two watermarks: it stays slow until `reopen_bytes` are clean again, so that whole runs of a session are either
//! fast or slow, as in the logs of seed 000.
//!
//! Where data lies is kept for each 256 KiB as the cycle of the cache in which it was written: data of an earlier
//! cycle has been moved to TLC when the cache was cleaned.

use super::timing::{Line, Timing, ns};
use crate::archetype::{Cache, PageWrite};

const CHUNK_SHIFT: u32 = 18;

/// Written to TLC directly, or never.
const TLC: u8 = 0;

/// The cache and its history.
#[derive(Debug)]
pub(crate) struct Pslc {
    timing: Timing,
    clean: f64,
    most_clean: f64,
    reopen: f64,
    cleaned_per_ns: f64,
    idle: f64,
    rest: f64,
    open: bool,
    last_write: f64,
    /// When the last command of any kind ended.
    last_command: f64,
    /// Cycle of each chunk of the card.
    cycles: Vec<u8>,
    cycle: u8,
}

impl Pslc {
    pub(crate) fn new(p: &Cache, write: &PageWrite, announced: u64, bus_mb_s: f64) -> Self {
        let start = p.start_bytes.unwrap_or(p.clean_bytes) as f64;
        Pslc {
            timing: Timing::new(Line {
                base_s: p.write_base_s,
                large_s: p.write_large_s,
                ramp_bytes: write.ramp_bytes,
                serial_s: p.write_serial_s,
                mb_s: p.write_mb_s.min(bus_mb_s),
            }),
            clean: start,
            most_clean: p.clean_bytes as f64,
            reopen: p.reopen_bytes as f64,
            cleaned_per_ns: p.clean_mb_s / 1e3,
            idle: ns(p.idle_s),
            rest: ns(p.rest_s),
            open: start > 0.0,
            last_write: 0.0,
            last_command: 0.0,
            cycles: vec![TLC; (announced >> CHUNK_SHIFT) as usize + 1],
            cycle: 1,
        }
    }

    /// Cost lines while the cache takes the writes.
    #[inline]
    pub(crate) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// A command begins at `now`: what was cleaned since the last one counts.
    #[inline]
    pub(crate) fn begin(&mut self, now: f64) {
        if now - self.last_command > self.rest {
            let rested = now - self.last_command;
            self.clean = (self.clean + rested * self.cleaned_per_ns).min(self.most_clean);
            self.last_write = self.last_write.max(now);
        }
    }

    /// A write begins at `now`. Returns how many of its `len` bytes the cache takes.
    #[inline]
    pub(crate) fn take(&mut self, now: f64, len: u64) -> u64 {
        if !self.open {
            self.clean_while_unwritten(now);
        }
        if !self.open {
            return 0;
        }
        let taken = (self.clean as u64).min(len);
        self.clean -= taken as f64;
        if taken < len {
            self.open = false;
        }
        taken
    }

    fn clean_while_unwritten(&mut self, now: f64) {
        let pause = now - self.last_write - self.idle;
        if pause > 0.0 {
            self.clean = (self.clean + pause * self.cleaned_per_ns).min(self.most_clean);
        }
        if self.clean >= self.reopen && self.clean >= 1.0 {
            self.open = true;
            // Cycle 0 is TLC; after 255 cycles the oldest data is counted as young again, which costs little.
            self.cycle = self.cycle.checked_add(1).unwrap_or(1);
        }
    }

    /// A command ended at `end`.
    #[inline]
    pub(crate) fn end(&mut self, end: f64, wrote: bool) {
        self.last_command = end;
        if wrote {
            self.last_write = end;
        }
    }

    /// Notes where the bytes from `offset` went.
    #[inline]
    pub(crate) fn place(&mut self, offset: u64, len: u64, cached: bool) {
        let mark = if cached { self.cycle } else { TLC };
        let first = (offset >> CHUNK_SHIFT) as usize;
        let last = ((offset + len - 1) >> CHUNK_SHIFT) as usize;
        if first == last {
            self.cycles[first] = mark;
        } else {
            self.cycles[first..=last].fill(mark);
        }
    }

    /// True where the bytes at `offset` lie in the cache.
    #[inline]
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.cycles[(offset >> CHUNK_SHIFT) as usize] == self.cycle
    }

    /// Discarded bytes need no cleaning.
    pub(crate) fn discard(&mut self, len: u64) {
        self.clean = (self.clean + len as f64).min(self.most_clean);
        self.open |= self.clean >= self.reopen;
    }
}
