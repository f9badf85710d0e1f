//! Sequential writes in chunks until the speed drops for good, with reads and temperatures in between.

use super::heat::{HeatReading, HeatSeries};
use super::stalls::CacheStalls;
use crate::probe::options::Result;
use crate::probe::write_tester::WriteTester;
use cardscope_engine::io_driver::{CardExtent, split_extents};
use cardscope_model::card_map::property::PropertyEvidence;
use cardscope_model::finding::Finding;
use cardscope_model::statistics::median;
use cardscope_model::units::MIB;
use cardscope_statistics::speed_fall::{SpeedFall, WriteChunk, find_fall};
use std::time::Duration;

/// Smallest chunk (docs/reference/flash.md#pslc-cache) and largest, in bytes.
const CHUNK: (u64, u64) = (16 * MIB, 1024 * MIB);

/// Chunks are 1/200 of the bytes written so far, which locates the end of the cache to half a percent.
const CHUNK_SHARE: u64 = 200;

const WRITE: u32 = 4 << 20;

const METHOD: &str = "sequential writes in chunks of 16 MiB and more; a lasting fall by 15 %, with reads and \
                      temperature to exclude throttling";
const CHUNKS_PER_READING: usize = 8;

const MAX_POINTS: usize = 200;

/// Share of the earlier speed from which a chunk counts as written into the cache.
const RECOVERED_SHARE: f64 = 0.8;

#[derive(Debug, Clone, Copy)]
pub(super) enum WriteRunEnd {
    /// The speed dropped, and not because of heat.
    SpeedDropped(SpeedFall),
    /// The write limit is reached.
    WriteLimit,
    TimeLimit,
    WritesFail,
}

pub(super) struct WriteRun {
    /// First byte, length and most bytes to write.
    start: u64,
    len: u64,
    most: u64,
    /// Bytes attempted; the position in the range is this modulo `len`.
    attempted: u64,
    written: u64,
    chunks: Vec<WriteChunk>,
    /// First chunk of the current speed level; throttling starts a new one.
    level_from: usize,
    bytes_from: u64,
    heat: HeatSeries,
    stalls: CacheStalls,
}

impl WriteRun {
    pub(super) fn new(bench: &mut WriteTester, most: u64) -> Self {
        // Rounded to MiB, so that the last write ends on a sector.
        let most = most / MIB * MIB;
        let len = most.min(bench.slots.bytes() / MIB * MIB);
        let start = bench.slots.random_span(len, &mut bench.context.random);
        let start = start.unwrap_or(bench.context.region.start);
        WriteRun {
            start,
            len,
            most,
            attempted: 0,
            written: 0,
            chunks: Vec::new(),
            level_from: 0,
            bytes_from: 0,
            heat: HeatSeries::default(),
            stalls: CacheStalls::new(bench.into.erase_block_bytes.value),
        }
    }

    pub(super) fn written_bytes(&self) -> u64 {
        self.written
    }

    pub(super) fn is_complete(&self) -> bool {
        self.written >= self.most
    }

    pub(super) fn run_to_end(&mut self, bench: &mut WriteTester) -> Result<WriteRunEnd> {
        self.take_heat_reading(bench)?;
        while self.attempted < self.most {
            if !self.may_write_chunk(bench) {
                return Ok(WriteRunEnd::TimeLimit);
            }
            if self.write_chunk(bench)?.is_none() {
                let in_time = bench.context.has_time(0.0);
                return Ok(if in_time { WriteRunEnd::WritesFail } else { WriteRunEnd::TimeLimit });
            }
            if self.chunks.len().is_multiple_of(CHUNKS_PER_READING) {
                self.take_heat_reading(bench)?;
            }
            bench.context.events.report_bytes(self.written);
            let Some(mut found) = find_fall(&self.chunks[self.level_from..]) else { continue };
            self.take_heat_reading(bench)?;
            found.bytes += self.bytes_from as f64;
            found.chunks += self.level_from;
            let before = self.chunks.iter().take(found.chunks).map(|c| c.bytes as u64).sum();
            if !self.heat.explains_drop(found.after / found.before, before) {
                return Ok(WriteRunEnd::SpeedDropped(found));
            }
            self.heat.add_throttling(found);
            self.level_from = self.chunks.len();
            self.bytes_from = self.written;
        }
        Ok(WriteRunEnd::WriteLimit)
    }

