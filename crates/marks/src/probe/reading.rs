//! Reads for the marks: sequential speed, which shows the limit of bus and reader, and single reads of 4 KiB, which
//! every class limits.

use super::tester::MarkTester;
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_engine::target::IoDirection;
use cardscope_model::statistics::median;
use cardscope_model::units::{MIB, mb_per_s};

/// Bytes of a sequential read and reads in flight, enough to hide the cost of commands.
const BLOCK: u32 = MIB as u32;
const DEPTH: u32 = 4;
/// Bytes of the sequential test: about a second on a UHS-I card.
const STREAM: u64 = 48 * MIB;
/// Seconds after which the sequential test ends on a slow card.
const STREAM_S: f64 = 4.0;
const SINGLES: usize = 64;
const SMALL: u32 = 4096;

impl MarkTester<'_, '_, '_> {
    pub(super) fn measure_reads(&mut self) -> Result<(), ProbeStop> {
        self.context.begin_phase("reading in order");
        self.into.null_command_s = self.null_command()?;
        self.into.read_mb_s = self.read_in_order()?;
        self.into.read_4k_s = self.single_reads()?;
        Ok(())
    }

    fn null_command(&mut self) -> Result<Option<f64>, ProbeStop> {
        let mut times = Vec::new();
        while times.len() < 9 && self.context.has_time(0.0) {
            let Some(time) = self.context.ping()? else { break };
            times.push(time);
        }
        Ok(median(&times))
    }

    /// Measures sequential reads in MB/s. The first read is timed alone and does not count: it shows whether several in
    /// flight, which cannot be cancelled, would exceed the time.
    fn read_in_order(&mut self) -> Result<Option<f64>, ProbeStop> {
        self.context.set_queue(BLOCK, DEPTH)?;
        let bytes = STREAM.min(self.context.region.len / MIB * MIB);
        if bytes < 4 * MIB || !self.context.has_time(1.0) {
            return Ok(None);
        }
        let start = self.random_offset(bytes, MIB);
        let mut all = split_extents(start, start + bytes, BLOCK);
        let began = self.context.seconds();
        if let Some(first) = all.next() {
            self.context.time_read(first)?;
        }
        let took = self.context.seconds() - began;
        if !self.context.has_time(took * f64::from(DEPTH)) {
            return Ok(None);
        }
        let mut ends = Vec::new();
        let seconds = self.context.seconds_left().min(STREAM_S);
        let ended = |extent: CardExtent, at: f64| ends.push((extent.len, at));
        self.context.stream_for(IoDirection::Read, seconds, &mut all, ended)?;
        let [(_, began), rest @ ..] = &ends[..] else { return Ok(None) };
        let seconds = rest.last().map_or(0.0, |(_, end)| end - began);
        let moved: u64 = rest.iter().map(|(len, _)| u64::from(*len)).sum();
        Ok((seconds > 0.0).then(|| mb_per_s(moved, seconds)))
    }

    fn single_reads(&mut self) -> Result<Option<(f64, f64)>, ProbeStop> {
        self.context.set_queue(SMALL, 1)?;
        let mut times = Vec::new();
        for _ in 0..SINGLES {
            if !self.context.has_time(0.1) {
                break;
            }
            let page = self.context.random.below(self.context.region.len / u64::from(SMALL));
            let offset = self.context.region.start + page * u64::from(SMALL);
            times.extend(self.context.time_read(CardExtent { offset, len: SMALL })?);
        }
        Ok(median(&times).map(|middle| (middle, times.iter().copied().fold(0.0, f64::max))))
    }
}
