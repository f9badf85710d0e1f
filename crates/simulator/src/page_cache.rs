//! Page cache of the host, for recipes that go through it as hdparm and dd do: gathers writes and writes them back in
//! large pieces, reads ahead, and answers repeated reads from memory. Just enough of Linux that buffered recipes show
//! the card's sequential speed; sizes are parameters of the rig.

use crate::archetype::schema::{self, Archetype};
use crate::card::CardCommand;
use crate::rig::RiggedCard;
use std::collections::VecDeque;
use std::ops::Range;

/// Most ranges in the cache; a recipe touches one or two.
const MAX_RANGES: usize = 64;

/// Commands in flight for writing back and reading ahead.
const IN_FLIGHT: u32 = 2;

#[derive(Debug, Default)]
pub(crate) struct PageCache {
    sizes: schema::TestRig,
    per_byte: f64,
    announced: u64,
    /// Written by the tool, not yet sent to the card.
    gathered: Range<u64>,
    /// End and bytes of each piece that is being written back.
    writebacks: VecDeque<(f64, u64)>,
    unwritten_bytes: u64,
    /// Oldest first.
    cached: VecDeque<Range<u64>>,
    /// Offset of a read that would continue the last one.
    next_read: u64,
    /// End offset and arrival time of each piece that is read ahead.
    ahead: VecDeque<(u64, f64)>,
    ahead_end: u64,
}

impl PageCache {
    pub(crate) fn new(a: &Archetype) -> Self {
        PageCache {
            sizes: a.rig,
            per_byte: 1e3 / a.rig.host_memory_mb_s,
            announced: a.announced_bytes,
            next_read: u64::MAX,
            ..PageCache::default()
        }
    }

    /// Buffered write at `now`; returns when the tool may continue.
    pub(crate) fn write(&mut self, rig: &mut RiggedCard, now: f64, offset: u64, len: u64) -> f64 {
        let mut now = rig.source_ready(now, len) + len as f64 * self.per_byte;
        if self.gathered.end != offset {
            self.write_back_gathered(rig, now);
            self.gathered = offset..offset;
        }
        self.gathered.end = offset + len;
        while self.gathered.end - self.gathered.start >= self.sizes.writeback_bytes {
            let start = self.gathered.start;
            self.gathered.start += self.sizes.writeback_bytes;
            self.write_back(rig, now, start, self.sizes.writeback_bytes);
        }
        self.add_cached(offset..offset + len);
        self.drop_finished(now);
        // Linux makes a writer wait while too much of its data is not yet written back.
        while self.unwritten_bytes > self.sizes.dirty_bytes
            && let Some((end, bytes)) = self.writebacks.pop_front()
        {
            self.unwritten_bytes -= bytes;
            now = now.max(end);
        }
        now
    }

    /// Writes back everything; returns when the card has it.
    pub(crate) fn flush(&mut self, rig: &mut RiggedCard, now: f64) -> f64 {
        self.write_back_gathered(rig, now);
        let end = self.writebacks.back().map_or(now, |(end, _)| end.max(now));
        self.writebacks.clear();
        self.unwritten_bytes = 0;
        end
    }

    /// Buffered read at `now`; returns when the tool has its data.
    pub(crate) fn read(&mut self, rig: &mut RiggedCard, now: f64, offset: u64, len: u64) -> f64 {
        let range = offset..offset + len;
        let copied = len as f64 * self.per_byte;
        let continues = offset == self.next_read;
        self.next_read = range.end;
        if self.cached.iter().any(|c| c.start <= range.start && range.end <= c.end) {
            return now + copied;
        }
        let ready = if continues { self.read_ahead(rig, now, &range) } else { self.fetch(rig, now, &range) };
        self.add_cached(range);
        ready.max(now) + copied
    }

    fn fetch(&mut self, rig: &mut RiggedCard, now: f64, range: &Range<u64>) -> f64 {
        self.ahead.clear();
        self.ahead_end = range.end;
        rig.transfer(now, cache_command(false, range.start, range.end - range.start))
    }

    /// Reads ahead, so that one piece more than the tool needs is under way.
    fn read_ahead(&mut self, rig: &mut RiggedCard, now: f64, range: &Range<u64>) -> f64 {
        let goal = (range.end + self.sizes.read_ahead_bytes).min(self.announced);
        self.ahead_end = self.ahead_end.max(range.start);
        while self.ahead_end < goal {
            let len = self.sizes.read_ahead_bytes.min(self.announced - self.ahead_end);
            let ready = rig.transfer(now, cache_command(false, self.ahead_end, len));
            self.ahead_end += len;
            self.ahead.push_back((self.ahead_end, ready));
        }
        while self.ahead.front().is_some_and(|(end, _)| *end < range.end) {
            self.ahead.pop_front();
        }
        self.ahead.front().map_or(now, |(_, ready)| *ready)
    }

    /// Empties the cache as `drop_caches` does; data not yet written back stays.
    pub(crate) fn drop_clean(&mut self) {
        self.cached.clear();
        self.ahead.clear();
        self.next_read = u64::MAX;
        self.ahead_end = 0;
    }

    /// Drops a range that was written past the cache.
    pub(crate) fn invalidate(&mut self, range: Range<u64>) {
        if !self.cached.is_empty() {
            self.cached.retain(|c| c.end <= range.start || range.end <= c.start);
        }
    }

    fn write_back_gathered(&mut self, rig: &mut RiggedCard, now: f64) {
        let Range { start, end } = std::mem::replace(&mut self.gathered, 0..0);
        if end > start {
            self.write_back(rig, now, start, end - start);
        }
    }

    fn write_back(&mut self, rig: &mut RiggedCard, now: f64, offset: u64, len: u64) {
        let end = rig.transfer(now, cache_command(true, offset, len));
        self.writebacks.push_back((end, len));
        self.unwritten_bytes += len;
    }

    fn drop_finished(&mut self, now: f64) {
        while let Some((end, bytes)) = self.writebacks.front()
            && *end <= now
        {
            self.unwritten_bytes -= bytes;
            self.writebacks.pop_front();
        }
    }

    fn add_cached(&mut self, range: Range<u64>) {
        match self.cached.back_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(last) if last.start <= range.start && range.end <= last.end => {}
            _ => self.cached.push_back(range),
        }
        self.evict_oldest();
    }

    fn evict_oldest(&mut self) {
        let kept: u64 = self.cached.iter().map(|c| c.end - c.start).sum();
        let over = kept.saturating_sub(self.sizes.host_memory_bytes);
        if let Some(oldest) = self.cached.front_mut().filter(|_| over > 0) {
            oldest.start = (oldest.start + over).min(oldest.end);
        }
        if self.cached.len() > MAX_RANGES || self.cached.front().is_some_and(|c| c.start == c.end) {
            self.cached.pop_front();
        }
    }
}

fn cache_command(write: bool, offset: u64, len: u64) -> CardCommand {
    CardCommand { write, offset, len, in_flight: IN_FLIGHT }
}