    /// Writes up to `n` further chunks and returns their rates in bytes per second.
    pub(super) fn write_more(&mut self, bench: &mut WriteTester, n: usize) -> Result<Vec<f64>> {
        let mut rates = Vec::new();
        for _ in 0..n {
            if !self.may_write_chunk(bench) {
                break;
            }
            let Some(chunk) = self.write_chunk(bench)? else { break };
            rates.push(chunk.bytes_per_second());
        }
        Ok(rates)
    }

    /// Bytes that are written fast again after a pause; `None` if no limit allows the test.
    pub(super) fn recovered_bytes(
        &mut self,
        bench: &mut WriteTester,
        rest: Duration,
        n: usize,
        fall: SpeedFall,
    ) -> Result<Option<f64>> {
        if !bench.context.has_time(rest.as_secs_f64() + self.chunk_seconds()) || self.attempted >= self.most {
            return Ok(None);
        }
        bench.context.rest(rest);
        let rates = self.write_more(bench, n)?;
        let tail = &self.chunks[self.chunks.len() - rates.len()..];
        let fast = tail.iter().take_while(|c| c.bytes_per_second() > RECOVERED_SHARE * fall.before);
        Ok((!rates.is_empty()).then(|| fast.map(|c| c.bytes).sum()))
    }

    fn chunk_bytes(&self) -> u64 {
        let left = (self.most - self.attempted).min(self.len - self.attempted % self.len);
        (self.attempted / CHUNK_SHARE / MIB * MIB).clamp(CHUNK.0, CHUNK.1).min(left)
    }

    fn may_write_chunk(&self, bench: &mut WriteTester) -> bool {
        bench.context.has_time(self.chunk_seconds()) && bench.context.may_write(self.chunk_bytes())
    }

    fn chunk_seconds(&self) -> f64 {
        self.chunks.last().map_or(1.0, |c| c.seconds * self.chunk_bytes() as f64 / c.bytes)
    }

    /// Writes one chunk, shortened if the time ends; `None` if nothing was written.
    fn write_chunk(&mut self, bench: &mut WriteTester) -> Result<Option<WriteChunk>> {
        let bytes = self.chunk_bytes();
        let from = self.start + self.attempted % self.len;
        let write: Vec<CardExtent> = split_extents(from, from + bytes, WRITE).collect();
        if !bench.context.try_save_before_write(&write)? {
            return Ok(None);
        }
        let mut chunk = WriteChunk { bytes: 0.0, seconds: 0.0 };
        for extent in write {
            if !bench.context.has_time(0.0) {
                break;
            }
            self.attempted += u64::from(extent.len);
            if let Some(seconds) = bench.context.time_write(extent)? {
                self.stalls.add_write(extent.offset, f64::from(extent.len), seconds);
                chunk.bytes += f64::from(extent.len);
                self.written += u64::from(extent.len);
                chunk.seconds += seconds;
            }
        }
        if chunk.bytes == 0.0 {
            return Ok(None);
        }
        self.chunks.push(chunk);
        Ok(Some(chunk))
    }

    fn take_heat_reading(&mut self, bench: &mut WriteTester) -> Result<()> {
        let bytes = self.attempted.min(self.len);
        self.heat.add(HeatReading::take(bench, self.start, bytes, self.written)?);
        Ok(())
    }

    pub(super) fn evidence(&self) -> PropertyEvidence {
        let rates: Vec<f64> = self.chunks.iter().map(|c| c.bytes_per_second() / 1e6).collect();
        let evidence = PropertyEvidence::from_method(METHOD)
            .with_number("written", self.written as f64, "bytes")
            .with_number("median speed", median(&rates).unwrap_or(0.0), "MB/s");
        self.heat.evidence(evidence)
    }

    /// Points of the chart: bytes written and MB/s, thinned.
    pub(super) fn chart_points(&self) -> Vec<(f64, f64)> {
        let step = self.chunks.len().div_ceil(MAX_POINTS).max(1);
        let mut at = 0.0;
        let all = self.chunks.iter().map(|c| {
            at += c.bytes;
            (at, c.bytes_per_second() / 1e6)
        });
        all.step_by(step).collect()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        self.stalls.finding().into_iter().chain(self.heat.finding()).collect()
    }
}
