//! pSLC cache: clean blocks take writes fast until they are used up. The card then cleans between two watermarks: it
//! stays slow until `reopen_bytes` are clean again, so that whole runs of a session are either fast or slow
//! (docs/reference/flash.md#pslc-cache).
//!
//! For each 256 KiB the cycle of the cache is stored in which it was written: data of an earlier cycle has been moved
//! to TLC by cleaning.

use super::command::{CardCommand, RampParameters, RampTiming, bytes_f64, ns_per_byte, seconds_to_ns};
use crate::archetype::{Archetype, PslcCache, WhenFull, WriteTimes};
use serde::{Deserialize, Serialize};
use std::iter;

/// Error for the state of another card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherCard;

const CHUNK_SHIFT: u32 = 18;

/// Cycle of data written to TLC directly, or never.
const TLC_CYCLE: u8 = 0;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CacheState {
    /// Bytes in the cache that are not yet moved.
    used: f64,
    /// Bytes that can still be cleaned.
    pool: f64,
    open: bool,
    last_write: f64,
    last_command: f64,
    /// Table of cycles as runs, so that a saved state stays small; empty while the card is in use.
    runs: Vec<(u8, u32)>,
    cycle: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CachedWrite {
    pub(crate) bytes: u64,
    /// Nanoseconds for each of them.
    pub(crate) per_byte: f64,
}

#[derive(Debug)]
pub(crate) struct PslcModel {
    parameters: PslcCache,
    announced: u64,
    state: CacheState,
    /// Cycle of the cache in which each chunk was written.
    cycles: Vec<u8>,
    /// Cost of writes into the cache.
    pub(super) timing: RampTiming,
    cleaned_per_ns: f64,
    most_pool: f64,
    per_byte: f64,
    /// Nanoseconds of a byte that waits until one is moved.
    folding: f64,
}

impl PslcModel {
    pub(crate) fn new(p: &PslcCache, card: &Archetype, bus_mb_s: f64) -> Self {
        let mb_s = p.write_mb_s.min(bus_mb_s);
        let most_pool = p.pool_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        let used = p.start_bytes.map_or(0.0, |start| (p.clean_bytes - start) as f64);
        PslcModel {
            parameters: *p,
            announced: card.announced_bytes,
            state: CacheState {
                used,
                // JSON has no infinity; without a limit the pool is never used.
                pool: if most_pool.is_finite() { most_pool } else { 0.0 },
                open: p.start_bytes != Some(0),
                last_write: 0.0,
                last_command: 0.0,
                runs: Vec::new(),
                cycle: 1,
            },
            cycles: vec![TLC_CYCLE; (card.announced_bytes >> CHUNK_SHIFT) as usize + 1],
            timing: cache_timing(p, card, mb_s),
            cleaned_per_ns: p.clean_mb_s / 1e3,
            most_pool,
            per_byte: ns_per_byte(mb_s),
            folding: ns_per_byte(mb_s) + ns_per_byte(p.clean_mb_s),
        }
    }

    pub(super) fn save_state(&self) -> CacheState {
        let runs = self.cycles.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        CacheState { runs, ..self.state.clone() }
    }

    /// Continues from a saved state. Fails for a table of another length, before it is expanded: a few bytes of a
    /// damaged file can announce gigabytes.
    pub(super) fn restore_state(&mut self, mut state: CacheState) -> Result<(), OtherCard> {
        let runs = std::mem::take(&mut state.runs);
        if runs.iter().map(|(_, count)| u64::from(*count)).sum::<u64>() != self.cycles.len() as u64 {
            return Err(OtherCard);
        }
        let runs = runs.into_iter().map(|(cycle, count)| iter::repeat_n(cycle, count as usize));
        self.cycles = runs.flatten().collect();
        self.state = state;
        Ok(())
    }

    /// Begins a command at `now`: counts what was cleaned since the last one.
    #[inline]
    pub(crate) fn begin_command(&mut self, now: f64) {
        let rested = now - self.state.last_command;
        if rested > seconds_to_ns(self.parameters.rest_s) {
            self.clean_for(rested);
            if rested > seconds_to_ns(self.parameters.pool_rest_s) && self.most_pool.is_finite() {
                self.state.pool = self.most_pool;
            }
            // This rest is counted, so the pause before the next cleaning starts anew.
            self.state.last_write = self.state.last_write.max(now);
        }
    }

    /// Writes at `now`, on a card of which `mapped` bytes hold data. Returns what the cache takes of the write.
    #[inline]
    pub(crate) fn write_cached(&mut self, now: f64, piece: CardCommand, mapped: u64) -> CachedWrite {
        let limit = self.parameters.limit_bytes(self.announced.saturating_sub(mapped));
        let len = piece.len;
        if !self.state.open || self.parameters.clean_between_reads {
            self.clean_while_unwritten(now, limit);
        }
        let room = if self.state.open { (limit - self.state.used).max(0.0) } else { 0.0 };
        // Converting by way of i64 is several times as fast.
        let bytes = (room as i64 as u64).min(len);
        self.state.used += bytes_f64(bytes);
        // Each byte written uses up one of the blocks for cleaning.
        if self.most_pool.is_finite() {
            self.state.pool = (self.state.pool - bytes_f64(len)).max(0.0);
        }
        self.mark_chunks(piece.offset, len, bytes == len);
        if bytes == len {
            return CachedWrite { bytes, per_byte: self.per_byte };
        }
        self.state.open = false;
        self.overflow_write(bytes, len)
    }

    fn overflow_write(&self, bytes: u64, len: u64) -> CachedWrite {
        if self.parameters.when_full == WhenFull::Direct {
            return CachedWrite { bytes, per_byte: self.per_byte };
        }
        let all = bytes as f64 * self.per_byte + (len - bytes) as f64 * self.folding;
        CachedWrite { bytes: len, per_byte: all / len as f64 }
    }

    fn clean_for(&mut self, time: f64) {
        let most = if self.most_pool.is_finite() { self.state.pool } else { f64::INFINITY };
        self.state.used = (self.state.used - (time * self.cleaned_per_ns).min(most)).max(0.0);
    }

    #[inline]
    fn clean_while_unwritten(&mut self, now: f64, limit: f64) {
        let pause = now - self.state.last_write - seconds_to_ns(self.parameters.idle_s);
        if pause > 0.0 {
            self.clean_for(pause);
            // This pause is counted; the end of this write begins the next one.
            self.state.last_write = now;
        }
        let clean = limit - self.state.used;
        if !self.state.open && clean >= (self.parameters.reopen_bytes as f64).min(limit) && clean >= 1.0 {
            self.state.open = true;
            // Cycle 0 is TLC. After 255 cycles the oldest data counts as recent again, which changes few times.
            self.state.cycle = self.state.cycle.checked_add(1).unwrap_or(1);
        }
    }

    #[inline]
    pub(crate) fn end_command(&mut self, end: f64, wrote: bool) {
        self.state.last_command = end;
        if wrote {
            self.state.last_write = end;
        }
    }

    #[inline]
    fn mark_chunks(&mut self, offset: u64, len: u64, cached: bool) {
        let mark = if cached { self.state.cycle } else { TLC_CYCLE };
        let first = (offset >> CHUNK_SHIFT) as usize;
        let last = ((offset + len - 1) >> CHUNK_SHIFT) as usize;
        if first == last {
            self.cycles[first] = mark;
        } else {
            self.cycles[first..=last].fill(mark);
        }
    }

    #[inline]
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.cycles[(offset >> CHUNK_SHIFT) as usize] == self.state.cycle
    }

    /// Discarded bytes need no cleaning: they leave the cache at once.
    pub(crate) fn discard(&mut self, len: u64) {
        self.state.used = (self.state.used - len as f64).max(0.0);
        let clean = self.parameters.clean_bytes as f64 - self.state.used;
        self.state.open |= clean >= self.parameters.reopen_bytes as f64;
    }
}

/// Absent times are those of the page engine. Other engines have times of their kind and use only the speed.
fn cache_timing(p: &PslcCache, card: &Archetype, mb_s: f64) -> RampTiming {
    let (base_s, large_s, serial_s, ramp_bytes) = match &card.write {
        Some(WriteTimes::Page(w)) => (w.base_s, w.large_s, w.serial_s, w.ramp_bytes),
        _ => (0.0, None, 0.0, 1),
    };
    let (base_s, serial_s) = (p.write_base_s.unwrap_or(base_s), p.write_serial_s.unwrap_or(serial_s));
    RampTiming::new(RampParameters {
        base_s,
        large_s: p.write_large_s.or(large_s),
        ramp_bytes,
        serial_s,
        mb_s,
    })
}

#[cfg(test)]
mod tests;
