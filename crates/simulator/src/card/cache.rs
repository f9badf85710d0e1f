//! pSLC cache: clean blocks take writes fast until they are used up. The card then cleans between two watermarks: it
//! stays slow until `reopen_bytes` are clean again, so that whole runs of a session are either fast or slow
//! (docs/reference/flash.md#pslc-cache).
//!
//! For each 256 KiB the cycle of the cache is stored in which it was written: data of an earlier cycle has been moved
//! to TLC by cleaning.

use super::timing::{CardCommand, RampParameters, RampTiming, bytes_f64, ns_per_byte, seconds_to_ns};
use crate::archetype::{Archetype, PslcCache, WhenFull, WriteTimes};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    #[serde(serialize_with = "serialize_runs", deserialize_with = "deserialize_runs")]
    pub(super) cycles: Vec<u8>,
    cycle: u8,
}

/// Serializes a table of bytes as runs, so that a saved state stays small.
fn serialize_runs<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
    let mut runs: Vec<(u8, u32)> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some((last, count)) if last == byte && *count < u32::MAX => *count += 1,
            _ => runs.push((*byte, 1)),
        }
    }
    runs.serialize(out)
}

fn deserialize_runs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    /// Table of a card of 2 PiB; a longer one in a file is an error.
    const MOST: u64 = 1 << 33;
    let runs = Vec::<(u8, u32)>::deserialize(from)?;
    let total: u64 = runs.iter().map(|(_, count)| u64::from(*count)).sum();
    if total > MOST {
        return Err(serde::de::Error::custom(format!("a table of {total} bytes is too long for any card")));
    }
    Ok(runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count as usize)).collect())
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
    pub(super) state: CacheState,
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
                cycles: vec![TLC_CYCLE; (card.announced_bytes >> CHUNK_SHIFT) as usize + 1],
                cycle: 1,
            },
            timing: cache_timing(p, card, mb_s),
            cleaned_per_ns: p.clean_mb_s / 1e3,
            most_pool,
            per_byte: ns_per_byte(mb_s),
            folding: ns_per_byte(mb_s) + ns_per_byte(p.clean_mb_s),
        }
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
        self.use_pool(bytes_f64(len));
        self.mark_chunks(piece.offset, len, bytes == len);
        if bytes == len {
            return CachedWrite { bytes, per_byte: self.per_byte };
        }
        self.state.open = false;
        self.overflow_write(bytes, len)
    }

    fn overflow_write(&self, bytes: u64, len: u64) -> CachedWrite {
        match self.parameters.when_full {
            WhenFull::Direct => CachedWrite { bytes, per_byte: self.per_byte },
            WhenFull::Fold => {
                let all = bytes as f64 * self.per_byte + (len - bytes) as f64 * self.folding;
                CachedWrite { bytes: len, per_byte: all / len as f64 }
            }
        }
    }

    /// Each byte written uses up one of the blocks for cleaning.
    #[inline]
    fn use_pool(&mut self, bytes: f64) {
        if self.most_pool.is_finite() {
            self.state.pool = (self.state.pool - bytes).max(0.0);
        }
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
            self.state.cycles[first] = mark;
        } else {
            self.state.cycles[first..=last].fill(mark);
        }
    }

    #[inline]
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.state.cycles[(offset >> CHUNK_SHIFT) as usize] == self.state.cycle
    }

    /// Discarded bytes need no cleaning: they leave the cache at once.
    pub(crate) fn discard(&mut self, len: u64) {
        self.state.used = (self.state.used - len as f64).max(0.0);
        self.state.open |=
            self.parameters.clean_bytes as f64 - self.state.used >= self.parameters.reopen_bytes as f64;
    }
}

/// Absent times are those of the page engine. Other engines have times of their kind and use only the speed.
fn cache_timing(p: &PslcCache, card: &Archetype, mb_s: f64) -> RampTiming {
    let (base_s, large_s, serial_s, ramp_bytes) = match &card.write {
        Some(WriteTimes::Page(w)) => (w.base_s, w.large_s, w.serial_s, w.ramp_bytes),
        _ => (0.0, None, 0.0, 1),
    };
    let base_s = p.write_base_s.unwrap_or(base_s);
    RampTiming::new(RampParameters {
        base_s,
        large_s: p.write_large_s.or(large_s).unwrap_or(base_s),
        ramp_bytes,
        serial_s: p.write_serial_s.unwrap_or(serial_s),
        mb_s,
    })
}

#[cfg(test)]
mod tests;
